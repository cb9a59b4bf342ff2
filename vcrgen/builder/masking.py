"""Which texts of a caption are masked: the mask plan, before any pixel is drawn."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, pairwise, zip_longest
from random import Random
from typing import TYPE_CHECKING

from vcrgen.records import Span
from vcrgen.rng import shuffled
from vcrgen.text.eligibility import eligible_tokens, ineligible_reason, ngram_starts
from vcrgen.text.graphemes import boundaries

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token
    from spacy.tokens import Span as TokenSpan

# Characters that tie two tokens into one written word: a span must not end between them.
WORD_TIES = frozenset("-‐‑–'’_/&@")


def plan_mask(
    doc: Doc,
    rng: Random,
    *,
    mask: str,
    n: int,
    max_share: float,
    percentage: float,
    word_boundaries: bool,
) -> tuple[Span, ...]:
    """Choose the spans of a shown caption.

    Args:
        doc: The shown caption with sentence bounds and entities.
        rng: The generator of this item.
        mask: ``"ngram"``, ``"nouns"``, ``"sentence"`` or ``"percentage"``.
        n: Tokens of an n-gram.
        max_share: Masked tokens are at most this share of the caption's tokens.
        percentage: What ``"percentage"`` aims at, as a share of the caption's tokens.
        word_boundaries: Whether spans must begin and end where written words do.

    Returns:
        Spans in reading order, that do not touch one another and whose texts occur once; empty if there is none.
    """
    tokens = sum(not token.is_space for token in doc)
    budget = math.floor(max_share * tokens)
    if mask == "percentage":
        budget = min(budget, math.ceil(percentage * tokens))
    caption = doc.text
    folded = caption.casefold()

    def usable(span: TokenSpan) -> bool:
        begins_and_ends = not word_boundaries or is_whole_words(caption, span.start_char, span.end_char)
        return begins_and_ends and occurs_once(span.text.casefold(), folded)

    chosen = MASKS[mask](doc, rng, n, budget, usable)
    return tuple(to_span(span) for span in sorted(chosen, key=lambda span: span.start))


def locate_answers(doc: Doc, answers: Sequence[str]) -> tuple[Span, ...] | None:
    """The spans of given texts, in reading order, or None if one is not in the caption exactly once or two overlap."""
    spans = []
    for answer in answers:
        start = doc.text.find(answer) if answer else -1
        if start < 0 or not occurs_once(answer, doc.text):
            return None
        tokens = tuple(
            token.text for token in doc if start < token.idx + len(token) and token.idx < start + len(answer)
        )
        spans.append(Span(start=start, end=start + len(answer), text=answer, tokens=tokens))
    spans.sort(key=lambda span: span.start)
    overlap = any(left.end > right.start for left, right in pairwise(spans))
    return None if overlap else tuple(spans)


def to_span(span: TokenSpan) -> Span:
    """A spaCy span as a record."""
    return Span(start=span.start_char, end=span.end_char, text=span.text, tokens=tuple(t.text for t in span))


def occurs_once(text: str, caption: str) -> bool:
    """Whether ``text`` is found in ``caption`` exactly once, overlapping finds counted."""
    first = caption.find(text)
    return first >= 0 and caption.find(text, first + 1) < 0


def is_whole_words(caption: str, start: int, end: int) -> bool:
    """Whether a span begins and ends between clusters, and no letter, digit or tie ("co-founder") goes on beside it."""
    at = boundaries(caption)
    first, last = bisect_left(at, start), bisect_left(at, end)
    if at[first] != start or at[last] != end:
        return False
    before = caption[at[first - 1] : start] if first else ""
    after = caption[end : at[last + 1]] if end < len(caption) else ""
    return not any(c.isalnum() or c in WORD_TIES for c in before + after)


def _ngrams(doc: Doc, rng: Random, n: int, budget: int, usable: Callable[[TokenSpan], bool]) -> list[TokenSpan]:
    """Random n-grams of each sentence; if the budget is short, one of each sentence before the second of any."""
    of_sentences = [list(_sentence_ngrams(sentence, rng, n, usable)) for sentence in shuffled(rng, list(doc.sents))]
    rounds = chain.from_iterable(zip_longest(*of_sentences))
    return [span for span in rounds if span is not None][: budget // n]


def _sentence_ngrams(
    sentence: TokenSpan, rng: Random, n: int, usable: Callable[[TokenSpan], bool]
) -> Iterator[TokenSpan]:
    """Random n-grams, until they and a token on each side cover half of what is eligible in the sentence."""
    eligible = eligible_tokens(sentence)
    taken: set[int] = set()
    for start in shuffled(rng, ngram_starts(eligible, n)):
        if 2 * len(taken & eligible) >= len(eligible):
            return
        span = sentence.doc[start : start + n]
        if taken.isdisjoint(range(span.start, span.end)) and usable(span):
            taken.update(range(span.start - 1, span.end + 1))
            yield span


def _nouns(doc: Doc, rng: Random, n: int, budget: int, usable: Callable[[TokenSpan], bool]) -> Iterator[TokenSpan]:
    """Common nouns that are not part of an entity, in random order."""
    return _single_tokens(doc, rng, budget, usable, lambda token: token.pos_ == "NOUN")


def _percentage(doc: Doc, rng: Random, n: int, budget: int, usable: Callable[[TokenSpan], bool]) -> Iterator[TokenSpan]:
    """Eligible tokens in random order."""
    return _single_tokens(doc, rng, budget, usable, lambda token: True)


def _single_tokens(
    doc: Doc, rng: Random, budget: int, usable: Callable[[TokenSpan], bool], wanted: Callable[[Token], bool]
) -> Iterator[TokenSpan]:
    candidates = [doc[t.i : t.i + 1] for t in doc if ineligible_reason(t) is None and wanted(t)]
    taken: set[int] = set()
    masked = 0
    for span in shuffled(rng, candidates):
        if masked >= budget:
            return
        if span.start not in taken and usable(span):
            taken.update(range(span.start - 1, span.end + 1))
            masked += 1
            yield span


def _sentence(doc: Doc, rng: Random, n: int, budget: int, usable: Callable[[TokenSpan], bool]) -> Iterator[TokenSpan]:
    """One whole sentence without the punctuation at its ends."""
    for sentence in shuffled(rng, list(doc.sents)):
        words = [token.i for token in sentence if not token.is_punct and not token.is_space]
        if words:
            span = doc[words[0] : words[-1] + 1]
            if len(span) <= budget and usable(span):
                yield span
                return


MASKS = {"ngram": _ngrams, "nouns": _nouns, "sentence": _sentence, "percentage": _percentage}
