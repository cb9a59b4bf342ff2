"""Measure what visible pixels, and pixels and language, restore of a hidden set: a table of docs/validation.md.

    python scripts/measure_language.py hidden-2026 --text news.txt --text novels.txt

The reader is told more than a participant has: the face, the place and width of every covered word, and the uncovered
text without a fault. It knows no picture. Pixels alone weigh words by the frequencies of wordfreq. With language they
are weighed by an n-gram model of the texts, after the uncovered words before them and with two words behind: three
words, or four characters where a language writes no spaces. Its smoothing is interpolated Kneser-Ney with one discount
(Chen and Goodman, 1999), above wordfreq's frequencies. The best sequence is found by a beam, so bits are too small.
"""

import argparse
import math
import re
import unicodedata
from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from vcrgen.data.key import read_answers, read_key
from vcrgen.hidden.forms import RARER
from vcrgen.hidden.measured import MeasuredSpan, measured_spans
from vcrgen.hidden.public import IMAGE_FOLDERS, image_name, read_pixels
from vcrgen.pixels.lexicon import Lexicon, load_lexicon
from vcrgen.pixels.posterior import lower_bound, unit_posteriors
from vcrgen.pixels.templates import entropy_of

Ints = npt.NDArray[np.int64]
Doubles = npt.NDArray[np.float64]

ORDERS = {True: 3, False: 4}  # of n-grams, of words and of characters
BOUNDARY = 0  # the token before a paragraph
DISCOUNT = 0.75
BEAM = 64  # sequences that go on
BEHIND = 2  # uncovered tokens behind a span that count
RARE = 1e-9  # share of a token that the lexicon does not have
_WORDS = re.compile(r"[^\W\d_]+(?:['-][^\W\d_]+)*|\d+|[^\w\s]")
_PARAGRAPHS = re.compile(r"\n[^\S\n]*\n")


def tokens_of(text: str, *, words: bool) -> list[str]:
    """Words, numbers and marks of a text in one case, or its characters without spaces."""
    text = unicodedata.normalize("NFKC", text).casefold().replace("’", "'")
    return _WORDS.findall(text) if words else re.findall(r"\S", text)


class NgramModel:
    """Counts of a text's n-grams; those of lower orders are of the different tokens before them."""

    def __init__(self, paragraphs: Iterable[Sequence[str]], order: int) -> None:
        self.numbers: dict[str, int] = {}
        text = array("q")
        for paragraph in paragraphs:
            text.append(BOUNDARY)
            text.extend(self.numbers.setdefault(token, len(self.numbers) + 1) for token in paragraph)
        self.order, self._size = order, len(self.numbers) + 2  # one more for tokens that the text does not have
        stream = np.frombuffer(text, dtype=np.int64)
        keys = np.zeros(len(stream) - order + 1, dtype=np.int64)
        inside = np.ones(len(keys), dtype=bool)
        for place in range(order):
            tokens = stream[place : place + len(keys)]
            keys = keys * self._size + tokens
            inside &= (tokens != BOUNDARY) | (place == 0)
        self._counts = {order: np.unique(keys[inside], return_counts=True)}
        for length in range(order - 1, 0, -1):
            longer, _ = self._counts[length + 1]
            self._counts[length] = np.unique(longer % self._size**length, return_counts=True)

    def number(self, token: str) -> int:
        """Number of a token; the last one stands for all that the text does not have."""
        return self.numbers.get(token, self._size - 1)

    def probabilities(self, history: Sequence[int], tokens: Ints, base: Doubles) -> Doubles:
        """Probability of each of some tokens after others, given their share below the single tokens."""
        found = base
        for length in range(1, min(self.order, len(history) + 1) + 1):
            keys, counts = self._counts[length]
            before = 0
            for token in history[len(history) - length + 1 :]:
                before = before * self._size + token
            first, last = np.searchsorted(keys, [before * self._size, (before + 1) * self._size])
            if first == last:
                break
            own, total = keys[first:last], counts[first:last].sum()
            place = np.minimum(np.searchsorted(own, before * self._size + tokens), len(own) - 1)
            count = np.where(own[place] == before * self._size + tokens, counts[first:last][place], 0)
            found = (np.maximum(count - DISCOUNT, 0) + DISCOUNT * len(own) * found) / total
        return found


class ReadSpan(NamedTuple):
    """A span read by pixels, and by pixels and language: bits left, and whether the best text is its own."""

    pixel_bits: float
    by_pixels: bool
    bits: float
    by_both: bool


