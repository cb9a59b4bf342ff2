"""An n-gram model of texts of the user: words, or characters in languages that write no spaces between words.

The smoothing is interpolated Kneser-Ney with a discount for each order (Kneser and Ney, 1995; Chen and Goodman, 1999).
Below the single tokens stands a distribution of the caller's, such as the frequencies of a lexicon.
"""

from __future__ import annotations

import re
import unicodedata
from array import array
from collections.abc import Iterable, Sequence
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from vcrgen.core.errors import ConfigError
from vcrgen.core.reading import check_file_size, decode
from vcrgen.text.languages import language_row

ORDERS = {True: 3, False: 4}  # length of the longest n-grams; True for words
MAX_TEXT_BYTES = 128 << 20  # of all texts
MAX_TOKENS = 1 << 25
BOUNDARY = 0  # the token before a paragraph
UNKNOWN = -1  # a token that the texts do not have
MAX_KEPT = 1 << 20  # n-grams whose numbers are remembered
USUAL_DISCOUNT = 0.75  # of texts that are too small to tell one
_WORDS = re.compile(r"[^\W\d_]+(?:['-][^\W\d_]+)*|\d+|[^\w\s]")
_SPACES = re.compile(r"\s+")
_PARAGRAPHS = re.compile(r"\n[^\S\n]*\n")

Doubles = npt.NDArray[np.float64]
Ints = npt.NDArray[np.intp]


def has_word_tokens(lang: str) -> bool:
    """Return True if the tokens of a language are words, False if they are characters."""
    row = language_row(lang)
    return bool(row.joiner) and not row.particles


def tokenize(text: str, lang: str) -> list[str]:
    """Return the tokens of a text in one case: words, numbers and marks; or characters."""
    text = unicodedata.normalize("NFKC", text).casefold().replace("’", "'")
    if has_word_tokens(lang):
        return _WORDS.findall(text)
    return list(_SPACES.sub(language_row(lang).joiner, text))


class _Order(NamedTuple):
    """The n-grams of one length, in the order of their histories and then of their last tokens.

    Attributes:
        token: The last token of each.
        kept: Its count less the discount.
        first: The first n-gram of each history; those of a history end at ``first[history + 1]``.
        total: Sum of the counts of each history.
        left: Share of each history's probability that the discount leaves for the order below.
    """

    token: Ints
    kept: Doubles
    first: Ints
    total: Doubles
    left: Doubles


def _make_order(keys: Ints, count: Ints, histories: int, size: int) -> _Order:
    """Return an order; ``keys`` are sorted: the number of the history times ``size``, and the last token."""
    ones, twos = int((count == 1).sum()), int((count == 2).sum())
    discount = ones / (ones + 2 * twos) if ones and twos else USUAL_DISCOUNT
    history, kept = keys // size, np.maximum(count - discount, 0.0)
    total = np.bincount(history, count, minlength=histories).astype(np.float64)
    left = 1 - np.bincount(history, kept, minlength=histories) / np.maximum(total, 1)
    first = np.searchsorted(keys, np.arange(histories + 1) * size)
    return _Order(keys % size, kept, first, total, left)


