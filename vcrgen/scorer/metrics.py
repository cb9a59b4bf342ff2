"""The metrics of one span against its nearest n-gram, and against the output as characters."""

from collections import Counter
from collections.abc import Sequence, Set
from typing import NamedTuple

from rapidfuzz.distance import Indel
from rapidfuzz.fuzz import partial_ratio


class Overlap(NamedTuple):
    """The overlap of two token sets, as shares."""

    jaccard: float
    precision: float
    recall: float
    f1: float


def overlap(span: Set[str], ngram: Set[str]) -> Overlap:
    """Jaccard index, precision, recall and F1 of two token sets, neither of them empty."""
    shared = len(span & ngram)
    jaccard = shared / (len(span) + len(ngram) - shared)
    return Overlap(jaccard, shared / len(ngram), shared / len(span), f_score(shared, len(ngram), len(span)))


def rouge1(span: Sequence[str], ngram: Sequence[str]) -> float:
    """F of the tokens two sequences share, counted with repetition."""
    shared = sum((Counter(span) & Counter(ngram)).values())
    return f_score(shared, len(ngram), len(span))


def f_score(shared: int, ngram: int, span: int) -> float:
    """Harmonic mean of precision and recall, in the published code's order of operations."""
    if not shared:
        return 0.0
    precision, recall = shared / ngram, shared / span
    return 2 * precision * recall / (precision + recall)


def character_similarity(span: str, text: str) -> float:
    """Similarity of the span to the best stretch of a text, whatever the tokens.

    The stretch has at most the span's length; the similarity is 1 - indel distance / total length. A text shorter than
    the span is compared as a whole, so that a short output gains nothing.
    """
    if not span or not text:
        return 0.0
    if span in text:
        return 1.0
    if len(text) <= len(span):
        return float(Indel.normalized_similarity(span, text))
    return partial_ratio(span, text) / 100
