"""The n-gram of an output that is nearest to a span, by either protocol's rule.

Both are exact. They are fast because rapidfuzz compares a span with many texts in one call, and because a cheap bound
rules out most n-grams before they are made or difflib, which is slow, is asked about them.
"""

import sys
from bisect import bisect_left
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import accumulate
from typing import NamedTuple

from rapidfuzz.distance import LCSseq, Levenshtein
from rapidfuzz.process import cdist, extract

from vcrgen.text.segmenters import Tokens

# n-grams compared in one call, so that memory stays flat for outputs of any length.
_BLOCK = 1 << 16
# n-grams that are searched together, more than a span has tokens: fewer make more stretches, more make them less alike.
_EXTRA_NGRAMS = 2


@dataclass(frozen=True, slots=True)
class SpanTokens:
    """A span, ready to be looked for."""

    text: str
    tokens: tuple[str, ...]  # its tokens
    joined: str  # the tokens, joined by the language's joiner
    unique: frozenset[str]  # the tokens as a set


class NGrams:
    """The n-grams of one output as strings: all of them, made once for each n, or some."""

    __slots__ = ("_begins", "_cache", "_gap", "_joiner", "_text", "tokens")

    def __init__(self, tokens: Tokens, text: str, joiner: str) -> None:
        self.tokens = tokens.texts
        self._joiner, self._gap = joiner, len(joiner)
        joined = joiner.join(self.tokens)
        self._text = joined + joiner
        # Where each token begins, and last where one more would: often as in the text that the tokens are of.
        if joined == text:
            self._begins = [*tokens.starts, len(self._text)]
        else:
            self._begins = [*accumulate([len(token) + self._gap for token in self.tokens], initial=0)]
        self._cache: dict[int, list[str]] = {}

    def __call__(self, n: int) -> list[str]:
        """All n-grams in order, each joined by the joiner; none for n = 0 or a shorter output."""
        if n not in self._cache:
            self._cache[n] = self.slice(n, 0, len(self.tokens)) if n else []
        return self._cache[n]

    def slice(self, n: int, first: int, count: int) -> list[str]:
        """So many n-grams from a number on, or all that there are."""
        begins, ends = self._begins[first : first + count], self._begins[first + n : first + n + count]
        return [self._text[begin : end - self._gap] for begin, end in zip(begins, ends, strict=False)]

    def stretches(self, n: int, count: int) -> list[str]:
        """Of each ``count`` n-grams that stand side by side the tokens, joined, and a joiner."""
        begins, last = self._begins, len(self.tokens)
        ends = [*begins[count + n - 1 : last : count], begins[last]]
        return [self._text[begin:end] for begin, end in zip(begins[: last - n + 1 : count], ends, strict=True)]

    def find(self, tokens: tuple[str, ...], joined: str) -> int:
        """The number of the first n-gram that has these tokens, or -1 if there is none or other tokens join to it."""
        number, ended = 0, f"{joined}{self._joiner}"
        if not self._text.startswith(ended):
            number = bisect_left(self._begins, self._text.find(f"{self._joiner}{ended}") + self._gap)
        return number if tuple(self.tokens[number : number + len(tokens)]) == tokens else -1


class Nearest(NamedTuple):
    """The chosen n-gram."""

    position: int  # the number of its first token
    string: str  # its tokens, joined
    similarity: float  # what the protocol maximises, from 0 to 1
    distance: int  # edit distance to the span's joined tokens


def nearest_by_levenshtein(span: SpanTokens, ngrams: NGrams) -> Nearest | None:
    """The n-gram with the least edit distance, if any; ties to more shared tokens (as sets), then to the earlier."""
    n, tokens = len(span.tokens), ngrams.tokens
    if not 0 < n <= len(tokens):
        return None
    place = ngrams.find(span.tokens, span.joined)  # mostly it is there, or nothing is near: no need to measure
    if place >= 0:
        return Nearest(place, span.joined, 1.0, 0)
    distance, ties = _least_distance(span, ngrams)
    best, string = ties[0]
    if len(ties) > 1:
        most = -1
        for index, tied in ties:
            shared = len(span.unique.intersection(tokens[index : index + n]))
            if shared > most:
                best, string, most = index, tied, shared
    longest = max(len(span.joined), len(string))
    return Nearest(best, string, 1 - distance / longest, distance)


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
        candidate_ratio = matcher.ratio()
        if candidate_ratio > ratio or (candidate_ratio == ratio > 0 and number < best):
            best, ratio = number, candidate_ratio
    if best < 0:
        return None
    string = strings[best]
    return Nearest(first[string], string, ratio, Levenshtein.distance(span.joined, string))


def _least_distance(span: SpanTokens, ngrams: NGrams) -> tuple[int, list[tuple[int, str]]]:
    """The least edit distance between a span and the n-grams, and the n-grams that have it, with their numbers.

    Every edit takes one character at most from what a span and an n-gram have in common. So an n-gram's distance is at
    least the number of the span's characters that are not in a common subsequence with a stretch around the n-gram.
    Stretches are searched from the least such bound up, until no bound reaches the least distance found.
    """
    n, text = len(span.tokens), span.joined
    together = n + _EXTRA_NGRAMS
    least, ties = sys.maxsize, list[tuple[int, str]]()
    for _, common, number in extract(text, ngrams.stretches(n, together), scorer=LCSseq.similarity, limit=None):
        if len(text) - common > least:
            break
        first = number * together
        strings = ngrams.slice(n, first, together)
        for string, distance, index in extract(
            text, strings, scorer=Levenshtein.distance, score_cutoff=least, limit=None
        ):
            if distance < least:
                least, ties = distance, []
            if distance == least:
                ties.append((first + index, string))
    return least, sorted(ties)


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