class NgramModel:
    """Probabilities of tokens after others.

    Args:
        paragraphs: The texts.
        order: Length of the longest n-grams.

    Attributes:
        vocabulary: The number of each token.
    """

    def __init__(self, paragraphs: Iterable[Sequence[str]], order: int) -> None:
        self.vocabulary: dict[str, int] = {}
        self.order = order
        self._numbers: dict[tuple[int, ...], int] = {}
        numbers = array("q", [BOUNDARY])
        for paragraph in paragraphs:
            if numbers[-1] != BOUNDARY:
                numbers.append(BOUNDARY)
            numbers.extend(self.vocabulary.setdefault(token, len(self.vocabulary) + 1) for token in paragraph)
            if len(numbers) > MAX_TOKENS:
                raise ConfigError(f"The texts of --lm have more than {MAX_TOKENS:,} tokens; give less of them.")
        self._orders = list(self._count(np.frombuffer(numbers, dtype=np.int64).astype(np.intp)))

    def _count(self, tokens: Ints) -> Iterable[_Order]:
        size, histories = len(self.vocabulary) + 1, 1
        keys, count, ends = np.arange(size), np.bincount(tokens, minlength=size), tokens
        count[BOUNDARY] = 0
        for _ in range(1, self.order):
            history = np.append(-1, ends[:-1])  # no n-gram goes across a boundary
            inside = np.flatnonzero((history >= 0) & (tokens != BOUNDARY))
            longer, at, number, times = np.unique(
                history[inside] * size + tokens[inside], return_index=True, return_inverse=True, return_counts=True
            )
            # Below the longest n-grams it counts after how many tokens one stands, but for those after a boundary.
            after = np.bincount(ends[inside[at]], minlength=len(keys))
            yield _make_order(keys, np.where(after > 0, after, count), histories, size)
            ends = np.full(len(tokens), -1)
            ends[inside] = number
            histories, keys, count = len(keys), longer, times
        yield _make_order(keys, count, histories, size)

    def numbers(self, tokens: Iterable[str]) -> tuple[int, ...]:
        """Return the numbers of tokens, or `UNKNOWN`."""
        return tuple(self.vocabulary.get(token, UNKNOWN) for token in tokens)

    def history(self, tokens: Sequence[int]) -> tuple[int, ...]:
        """Return the last tokens on which the next one's probability depends."""
        kept = tuple(tokens[-self.order + 1 :]) if self.order > 1 else ()
        while kept and self._number(kept) < 0:
            kept = kept[1:]
        return kept

    def _number(self, tokens: tuple[int, ...]) -> int:
        """Return the number of an n-gram, or -1."""
        number = self._numbers.get(tokens)
        if number is None:
            if len(self._numbers) >= MAX_KEPT:
                self._numbers.clear()
            number = self._numbers[tokens] = self._find(tokens)
        return number

    def _find(self, tokens: tuple[int, ...]) -> int:
        found = 0
        for order, token in zip(self._orders, tokens, strict=False):
            first, last = int(order.first[found]), int(order.first[found + 1])
            found = first + int(np.searchsorted(order.token[first:last], token))
            if found == last or order.token[found] != token:
                return -1
        return found

    def probabilities(self, history: tuple[int, ...], tokens: Ints, base: Doubles) -> Doubles:
        """Return the probability of each of some tokens after others.

        Args:
            history: What `history` returns.
            tokens: Numbers of tokens in ascending order, each once but for `UNKNOWN`.
            base: Their probabilities in the distribution below the single tokens.
        """
        return self.probabilities_after(history, tokens, self._mixed(0, 0, tokens, base))

    def probabilities_after(self, history: tuple[int, ...], tokens: Ints, single: Doubles) -> Doubles:
        """Return what `probabilities` does, given what it returns without a history."""
        found = single
        for length in range(1, len(history) + 1):
            found = self._mixed(length, self._number(history[len(history) - length :]), tokens, found)
        return found

    def _mixed(self, length: int, place: int, tokens: Ints, below: Doubles) -> Doubles:
        """Return probabilities after a history, given its number and those after it without its first token."""
        order = self._orders[length]
        first, last = order.first[place], order.first[place + 1]
        if first == last or not order.total[place]:
            return below
        own = order.token[first:last]
        if len(own) < len(tokens):  # the shorter one is looked up in the longer one
            at = np.minimum(np.searchsorted(tokens, own), len(tokens) - 1)
            of = np.flatnonzero(tokens[at] == own)
            at = at[of]
        else:
            of = np.minimum(np.searchsorted(own, tokens), len(own) - 1)
            at = np.flatnonzero(own[of] == tokens)
            of = of[at]
        found: Doubles = order.left[place] * below
        found[at] += order.kept[first:last][of] / order.total[place]
        return found


class ReferenceTexts:
    """Texts from which an n-gram model of any language is made.

    Args:
        files: UTF-8 texts; paragraphs end at empty lines.

    Attributes:
        digest: A hash of the texts.

    Raises:
        ConfigError: A file cannot be read, is not UTF-8, or they are too large.
    """

    def __init__(self, files: Sequence[Path]) -> None:
        digest, left, self._texts = sha256(), MAX_TEXT_BYTES, list[str]()
        for file in files:
            check_file_size(file, left, f"--lm has more than {MAX_TEXT_BYTES >> 20} MiB of text", ConfigError)
            try:
                data = file.read_bytes()
            except OSError as error:
                raise ConfigError(f"{file} cannot be read: {error.strerror}.") from None
            left -= len(data)
            digest.update(sha256(data).digest())
            self._texts.append(decode(data, file, 1, ConfigError).replace("\r\n", "\n"))
        if not any(map(str.strip, self._texts)):
            raise ConfigError("The texts of --lm are empty; give text of the language of the captions.")
        self.digest = digest.hexdigest()[:8]
        self._models: dict[str, NgramModel] = {}
        self._lock = Lock()

    def model(self, lang: str) -> NgramModel:
        """Return the model of a language's tokens, the same one to all threads."""
        with self._lock:
            if lang not in self._models:
                paragraphs = (part for text in self._texts for part in _PARAGRAPHS.split(text))
                order = ORDERS[has_word_tokens(lang)]
                self._models[lang] = NgramModel((tokenize(part, lang) for part in paragraphs), order)
            return self._models[lang]
