"""Per-span scores in arrays: their size depends on the dataset, not on the number of predictions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from vcrgen.scorer.join import Joined
from vcrgen.scorer.records import METRICS, AnswerKey, Outcome, SpanMatch, View
from vcrgen.scorer.scorer import Scorer

if TYPE_CHECKING:
    from vcrgen.scorer.arrays import Codes, Floats

OUTCOMES = tuple(Outcome)
_CODE = {outcome: code for code, outcome in enumerate(OUTCOMES)}


@dataclass
class Cell:
    """All spans of a key in one mode and view.

    Attributes:
        mode: ``easy``, ``hard``, or ``-`` where nobody says.
        view: The image the model saw.
        scores: Spans x metrics; 0 where there is no output.
        outcomes: An index into :data:`OUTCOMES` for each span.
        counts: Of outputs: ``empty``, ``null``, ``refused``, ``answered``, ``missing``, ``cut``, ``thinking``; and of
            spans: ``verbatim`` (in the output as text, though not as tokens).
        output_characters: Length of all outputs.
        answer_characters: Length of all answers of the questions with an output.
    """

    mode: str
    view: View
    scores: Floats
    outcomes: Codes
    counts: Counter[str] = field(default_factory=Counter)
    output_characters: int = 0
    answer_characters: int = 0

    @property
    def length_ratio(self) -> float | None:
        """Characters of outputs over characters of answers, or None if there is no output."""
        return self.output_characters / self.answer_characters if self.answer_characters else None


class Tally:
    """Scores predictions one by one and keeps what the statistics need.

    Args:
        key: The answers.
        scorer: Scores one output.
    """

    def __init__(self, key: AnswerKey, scorer: Scorer) -> None:
        import numpy as np

        self.key = key
        self.scorer = scorer
        self.cells: dict[tuple[str, View], Cell] = {}
        counts = [len(question.spans) for question in key.questions]
        self.starts = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
        self._starts: list[int] = self.starts.tolist()

    def add(self, joined: Joined) -> tuple[SpanMatch, ...]:
        """Score one prediction; its spans' matches are returned as evidence and not kept."""
        cell, question = self._cell(joined.cell), self.key.questions[joined.question]
        output = joined.prediction.output
        if output is None:
            cell.counts["null"] += 1
            matches = unanswered(question.answers, Outcome.NULL)
        else:
            scored = self.scorer(question.answers, output)
            matches = scored.matches
            cell.counts[scored.outcome.value if scored.outcome else "answered"] += 1
            cell.counts["thinking"] += scored.thinking
            cell.counts["cut"] += scored.cut
            cell.counts["verbatim"] += sum(match.verbatim and not match.exact for match in matches)
            cell.output_characters += scored.length
            cell.answer_characters += sum(map(len, question.answers))
        if matches:
            start = self._starts[joined.question]
            cell.scores[start : start + len(matches)] = [match.scores for match in matches]
            cell.outcomes[start : start + len(matches)] = [_CODE[match.outcome] for match in matches]
        return matches

    def missing(self) -> Iterator[tuple[Cell, int]]:
        """Cells and questions without a prediction; counts them on the way."""
        missing = _CODE[Outcome.MISSING]
        for cell in self.cells.values():
            for number, question in enumerate(self.key.questions):
                if question.spans and cell.outcomes[self.starts[number]] == missing:
                    cell.counts["missing"] += 1
                    yield cell, number

    def _cell(self, name: tuple[str, View]) -> Cell:
        import numpy as np

        if name not in self.cells:
            spans = int(self.starts[-1])
            self.cells[name] = Cell(
                mode=name[0],
                view=name[1],
                scores=np.zeros((spans, len(METRICS))),
                outcomes=np.full(spans, _CODE[Outcome.MISSING], dtype=np.uint8),
            )
        return self.cells[name]


def unanswered(answers: Sequence[str], outcome: Outcome) -> tuple[SpanMatch, ...]:
    """The matches of spans that have no output."""
    return tuple(SpanMatch(answer=answer, outcome=outcome) for answer in answers)
