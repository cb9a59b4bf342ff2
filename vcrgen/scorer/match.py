"""The n-gram of an output that is nearest to a span, by either protocol's rule.

Both are exact. They are fast because rapidfuzz compares a span with all n-grams in one call, and because difflib,
which is slow, is asked only about n-grams that a cheap upper bound has not ruled out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import NamedTuple

from rapidfuzz.distance import LCSseq, Levenshtein
from rapidfuzz.process import cdist, extract, extractOne

# n-grams compared in one call, so that memory stays flat for outputs of any length.
_BLOCK = 1 << 16


@dataclass(frozen=True, slots=True)
class SpanTokens:
    """A span, ready to be looked for."""

    text: str
    tokens: tuple[str, ...]  # its tokens
    joined: str  # the tokens, joined by the language's joiner
    unique: frozenset[str]  # the tokens as a set


class NGrams:
    """The n-grams of one output as strings, made once for each n."""

    __slots__ = ("_cache", "_joiner", "tokens")

    def __init__(self, tokens: Sequence[str], joiner: str) -> None:
        self.tokens = tokens
        self._joiner = joiner
        self._cache: dict[int, list[str]] = {}

    def __call__(self, n: int) -> list[str]:
        """All n-grams in order, each joined by the joiner; none for n = 0 or a shorter output."""
        if n not in self._cache:
            shifted = [self.tokens[start:] for start in range(n)]
            self._cache[n] = list(map(self._joiner.join, zip(*shifted, strict=False)))
        return self._cache[n]


class Nearest(NamedTuple):
    """The chosen n-gram."""

    position: int  # the number of its first token
    string: str  # its tokens, joined
    similarity: float  # what the protocol maximises, from 0 to 1
    distance: int  # edit distance to the span's joined tokens


def nearest_by_levenshtein(span: SpanTokens, ngrams: NGrams) -> Nearest | None:
    """The n-gram with the least edit distance, if any; ties to more shared tokens (as sets), then to the earlier."""
    strings, tokens = ngrams(len(span.tokens)), ngrams.tokens
    if not strings:
        return None
    if span.joined in strings:  # mostly it is, or nothing is near: no need to measure
        index = strings.index(span.joined)
        if tuple(tokens[index : index + len(span.tokens)]) == span.tokens:
            return Nearest(index, span.joined, 1.0, 0)
    distance, ties = _least_distance(span.joined, strings)
    best = ties[0]
    if len(ties) > 1:
        n, most = len(span.tokens), -1
        for index in ties:
            shared = len(span.unique.intersection(tokens[index : index + n]))
            if shared > most:
                best, most = index, shared
    longest = max(len(span.joined), len(strings[best]))
    return Nearest(best, strings[best], 1 - distance / longest, distance)


def nearest_by_difflib(span: SpanTokens, ngrams: NGrams) -> Nearest | None:
    """The n-gram the published code chooses: highest difflib ratio to the span's text, the first on ties, or None.

    Only n-grams that share a token with the span are candidates, and only a ratio above 0 counts. difflib's blocks
    form a common subsequence, so the longest common subsequence bounds its ratio from above: n-grams are tried from
    the highest bound down, until no bound reaches the best ratio found.
    """
    first = _candidates(span, ngrams)
    if not first:
        return None
    strings = list(first)
    bounds = _upper_bounds(span.text, strings)
    matcher = SequenceMatcher(None, "", span.text)  # keeps its index of the second text
    best, ratio = -1, 0.0
    # Strings stand in the order of their first n-gram, so the lower number wins a tie.
    for number in sorted(range(len(strings)), key=lambda i: (-bounds[i], i)):
        if bounds[number] < ratio:
            break
        if bounds[number] == ratio and number > best >= 0:
            continue
        matcher.set_seq1(strings[number])
        found = matcher.ratio()
        if found > ratio or (found == ratio > 0 and number < best):
            best, ratio = number, found
    if best < 0:
        return None
    string = strings[best]
    return Nearest(first[string], string, ratio, Levenshtein.distance(span.joined, string))


def _least_distance(text: str, strings: list[str]) -> tuple[int, list[int]]:
    """The least edit distance between a text and the strings, and the numbers of the strings that have it."""
    _, least, first = extractOne(text, strings, scorer=Levenshtein.distance)
    # Knowing the least distance, rapidfuzz drops nearly all others before it has compared them to the end.
    ties = extract(text, strings[first:], scorer=Levenshtein.distance, score_cutoff=least, limit=None)
    return int(least), sorted(first + index for _, _, index in ties)


def _candidates(span: SpanTokens, ngrams: NGrams) -> dict[str, int]:
    """Strings of n-grams that share a token with the span, each with the index of its first n-gram."""
    n = len(span.tokens)
    strings = ngrams(n)
    first: dict[str, int] = {}
    shared = -1  # the last token seen that is one of the span's
    for last, token in enumerate(ngrams.tokens if strings else ()):
        if token in span.unique:
            shared = last
        index = last - n + 1
        if 0 <= index <= shared:
            first.setdefault(strings[index], index)
    return first


def _upper_bounds(text: str, strings: list[str]) -> list[float]:
    """The ratio if difflib's blocks were a longest common subsequence: by the same formula, so floats compare."""
    bounds: list[float] = []
    for start in range(0, len(strings), _BLOCK):
        block = strings[start : start + _BLOCK]
        common = cdist((text,), block, scorer=LCSseq.similarity)[0].tolist()
        bounds += [2.0 * int(length) / (len(text) + len(string)) for length, string in zip(common, block, strict=True)]
    return bounds
