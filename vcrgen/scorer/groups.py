"""Spans by what may make them hard: length, place in the image, visible ink, the segmenter's doubt."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vcrgen.scorer.answer_key import AnswerKey
from vcrgen.scorer.records import Question
from vcrgen.scorer.scorer import Scorer
from vcrgen.stats.arrays import Floats

LAST_POSITION = 4
MAX_LENGTHS = 8
EXAMPLES = 5
NO_LABEL = 0xFFFF  # the code of a span of which a property is not known
_AGREEMENT = ("agrees", "disagrees")
_UNKNOWN = float("nan")
PIXEL_BITS = "pixel bits"  # what spans are divided by
_BITS = (0, 1, 2, 4, 6, 8, 12)  # where its ranges begin


@dataclass(frozen=True, slots=True)
class Breakdown:
    """One division of the units into groups."""

    by: str  # what they are divided by, for people
    labels: tuple[str, ...]  # its values, for people
    codes: NDArray[np.uint16]  # for each span in the key's order the number of its label, or `NO_LABEL`

    @property
    def groups(self) -> list[tuple[str, int]]:
        """Name and number of each label: two labels can read the same."""
        return [(self.by, code) for code in range(len(self.labels))]


Breakdowns = Callable[[str], Sequence[Breakdown]]
"""Gives the breakdowns of the units of one variant."""


class SpanBreakdowns:
    """Breakdowns of the spans of a key, from a few bytes of each span.

    Questions that are scored are observed then (`observe`), as their spans' tokens are at hand. The others are
    read from the key when a breakdown is asked for. Lengths are in the tokens of the scorer.
    """

    def __init__(self, key: AnswerKey, scorer: Scorer) -> None:
        self._key = key
        self._scorer = scorer
        self._starts = key.questions.starts
        self._spans = spans = int(self._starts[-1])
        self._seen = bytearray(len(key))
        self._tokens = array("B", bytes(spans))
        self._agreement = array("H", bytes(2 * spans))
        self._characters = array("i", bytes(4 * spans))
        self._ink, self._bits = ({mode: array("d", bytes(8 * spans)) for mode in key.variants} for _ in range(2))
        self._traits: dict[str, tuple[dict[str, int], array[int]]] = {}

    def observe(self, row: int, question: Question) -> None:
        """Record the properties of a question's spans, unless they are known."""
        if self._seen[row]:
            return
        self._seen[row] = 1
        for number, span in enumerate(question.spans, start=int(self._starts[row])):
            tokens = self._scorer.prepare(span.text).tokens
            self._tokens[number] = min(len(tokens), MAX_LENGTHS)
            # Where a span on its own is cut otherwise than in its caption, an output that embeds it in other words can
            # hold it and still lack its tokens.
            self._agreement[number] = NO_LABEL if span.tokens is None else int(tokens != span.tokens)
            self._characters[number] = len(span.text)
            for mode, ink in self._ink.items():
                ink[number] = span.ink.get(mode, _UNKNOWN)
            for mode, bits in self._bits.items():
                bits[number] = span.bits.get(mode, _UNKNOWN)
            for name, label in span.traits.items():
                self._put_trait(name, number, label)

    def _put_trait(self, name: str, number: int, label: str) -> None:
        labels, codes = self._traits.setdefault(name, ({"": 0}, array("H", bytes(2 * self._spans))))
        codes[number] = labels.setdefault(label, min(len(labels), NO_LABEL - 1))

    def of_variant(self, mode: str) -> list[Breakdown]:
        """All breakdowns with more than one label; visible ink and bits are those of a mode."""
        first, last = self._of_any_mode
        ink = _by_quartile("visible ink", self.ink_of(mode), decimals=2)
        return [*first, *ink, *_by_bits(self.bits_of(mode)), *last]

    def ink_of(self, mode: str) -> Floats:
        """The visible ink of every span in a mode, NaN where it is not known; empty for a mode that the key lacks."""
        return self._of_mode(self._ink, mode)

    def bits_of(self, mode: str) -> Floats:
        """The bits that the visible pixels of every span leave in a mode, as `ink_of`."""
        return self._of_mode(self._bits, mode)

    def _of_mode(self, values: Mapping[str, array[float]], mode: str) -> Floats:
        self._observe_all()
        return np.frombuffer(values.get(mode, array("d")), np.float64)

    @property
    def empty(self) -> tuple[int, list[str]]:
        """Number of spans without a token, which no output can match, and the ids of the first ones' questions."""
        self._observe_all()
        numbers = np.flatnonzero(np.frombuffer(self._tokens, np.uint8) == 0)
        rows = np.searchsorted(self._starts, numbers[:EXAMPLES], side="right") - 1
        return len(numbers), [self._key.question(row).question_id for row in rows.tolist()]

    @cached_property
    def _of_any_mode(self) -> tuple[list[Breakdown], list[Breakdown]]:
        """The breakdowns before the one by visible ink, and those after it."""
        self._observe_all()
        positions = 1 + np.arange(self._spans) - np.repeat(self._starts[:-1], np.diff(self._starts))
        tokens = np.frombuffer(self._tokens, np.uint8)
        places = [f"{number}. span" for number in range(LAST_POSITION)] + [f"{LAST_POSITION}. span and later"]
        first = [
            *_breakdown("position", places, np.minimum(positions, LAST_POSITION)),
            *_breakdown("tokens", list(map(str, range(MAX_LENGTHS + 1))), tokens),
            *_by_quartile("characters", np.frombuffer(self._characters, np.int32), decimals=0),
        ]
        last = _by_label("segmenter", _AGREEMENT, self._agreement)
        for name, (labels, codes) in self._traits.items():
            last += _by_label(name, list(labels), codes)
        return first, last

    def _observe_all(self) -> None:
        row = self._seen.find(0)
        while row >= 0:
            self.observe(row, self._key.question(row))
            row = self._seen.find(0, row + 1)


