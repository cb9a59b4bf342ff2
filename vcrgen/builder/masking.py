"""The mask plan: selection of the spans of a caption, before any pixel is drawn."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import chain, pairwise, zip_longest
from random import Random
from typing import TYPE_CHECKING

from vcrgen.builder.options import BuildConfig
from vcrgen.core.records import Span
from vcrgen.core.resources import load_object
from vcrgen.core.rng import shuffled
from vcrgen.text.ambiguous import is_ambiguous
from vcrgen.text.eligibility import cuts_word, eligible_tokens, ineligible_reason, ngram_starts
from vcrgen.text.graphemes import boundaries
from vcrgen.text.mask_kinds import MASK_KINDS
from vcrgen.text.normalise import normalise_caption

if TYPE_CHECKING:
    from spacy.tokens import Doc
    from spacy.tokens import Span as TokenSpan

    _Usable = Callable[[TokenSpan], bool]

# Characters that tie two tokens into one written word: a span must not end between them.
WORD_TIES = frozenset("-‐‑–'’_/&@")


def plan_mask(
    doc: Doc, rng: Random, config: BuildConfig, *, word_boundaries: bool, refused: Collection[Span] = ()
) -> tuple[Span, ...]:
    """Choose the spans of a shown caption, none of them one of ``refused``.

    Returns:
        Spans in reading order; no two are adjacent, and each text occurs once in the caption.
    """
    tokens = sum(not token.is_space for token in doc)
    budget = math.floor(config.max_share * tokens)
    if config.mask == "percentage":
        budget = min(budget, math.ceil(config.percentage * tokens))
    caption = doc.text
    folded = caption.casefold()
    not_usable = {(span.start, span.end) for span in refused}

    def usable(span: TokenSpan) -> bool:
        whole = not word_boundaries or is_whole_words(caption, span.start_char, span.end_char)
        is_refused = (span.start_char, span.end_char) in not_usable
        return whole and not cuts_word(span) and not is_refused and occurs_once(span.text.casefold(), folded)

    choose = load_object(MASK_KINDS[config.mask].choose)
    spans = sorted(choose(doc, rng, config.ngram_size, budget, usable), key=lambda span: span.start)
    return tuple(
        Span(start=span.start_char, end=span.end_char, text=span.text, tokens=tuple(token.text for token in span))
        for span in spans
    )


def locate_answers(doc: Doc, answers: Sequence[str]) -> tuple[Span, ...] | None:
    """Locate texts in a caption, in reading order; None if one does not occur exactly once or two overlap.

    They are normalised, as the caption is.
    """
    spans = []
    for answer in map(normalise_caption, answers):
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
    """Return True if ``text`` occurs in ``caption`` exactly once, overlapping occurrences counted."""
    first = caption.find(text)
    return first >= 0 and caption.find(text, first + 1) < 0


def is_whole_words(caption: str, start: int, end: int) -> bool:
    """Return True if a span ends between clusters and beside no letter, digit or tie ("co-founder")."""
    at = boundaries(caption)
    first, last = bisect_left(at, start), bisect_left(at, end)
    if at[first] != start or at[last] != end:
        return False
    before = caption[at[first - 1] : start] if first else ""
    after = caption[end : at[last + 1]] if end < len(caption) else ""
    return not any(c.isalnum() or c in WORD_TIES for c in before + after)


def ngrams(doc: Doc, rng: Random, n: int, budget: int, usable: _Usable) -> list[TokenSpan]:
    """Random n-grams of each sentence; if the budget is short, one of each sentence before the second of any."""
    of_sentences = [list(_sentence_ngrams(sentence, rng, n, usable)) for sentence in shuffled(rng, list(doc.sents))]
    rounds = chain.from_iterable(zip_longest(*of_sentences))
    return [span for span in rounds if span is not None][: budget // n]


def _sentence_ngrams(sentence: TokenSpan, rng: Random, n: int, usable: _Usable) -> Iterator[TokenSpan]:
    """Random n-grams, until they and a token on each side cover half of what is eligible in the sentence."""
    eligible = eligible_tokens(sentence)
    occupied: set[int] = set()
    for start in shuffled(rng, ngram_starts(eligible, n)):
        if 2 * len(occupied & eligible) >= len(eligible):
            return
        span = sentence.doc[start : start + n]
        if occupied.isdisjoint(range(span.start, span.end)) and usable(span):
            occupied.update(range(span.start - 1, span.end + 1))
            yield span


def single_tokens(
    doc: Doc, rng: Random, n: int, budget: int, usable: _Usable, *, pos: str | None = None
) -> list[TokenSpan]:
    """Eligible tokens, of one part of speech if one is given, in random order."""
    spans: list[TokenSpan] = []
    taken: set[int] = set()
    eligible = [token.i for token in doc if ineligible_reason(token) is None and pos in (None, token.pos_)]
    for at in shuffled(rng, eligible):
        span = doc[at : at + 1]
        if len(spans) < budget and at not in taken and usable(span):
            taken.update((at - 1, at, at + 1))
            spans.append(span)
    return spans


def nouns(doc: Doc, rng: Random, n: int, budget: int, usable: _Usable) -> list[TokenSpan]:
    """Choose eligible nouns in random order."""
    return single_tokens(doc, rng, n, budget, usable, pos="NOUN")


def one_sentence(doc: Doc, rng: Random, n: int, budget: int, usable: _Usable) -> Iterator[TokenSpan]:
    """One whole sentence without the punctuation at its ends."""
    for sentence in shuffled(rng, list(doc.sents)):
        words = [token.i for token in sentence if not token.is_punct and not token.is_space]
        if words:
            span = doc[words[0] : words[-1] + 1]
            told = not any(is_ambiguous(token.text, doc.lang_) for token in span)
            if len(span) <= budget and told and usable(span):
                yield span
                return