class LanguageReader:
    """Reads spans of one language by their pixels and an n-gram model."""

    def __init__(self, lexicon: Lexicon, text: str) -> None:
        self.words = bool(lexicon.separator)
        paragraphs = (tokens_of(paragraph, words=self.words) for paragraph in _PARAGRAPHS.split(text))
        self.model, self.lexicon = NgramModel(paragraphs, ORDERS[self.words]), lexicon
        tokens = ["".join(tokens_of(unit, words=self.words)) for unit in lexicon.units]
        shares: defaultdict[str, float] = defaultdict(float)
        for token, log_share in zip(tokens, lexicon.log_prior.tolist(), strict=True):
            shares[token] += math.exp(log_share)
        self.shares = shares
        self._share = np.array([shares[token] for token in tokens])  # of each unit's token, in all cases
        self._number = np.array([self.model.number(token) for token in tokens])

    def read(self, span: MeasuredSpan) -> ReadSpan:
        """Read a span."""
        pixels: list[tuple[Ints, Doubles]] = []
        own = [unit for text in span.texts for unit in (text.split() if self.words else text.strip())]
        for cell, text in zip(span.cells, span.texts, strict=True):
            pixels += unit_posteriors(span.templates, cell, text)
        by_pixels = all(
            not len(units) or self.lexicon.units[units[shares.argmax()]] == unit
            for unit, (units, shares) in zip(own, pixels, strict=True)
        )
        history = [BOUNDARY] * span.is_first + [self.model.number(token) for token in self.tokens(span.before)]
        beams = [(0.0, history, True)]
        for unit, (units, shares) in zip(own, pixels, strict=True):
            beams = sorted(self._longer(beams, unit, units, shares), key=lambda beam: -beam[0])[:BEAM]
        for token in self.tokens(span.after)[:BEHIND]:
            share = np.array([max(self.shares.get(token, 0.0), RARE)])
            number = np.array([self.model.number(token)])
            beams = [
                (weight + math.log(self.model.probabilities(past, number, share)[0]), [*past, int(number[0])], right)
                for weight, past, right in beams
            ]
        weights = np.array([weight for weight, _, _ in beams])
        return ReadSpan(
            pixel_bits=lower_bound(span.templates, span.cells, span.texts),
            by_pixels=by_pixels,
            bits=entropy_of(weights) / math.log(2),
            by_both=max(beams)[2],
        )

    def tokens(self, text: str) -> list[str]:
        """Tokens of a text of the language."""
        return tokens_of(text, words=self.words)

    def _longer(
        self, beams: Sequence[tuple[float, list[int], bool]], unit: str, units: Ints, shares: Doubles
    ) -> Iterator[tuple[float, list[int], bool]]:
        """Yield the likeliest sequences with one unit more; one that is seen whole is known."""
        if not len(units):
            number = self.model.number("".join(self.tokens(unit)))
            yield from ((weight, [*history, number], right) for weight, history, right in beams)
            return
        likely = np.flatnonzero(shares > shares.max() * 1e-9)
        units, shares = units[likely], shares[likely]
        seen = np.log(shares) - np.log(self._share[units])  # without the frequency of the token
        numbers = self._number[units]
        for weight, history, right in beams:
            weights = weight + seen + np.log(self.model.probabilities(history, numbers, self._share[units]))
            for place in np.argsort(-weights, kind="stable")[:BEAM].tolist():
                same = right and self.lexicon.units[units[place]] == unit
                yield float(weights[place]), [*history, int(numbers[place])], same


def main() -> None:
    """Read the spans of a set and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="a hidden set of pairs whose covers go by bits, with its key")
    parser.add_argument("--text", type=Path, action="append", required=True, help="UTF-8, without the set's captions")
    arguments = parser.parse_args()
    lexicon = load_lexicon(str(read_key(arguments.folder / "key").language))
    reader = LanguageReader(lexicon, "\n\n".join(file.read_text("utf-8") for file in arguments.text))
    rows: defaultdict[str, list[ReadSpan]] = defaultdict(list)
    for item in read_answers(arguments.folder / "key"):
        stacked = read_pixels(arguments.folder / "public" / image_name(IMAGE_FOLDERS[0], item["question_id"]))
        strip = stacked[item["strip_y"] : item["strip_y"] + item["strip_height"], :, 0]
        for row, span in zip(item["spans"], measured_spans(item, strip, lexicon.lang), strict=True):
            found = reader.read(span)
            is_rare = lexicon.bits_a_unit(row["text"]) - lexicon.mean_bits >= RARER[0]
            rows["of rare words" if is_rare else "others"].append(found)
            rows["all"].append(found)
    print(
        "| words | spans | EM of pixels | of pixels and n-grams | bits of pixels, median | of both | of both below 1 |"
    )
    print("|---|---|---|---|---|---|---|")
    for name, spans in rows.items():
        alone, right, both = (np.array([getattr(span, field) for span in spans]) for field in ReadSpan._fields[:3])
        exact = np.mean([span.by_both for span in spans])
        print(
            f"| {name} | {len(spans)} | {np.mean(right):.1%} | {exact:.1%} | {np.median(alone):.1f} | "
            f"{np.median(both):.1f} | {np.mean(both < 1):.1%} |"
        )


if __name__ == "__main__":
    main()
