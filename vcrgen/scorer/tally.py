"""The scores of units in arrays: their size depends on the dataset, not on the number of predictions."""

import math
import struct
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from vcrgen.data.tasks.task import ScoredTask
from vcrgen.data.views import View
from vcrgen.scorer.clean import THINKING
from vcrgen.scorer.groups import Breakdowns
from vcrgen.scorer.key import BaseKey
from vcrgen.scorer.reader import STEPS
from vcrgen.scorer.records import CellName, Outcome, SpanMatch
from vcrgen.scorer.scorer import ScoredOutput, unanswered
from vcrgen.stats.arrays import Bits, Codes, Ints, Records

NO_OUTCOME = 0xFF  # the outcome of a unit that a cell does not have: an item that its language lacks


class Cell:
    """All units of a key in one variant and view."""

    def __init__(self, task: ScoredTask, variant: str, view: View, units: int) -> None:
        self.variant = variant  # as `easy`; `-` where nobody says
        self.view = view
        # of outputs: `empty`, `null`, `failed`, `refused`, `answered`, `missing`, `beyond_limit`, `long`, `listed`, and
        # the steps of the reader that changed them;
        # of units: `verbatim` (in the output as text, though not as tokens)
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
        return np.frombuffer(self._scores, np.dtype([(metric, np.float64) for metric in self._metrics]))

    @property
    def outcomes(self) -> Codes:
        """An index into the outcomes of the task for each unit, or `NO_OUTCOME`."""
        return np.frombuffer(self._outcomes, dtype=np.uint8)

    @property
    def requested(self) -> Bits:
        """A mask of the units that the cell has."""
        return np.not_equal(self.outcomes, NO_OUTCOME)

    @property
    def missing(self) -> Bits:
        """A mask of the units of the cell that have no output."""
        return np.equal(self.outcomes, self._codes["missing"])

    def add(self, first: int, answers: Sequence[str], scored: ScoredOutput | None) -> Sequence[SpanMatch]:
        """Count one output of a question.

        Args:
            first: The unit of the question's first span.
            scored: The result of the scorer, or None where there is no output.

        Returns:
            The matches of its spans.
        """
        if scored is None:
            self.counts["null"] += 1
            matches = unanswered(answers, Outcome.NULL)
        else:
            matches = scored.matches
            self.counts[scored.outcome.value if scored.outcome else "answered"] += 1
            self.counts["thinking"] += THINKING in scored.steps
            self.counts.update(step for step in scored.steps if step in STEPS and step != THINKING)
            self.counts.update(["listed"] if scored.listed else [])
            self.counts["beyond_limit"] += scored.over_tokens
            if scored.over_characters:
                self.counts["long"] += 1
            self.counts["verbatim"] += sum([match.verbatim and not match.exact for match in matches])
            if scored.outcome is not Outcome.FAILED:
                self.output_characters += scored.length
                self.answer_characters += sum(map(len, answers))
        for unit, match in enumerate(matches, start=first):
            self.set_scores(unit, match.scores, match.outcome)
        return matches

    def set_scores(self, unit: int, scores: Sequence[float], outcome: str) -> None:
        """Keep the scores of a unit; a struct, as small arrays are slow to assign to."""
        self._row.pack_into(self._scores, unit * self._row.size, *scores)
        self._outcomes[unit] = self._codes[outcome]

    def exclude(self, unit: int) -> None:
        """Take a unit out of the cell."""
        self._row.pack_into(self._scores, unit * self._row.size, *[math.nan] * len(self._metrics))
        self._outcomes[unit] = NO_OUTCOME

    @property
    def length_ratio(self) -> float | None:
        """Characters of outputs over characters of answers, or None if there is no output."""
        return self.output_characters / self.answer_characters if self.answer_characters else None


class Tally:
    """The scores of a run, cell by cell, as the statistics read them."""

    def __init__(
        self, task: ScoredTask, key: BaseKey[Any], breakdowns: Breakdowns, variants: Sequence[str] = ()
    ) -> None:
        self.task = task
        self.variants = variants  # in the order of tables; others follow by the alphabet
        self.breakdowns = breakdowns
        self.cells: dict[CellName, Cell] = {}
        self.starts = key.questions.starts  # of each cluster, how many units stand before it; and last, how many

    def cell(self, name: CellName) -> Cell:
        """The cell of a variant and a view; a new one where there is none yet."""
        if name not in self.cells:
            self.cells[name] = Cell(self.task, *name, int(self.starts[-1]))
        return self.cells[name]

    def missing(self) -> Iterator[tuple[Cell, Ints]]:
        """Cells that lack predictions, and the rows of the questions that have none; counts them on the way."""
        with_spans = np.flatnonzero(np.diff(self.starts))  # a question without a span has no outcome
        for cell in self.cells.values():
            rows = with_spans[cell.missing[self.starts[with_spans]]]
            if len(rows):
                cell.counts["missing"] = len(rows)
                yield cell, rows