def _breakdown(by: str, labels: Sequence[str], codes: NDArray[Any]) -> list[Breakdown]:
    """The division into those of the labels that occur, in their order; none where fewer than two do."""
    present = [code for code in np.unique(codes).tolist() if code != NO_LABEL]
    if len(present) < 2:
        return []
    order = np.full(NO_LABEL + 1, NO_LABEL, np.uint16)
    order[present] = np.arange(len(present))
    return [Breakdown(by, tuple(labels[code] for code in present), order[codes])]


def _by_label(by: str, labels: Sequence[str], codes: array[int]) -> list[Breakdown]:
    """One label a value, in alphabetical order."""
    ranked = np.full(NO_LABEL + 1, NO_LABEL, np.uint16)
    ranked[np.argsort(np.array(labels), kind="stable")] = np.arange(len(labels))
    return _breakdown(by, sorted(labels), ranked[np.frombuffer(codes, np.uint16)])


def _by_bits(values: Floats) -> list[Breakdown]:
    """One label a range of bits, each up to below where the next one begins; NaN has none."""
    codes = np.searchsorted(_BITS, values, side="right") - 1
    names = [f"{low}-{high}" for low, high in pairwise(_BITS)] + [f"{_BITS[-1]}+"]
    return _breakdown(PIXEL_BITS, names, np.where(np.isnan(values), NO_LABEL, codes))


def _by_quartile(by: str, exact: Floats | NDArray[np.int32], *, decimals: int) -> list[Breakdown]:
    """Four labels of about as many spans, or fewer where most values are equal; NaN has none.

    Values that are shown as the same number are in one group, so that no two labels overlap.
    """
    values = np.round(exact.astype(np.float64), decimals)
    has_value = ~np.isnan(values)
    ordered = np.sort(values[has_value])
    if len(ordered) < LAST_POSITION or ordered[0] == ordered[-1]:
        return []
    bounds = [ordered[len(ordered) * quarter // 4] for quarter in (1, 2, 3)]
    codes = np.searchsorted(bounds, values, side="right").astype(np.uint16)
    codes[~has_value] = NO_LABEL
    labels: list[str] = []
    codes_found = np.full(NO_LABEL + 1, NO_LABEL, np.uint16)
    for code in sorted(set(codes[has_value].tolist())):
        inside = values[codes == code]
        low, high = (f"{end:.{decimals}f}" for end in (inside.min(), inside.max()))
        codes_found[code] = len(labels)
        labels.append(low if low == high else f"{low}-{high}")
    return [Breakdown(by, tuple(labels), codes_found[codes])]
