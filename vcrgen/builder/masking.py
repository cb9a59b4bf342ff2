"""Which texts of a caption are masked: the mask plan, before any pixel is drawn."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain, pairwise, zip_longest
from random import Random
from typing import TYPE_CHECKING

from vcrgen.config import BuildConfig
from vcrgen.records import Span
from vcrgen.rng import shuffled
from vcrgen.text.eligibility import eligible_tokens, ineligible_reason, ngram_starts
from vcrgen.text.graphemes import boundaries

if TYPE_CHECKING:
    from spacy.tokens import Doc
    from spacy.tokens import Span as TokenSpan

    _Usable = Callable[[TokenSpan], bool]

# Characters that tie two tokens into one written word: a span must not end between them.
WORD_TIES = frozenset("-‐‑–'’_/&@")


def plan_mask(doc: Doc, rng: Random, config: BuildConfig, *, word_boundaries: bool) -> tuple[Span, ...]:
    """Choose the spans of a shown caption.

    Args:
        doc: The shown caption with sentence bounds and entities.
        rng: The generator of this item.
        config: Says what is masked, and how much of it.
        word_boundaries: Whether spans must begin and end where written words do.

    Returns:
        Spans in reading order, that do not touch one another and whose texts occur once; empty if there is none.
    """
    tokens = sum(not token.is_space for token in doc)
    budget = math.floor(config.max_share * tokens)
    if config.mask == "percentage":
        budget = min(budget, math.ceil(config.percentage * tokens))
    caption = doc.text
    folded = caption.casefold()

    def usable(span: TokenSpan) -> bool:
        begins_and_ends = not word_boundaries or is_whole_words(caption, span.start_char, span.end_char)
        return begins_and_ends and occurs_once(span.text.casefold(), folded)

    chosen = sorted(MASKS[config.mask](doc, rng, config.n, budget, usable), key=lambda span: span.start)
    return tuple(
        Span(start=span.start_char, end=span.end_char, text=span.text, tokens=tuple(token.text for token in span))
        for span in chosen
    )


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


def _ngrams(doc: Doc, rng: Random, n: int, budget: int, usable: _Usable) -> list[TokenSpan]:
    """Random n-grams of each sentence; if the budget is short, one of each sentence before the second of any."""
    of_sentences = [list(_sentence_ngrams(sentence, rng, n, usable)) for sentence in shuffled(rng, list(doc.sents))]
    rounds = chain.from_iterable(zip_longest(*of_sentences))
    return [span for span in rounds if span is not None][: budget // n]


def _sentence_ngrams(sentence: TokenSpan, rng: Random, n: int, usable: _Usable) -> Iterator[TokenSpan]:
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


def _single_tokens(
    doc: Doc, rng: Random, n: int, budget: int, usable: _Usable, *, pos: str | None = None
) -> list[TokenSpan]:
    """Eligible tokens, of one part of speech if one is given, in random order."""
    chosen: list[TokenSpan] = []
    taken: set[int] = set()
    eligible = [token.i for token in doc if ineligible_reason(token) is None and pos in (None, token.pos_)]
    for at in shuffled(rng, eligible):
        span = doc[at : at + 1]
        if len(chosen) < budget and at not in taken and usable(span):
            taken.update((at - 1, at, at + 1))
            chosen.append(span)
    return chosen


def _sentence(doc: Doc, rng: Random, n: int, budget: int, usable: _Usable) -> Iterator[TokenSpan]:
    """One whole sentence without the punctuation at its ends."""
    for sentence in shuffled(rng, list(doc.sents)):
        words = [token.i for token in sentence if not token.is_punct and not token.is_space]
        if words:
            span = doc[words[0] : words[-1] + 1]
            if len(span) <= budget and usable(span):
                yield span
                return


MASKS: dict[str, Callable[[Doc, Random, int, int, _Usable], Iterable[TokenSpan]]] = {
    "ngram": _ngrams,
    "nouns": partial(_single_tokens, pos="NOUN"),
    "sentence": _sentence,
    "percentage": _single_tokens,
}
