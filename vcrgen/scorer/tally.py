"""The scores of units in arrays: their size depends on the dataset, not on the number of predictions."""

from __future__ import annotations

import math
import struct
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from vcrgen.dataset.views import View
from vcrgen.scorer.answer_key import AnswerKey
from vcrgen.scorer.groups import Property, SpanProperties
from vcrgen.scorer.join import Joined
from vcrgen.scorer.records import Outcome, Question, SpanMatch
from vcrgen.scorer.scorer import ScoredOutput, unanswered
from vcrgen.tasks.task import RESTORATION, ScoredTask

if TYPE_CHECKING:
    from vcrgen.stats.arrays import Bits, Codes, Ints, Records

NOT_ASKED = 0xFF  # the outcome of a unit that a cell does not ask for: an item that its language lacks


class Scored(Protocol):
    """What is known of one unit."""

    @property
    def scores(self) -> Sequence[float]:
        """The metrics of its task, in their order; NaN where it has none."""

    @property
    def outcome(self) -> str:
        """One of the outcomes of its task."""


class Properties(Protocol):
    """What divides the units of a key into groups."""

    def of_variant(self, variant: str) -> Sequence[Property]:
        """All ways to divide the units of one variant."""


class AnyTally(Protocol):
    """What the statistics need of the scores of a run."""

    @property
    def task(self) -> ScoredTask:
        """The task."""

    @property
    def cells(self) -> Mapping[tuple[str, View], Cell]:
        """The cells by variant and view."""

    @property
    def variants(self) -> Sequence[str]:
        """The variants in the order of tables."""

    @property
    def starts(self) -> Ints:
        """Of each cluster, how many units stand before it; and last, how many there are."""

    @property
    def properties(self) -> Properties:
        """What divides the units."""


class Cell:
    """All units of a key in one variant and view."""

    def __init__(self, task: ScoredTask, variant: str, view: View, units: int) -> None:
        self.variant = variant  # as `easy`; `-` where nobody says
        self.view = view
        # of outputs: `empty`, `null`, `failed`, `refused`, `answered`, `missing`, `cut`, `long`, `thinking`; and of
        # units: `verbatim` (in the output as text, though not as tokens)
        self.counts: Counter[str] = Counter()
        self.output_characters = 0  # length of all outputs but failed ones
        self.answer_characters = 0  # length of all answers of the questions with these outputs
        self._codes = {outcome: code for code, outcome in enumerate(task.outcomes)}
        self._metrics = tuple(task.metrics)
        self._row = struct.Struct(f"={len(task.metrics)}d")  # the scores of a unit
        self._scores = bytearray(self._row.size * units)
        self._outcomes = bytearray([self._codes["missing"]]) * units

    @property
    def scores(self) -> Records:
        """The scores of each unit, by metric; 0 where there is no output."""
        import numpy as np

        return np.frombuffer(self._scores, np.dtype([(metric, np.float64) for metric in self._metrics]))

    @property
    def outcomes(self) -> Codes:
        """An index into the outcomes of the task for each unit, or `NOT_ASKED`."""
        import numpy as np

        return np.frombuffer(self._outcomes, dtype=np.uint8)

    @property
    def asked(self) -> Bits:
        """Which units the cell asks for."""
        asked: Bits = self.outcomes != NOT_ASKED
        return asked

    @property
    def missing(self) -> Bits:
        """Which units are asked for and have no output."""
        missing: Bits = self.outcomes == self._codes["missing"]
        return missing

    def put(self, first: int, scored: Sequence[Scored]) -> None:
        """Keep the scores of units from the number ``first`` on; a struct, as small arrays are slow to assign to."""
        row, codes = self._row, self._codes
        for number, unit in enumerate(scored, start=first):
            row.pack_into(self._scores, number * row.size, *unit.scores)
            self._outcomes[number] = codes[unit.outcome]

    def leave_out(self, unit: int) -> None:
        """Do not ask for a unit."""
        self._row.pack_into(self._scores, unit * self._row.size, *[math.nan] * len(self._metrics))
        self._outcomes[unit] = NOT_ASKED

    @property
    def length_ratio(self) -> float | None:
        """Characters of outputs over characters of answers, or None if there is no output."""
        return self.output_characters / self.answer_characters if self.answer_characters else None


class Tally:
    """Counts scored outputs one by one and keeps what the statistics need; ``properties`` are shown the questions."""

    def __init__(self, key: AnswerKey, properties: SpanProperties) -> None:
        self.task = RESTORATION
        self.key = key
        self.properties = properties
        self.cells: dict[tuple[str, View], Cell] = {}
        self.starts = key.questions.starts

    @property
    def variants(self) -> list[str]:
        """The modes, easy before hard."""
        return sorted({variant for variant, _ in self.cells})

    def add(self, joined: Joined, question: Question, scored: ScoredOutput | None) -> tuple[SpanMatch, ...]:
        """Count one prediction of a question; its spans' matches are returned as evidence and not kept.

        ``scored`` is what the scorer says of its output, or None where there is no output.
        """
        if joined.cell not in self.cells:
            self.cells[joined.cell] = Cell(self.task, *joined.cell, int(self.starts[-1]))
        cell, answers = self.cells[joined.cell], question.answers
        if scored is None:
            cell.counts["null"] += 1
            matches = unanswered(answers, Outcome.NULL)
        else:
            matches = scored.matches
            self.properties.see(joined.question, question)
            cell.counts[scored.outcome.value if scored.outcome else "answered"] += 1
            cell.counts["thinking"] += scored.thinking
            cell.counts["cut"] += scored.cut
            if scored.long:
                cell.counts["long"] += 1
            cell.counts["verbatim"] += sum([match.verbatim and not match.exact for match in matches])
            if not joined.prediction.failed:
                cell.output_characters += scored.length
                cell.answer_characters += sum(map(len, answers))
        cell.put(int(self.starts[joined.question]), matches)
        return matches

    def missing(self) -> Iterator[tuple[Cell, Ints]]:
        """Cells that lack predictions, and the rows of the questions that have none; counts them on the way."""
        import numpy as np

        asked = np.flatnonzero(np.diff(self.starts))  # a question without a span has no outcome
        for cell in self.cells.values():
            rows = asked[cell.missing[self.starts[asked]]]
            if len(rows):
                cell.counts["missing"] = len(rows)
                yield cell, rows
