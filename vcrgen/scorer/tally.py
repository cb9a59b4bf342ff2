"""Per-span scores in arrays: their size depends on the dataset, not on the number of predictions."""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from vcrgen.dataset.views import View
from vcrgen.scorer.answer_key import AnswerKey
from vcrgen.scorer.groups import SpanProperties
from vcrgen.scorer.join import Joined
from vcrgen.scorer.records import METRICS, Outcome, Question, SpanMatch
from vcrgen.scorer.scorer import ScoredOutput, unanswered

if TYPE_CHECKING:
    from vcrgen.stats.arrays import Codes, Ints, Records

OUTCOMES = tuple(Outcome)
_CODE = {outcome: code for code, outcome in enumerate(OUTCOMES)}
_ROW = struct.Struct(f"={len(METRICS)}d")  # the scores of a span


@dataclass
class Cell:
    """All spans of a key in one mode and view."""

    mode: str  # `easy`, `hard`, or `-` where nobody says
    view: View
    _scores: bytearray
    _outcomes: bytearray
    # of outputs: `empty`, `null`, `failed`, `refused`, `answered`, `missing`, `cut`, `long`, `thinking`; and of spans:
    # `verbatim` (in the output as text, though not as tokens)
    counts: Counter[str] = field(default_factory=Counter)
    output_characters: int = 0  # length of all outputs but failed ones
    answer_characters: int = 0  # length of all answers of the questions with these outputs

    @property
    def scores(self) -> Records:
        """The scores of each span, by metric; 0 where there is no output."""
        import numpy as np

        return np.frombuffer(self._scores, np.dtype([(metric, np.float64) for metric in METRICS]))

    @property
    def outcomes(self) -> Codes:
        """An index into :data:`OUTCOMES` for each span."""
        import numpy as np

        return np.frombuffer(self._outcomes, dtype=np.uint8)

    def put(self, span: int, matches: Sequence[SpanMatch]) -> None:
        """Keep the scores of spans from the number ``span`` on; a struct, as small arrays are slow to assign to."""
        for number, match in enumerate(matches, start=span):
            _ROW.pack_into(self._scores, number * _ROW.size, *match.scores)
            self._outcomes[number] = _CODE[match.outcome]

    @property
    def length_ratio(self) -> float | None:
        """Characters of outputs over characters of answers, or None if there is no output."""
        return self.output_characters / self.answer_characters if self.answer_characters else None


class Tally:
    """Counts scored outputs one by one and keeps what the statistics need; ``properties`` are shown the questions."""

    def __init__(self, key: AnswerKey, properties: SpanProperties) -> None:
        self.key = key
        self.properties = properties
        self.cells: dict[tuple[str, View], Cell] = {}
        self.starts = key.questions.starts

    def add(self, joined: Joined, question: Question, scored: ScoredOutput | None) -> tuple[SpanMatch, ...]:
        """Count one prediction of a question; its spans' matches are returned as evidence and not kept.

        ``scored`` is what the scorer says of its output, or None where there is no output.
        """
        if joined.cell not in self.cells:
            spans = int(self.starts[-1])
            missing = bytearray([_CODE[Outcome.MISSING]]) * spans
            self.cells[joined.cell] = Cell(*joined.cell, bytearray(_ROW.size * spans), missing)
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
            rows = asked[cell.outcomes[self.starts[asked]] == _CODE[Outcome.MISSING]]
            if len(rows):
                cell.counts["missing"] = len(rows)
                yield cell, rows
