"""The scores of units in arrays: their size depends on the dataset, not on the number of predictions."""

from __future__ import annotations

import math
import struct
from array import array
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from vcrgen.dataset.views import View
from vcrgen.scorer.answer_key import AnswerKey
from vcrgen.scorer.groups import Property, SpanProperties, spans_of
from vcrgen.scorer.join import Joined
from vcrgen.scorer.records import CellName, Outcome, Question, SpanMatch
from vcrgen.scorer.scorer import ScoredOutput, unanswered
from vcrgen.tasks.task import RESTORATION, ScoredTask

if TYPE_CHECKING:
    from vcrgen.stats.arrays import Bits, Codes, Ints, Records

_CODES = {Outcome(outcome): code for code, outcome in enumerate(RESTORATION.outcomes)}
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
    def cells(self) -> Mapping[CellName, Cell]:
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

    def add(self, part: CellPart, starts: Ints) -> None:
        """Keep what came of some outputs; ``starts`` is, of each question, how many units stand before it."""
        import numpy as np

        units, size = spans_of(part.rows, starts), len(self._metrics)
        np.frombuffer(self._scores, np.float64).reshape(-1, size)[units] = np.array(part.scores).reshape(-1, size)
        np.frombuffer(self._outcomes, np.uint8)[units] = np.frombuffer(part.outcomes, np.uint8)
        self.counts.update(part.counts)
        self.output_characters += part.output_characters
        self.answer_characters += part.answer_characters

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


class CellPart:
    """What came of some of the outputs of a cell: of each question the scores of its spans, one after the other."""

    def __init__(self) -> None:
        self.rows = array("q")  # of each output the row of its question
        self.marks = bytearray()  # of each output its mark in `Join.seen`
        self.scores = array("d")  # of each span all metrics
        self.outcomes = bytearray()
        self.counts: Counter[str] = Counter()
        self.output_characters = 0
        self.answer_characters = 0

    def add(self, joined: Joined, question: Question, scored: ScoredOutput | None) -> tuple[SpanMatch, ...]:
        """Count one output; ``scored`` is what the scorer says of it, or None where there is none.

        Returns:
            The matches of its spans.
        """
        if scored is None:
            self.counts["null"] += 1
            matches = unanswered(question.answers, Outcome.NULL)
        else:
            matches = scored.matches
            self.counts[scored.outcome.value if scored.outcome else "answered"] += 1
            self.counts["thinking"] += scored.thinking
            self.counts["cut"] += scored.cut
            if scored.long:
                self.counts["long"] += 1
            self.counts["verbatim"] += sum([match.verbatim and not match.exact for match in matches])
            if not joined.prediction.failed:
                self.output_characters += scored.length
                self.answer_characters += sum(map(len, question.answers))
        self.rows.append(joined.question)
        self.marks.append(joined.mark)
        for match in matches:
            self.scores.extend(match.scores)
            self.outcomes.append(_CODES[match.outcome])
        return matches


class Tally:
    """Adds up scored outputs and keeps what the statistics need."""

    def __init__(self, key: AnswerKey, properties: SpanProperties) -> None:
        self.task = RESTORATION
        self.key = key
        self.properties = properties
        self.cells: dict[CellName, Cell] = {}
        self.starts = key.questions.starts

    @property
    def variants(self) -> list[str]:
        """The modes, easy before hard."""
        return sorted({variant for variant, _ in self.cells})

    def add(self, parts: Mapping[CellName, CellPart]) -> None:
        """Count some outputs."""
        for name, part in parts.items():
            if name not in self.cells:
                self.cells[name] = Cell(self.task, *name, int(self.starts[-1]))
            self.cells[name].add(part, self.starts)

    def missing(self) -> Iterator[tuple[Cell, Ints]]:
        """Cells that lack predictions, and the rows of the questions that have none; counts them on the way."""
        import numpy as np

        asked = np.flatnonzero(np.diff(self.starts))  # a question without a span has no outcome
        for cell in self.cells.values():
            rows = asked[cell.missing[self.starts[asked]]]
            if len(rows):
                cell.counts["missing"] = len(rows)
                yield cell, rows
