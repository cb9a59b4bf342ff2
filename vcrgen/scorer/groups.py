"""Spans by what may make them hard: length, place in the image, visible ink, the segmenter's doubt."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from vcrgen.scorer.answer_key import AnswerKey
from vcrgen.scorer.records import AnswerSpan
from vcrgen.scorer.scorer import Scorer

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from vcrgen.stats.arrays import Codes, Floats, Ints

LAST_POSITION = 4
MOST_LENGTHS = 8
EXAMPLES = 5
NO_LABEL = 0xFFFF  # the code of a span of which a property is not known
_AGREEMENT = ("agrees", "disagrees")


@dataclass(frozen=True, slots=True)
class Property:
    """One way to divide the spans.

    Attributes:
        by: What they are divided by, for people.
        labels: Its values, for people.
        codes: For each span in the key's order the number of its label, or :data:`NO_LABEL`.
    """

    by: str
    labels: tuple[str, ...]
    codes: NDArray[np.uint16]


class SpanProperties:
    """What divides the spans of a key. The key is read once, and a few bytes are kept of each span.

    Args:
        key: The answers.
        scorer: Its tokens are those of the lengths.

    Attributes:
        empty: How many spans have no token, so that nobody can restore them.
        first_empty: The ids of the first questions with one.
    """

    def __init__(self, key: AnswerKey, scorer: Scorer) -> None:
        import numpy as np

        self.empty = 0
        self.first_empty: list[str] = []
        columns = _Columns(key.modes)
        for question in key.questions:
            for span in question.spans:
                tokens = scorer.prepare(span.text).tokens
                columns.add(span, tokens)
                if not tokens:
                    self.empty += 1
                    if len(self.first_empty) < EXAMPLES:
                        self.first_empty.append(question.question_id)
        starts = key.questions.starts
        positions = 1 + np.arange(starts[-1]) - np.repeat(starts[:-1], np.diff(starts))
        tokens_of = np.frombuffer(columns.tokens, np.uint8)
        self._first = [
            *_by_value("position", positions, _position_label, LAST_POSITION),
            *_by_value("tokens", tokens_of, str, MOST_LENGTHS),
            *_by_quartile("characters", np.frombuffer(columns.characters, np.int32), "{:.0f}"),
        ]
        self._ink = {
            mode: _by_quartile("visible ink", np.frombuffer(ink, np.float64), "{:.2f}")
            for mode, ink in columns.ink.items()
        }
        agreement = _by_label("segmenter", _AGREEMENT, columns.agreement)
        self._last = agreement + [
            part for name, codes in columns.traits.items() for part in _by_label(name, columns.labels[name], codes)
        ]

    def of_mode(self, mode: str) -> list[Property]:
        """All properties; one with a single value is none.

        Args:
            mode: The mode whose visible ink counts.
        """
        return [*self._first, *self._ink.get(mode, ()), *self._last]


class _Columns:
    """What is kept of the spans, in arrays that grow."""

    def __init__(self, modes: Sequence[str]) -> None:
        self.tokens = array("B")
        self.characters = array("i")
        self.ink = {mode: array("d") for mode in modes}
        self.agreement = array("H")
        self.traits: dict[str, array[int]] = {}
        self.labels: dict[str, dict[str, int]] = {}

    def add(self, span: AnswerSpan, tokens: tuple[str, ...]) -> None:
        number = len(self.tokens)
        self.tokens.append(min(len(tokens), MOST_LENGTHS))
        self.characters.append(len(span.text))
        # Where a span on its own is cut otherwise than in its caption, an output that embeds it in other words can hold
        # it and still lack its tokens.
        self.agreement.append(NO_LABEL if span.tokens is None else int(tokens != span.tokens))
        for mode, values in self.ink.items():
            values.append(span.ink.get(mode, float("nan")))
        for name in [name for name in span.traits if name not in self.traits]:
            self.labels[name] = {"": 0}
            self.traits[name] = array("H", [0]) * number
        for name, codes in self.traits.items():
            labels = self.labels[name]
            codes.append(labels.setdefault(span.traits.get(name, ""), min(len(labels), NO_LABEL - 1)))


def _position_label(position: int) -> str:
    return f"{position}. span" if position < LAST_POSITION else f"{position}. span and later"


def _by_value(by: str, values: Ints | Codes, label: Callable[[int], str], most: int) -> list[Property]:
    """One label a value; values from ``most`` on have one together."""
    import numpy as np

    found, codes = np.unique(np.minimum(values, most), return_inverse=True)
    return [Property(by, tuple(map(label, found.tolist())), codes.astype(np.uint16))] if len(found) > 1 else []


def _by_label(by: str, labels: Sequence[str] | dict[str, int], codes: array[int]) -> list[Property]:
    """One label a value, in alphabetical order."""
    import numpy as np

    given, names = np.frombuffer(codes, np.uint16), list(labels)
    found = sorted(np.unique(given[given != NO_LABEL]).tolist(), key=names.__getitem__)
    if len(found) < 2:
        return []
    order = np.full(NO_LABEL + 1, NO_LABEL, np.uint16)
    order[found] = np.arange(len(found))
    return [Property(by, tuple(names[code] for code in found), order[given])]


def _by_quartile(by: str, values: Floats | NDArray[np.int32], form: str) -> list[Property]:
    """Four labels of about as many spans, or fewer where most values are equal; NaN has none."""
    import numpy as np

    known = ~np.isnan(values)
    ordered = np.sort(values[known])
    if len(ordered) < LAST_POSITION or ordered[0] == ordered[-1]:
        return []
    bounds = [ordered[len(ordered) * quarter // 4] for quarter in (1, 2, 3)]
    codes = np.searchsorted(bounds, values, side="right").astype(np.uint16)
    codes[~known] = NO_LABEL
    found: list[str] = []
    codes_found = np.full(NO_LABEL + 1, NO_LABEL, np.uint16)
    for code in np.unique(codes[known]).tolist():
        inside = values[codes == code]
        low, high = form.format(inside.min()), form.format(inside.max())
        codes_found[code] = len(found)
        found.append(low if low == high else f"{low}-{high}")
    return [Property(by, tuple(found), codes_found[codes])]
