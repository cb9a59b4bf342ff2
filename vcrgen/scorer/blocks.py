"""The outputs of a run joined and scored block by block, in this process or in several.

What reads a block, joins its outputs to the key and scores them can stand in another process: it sees one block alone,
and sends back columns of numbers. The first process adds them up in the order of the file. Where an earlier block has
an output for one of the same questions, it scores the block itself, knowing the earlier ones. So the scores, counts and
messages are those of one process.
"""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from vcrgen.errors import PredictionError
from vcrgen.scorer.evidence import Row, span_rows
from vcrgen.scorer.groups import SpanFacts
from vcrgen.scorer.join import Join, Joined, JoinedBlock
from vcrgen.scorer.predictions import PredictionFile
from vcrgen.scorer.predictions.recognise import Block
from vcrgen.scorer.records import CellName
from vcrgen.scorer.tally import CellPart
from vcrgen.work.processes import results

if TYPE_CHECKING:
    from vcrgen.scorer.run import Session

_ADVICE = "score with fewer --workers if memory was short"


class EvidenceOfOutput(NamedTuple):
    """What became of the spans of one output."""

    model: str | None
    question_id: str
    cell: CellName
    spans: list[tuple[Row, Sequence[float]]]


class ScoredBlock(NamedTuple):
    """What came of the usable outputs of a block."""

    cells: Mapping[CellName, CellPart]
    new: array[int]  # rows of questions that were not seen before
    evidence: Sequence[EvidenceOfOutput]  # of every output, where it is asked for
    model: str | None  # the last one that is named


def scored_blocks(
    session: Session, make_join: Callable[[], Join], run: Sequence[PredictionFile], join: Join, *, evidence: bool
) -> Iterator[ScoredBlock]:
    """The outputs of a run scored, in their order; ``join`` counts what is odd about them.

    Args:
        session: The answers and the scorer.
        make_join: Makes a join like ``join``, for a block that is read alone.
        run: The files.
        join: Joins the outputs of the whole run.
        evidence: Whether what became of every span is wanted.

    Raises:
        PredictionError: As calling a :class:`Join` does.
    """
    for file in run:
        join.begin(file, named=len(run) > 1)
        alone = partial(_Alone, session, make_join, replace(file, folder=None), len(run) > 1, evidence)
        for block, found in _found_alone(alone, file, session.options.workers):
            if found is not None and join.add(found.joined, found.taken):
                session.properties.put(found.facts)
                yield found.scored
            else:
                yield score_block(session, join.some(file.read(block)), evidence=evidence)
        join.end()
    join.note_missing()


def _found_alone(
    make: Callable[[], _Alone], file: PredictionFile, workers: int
) -> Iterator[tuple[Block, _BlockAlone | None]]:
    """The blocks of a file, each with what a process found in it; nothing where there is one process."""
    if workers == 1:
        yield from ((block, None) for block in file.blocks())
        return
    taken: deque[Block] = deque()

    def blocks() -> Iterator[Block]:
        for block in file.blocks():
            taken.append(block)
            yield block

    for found in results(make, blocks(), workers, advice=_ADVICE, forked=True):
        yield taken.popleft(), found


class _BlockAlone(NamedTuple):
    """What a process found in a block, knowing no other."""

    joined: JoinedBlock
    scored: ScoredBlock
    facts: SpanFacts  # of the questions that it had not seen before

    @property
    def taken(self) -> dict[CellName, tuple[array[int], bytearray]]:
        """As :meth:`Join.add` takes it."""
        return {cell: (part.rows, part.marks) for cell, part in self.scored.cells.items()}


class _Alone:
    """Scores blocks of a file in a process of its own, each as if there were no other."""

    def __init__(
        self, session: Session, make_join: Callable[[], Join], file: PredictionFile, named: bool, evidence: bool
    ) -> None:
        self._session, self._make_join, self._file = session, make_join, file
        self._named, self._evidence = named, evidence
        self._seen: dict[CellName, bytearray] = {}  # as large as the key, so that it is not made for each block

    def __call__(self, block: Block) -> _BlockAlone | None:
        """What is in a block; None where the first process has to say what is wrong with it."""
        join = self._make_join()
        join.seen = self._seen
        join.begin(self._file, named=self._named)
        try:
            found = score_block(self._session, join.some(self._file.read(block)), evidence=self._evidence)
        except PredictionError:
            self._seen.clear()
            return None
        for cell, part in found.cells.items():
            for row in part.rows:
                self._seen[cell][row] = 0
        return _BlockAlone(join.as_block(), found, self._session.properties.facts(found.new))


def score_block(session: Session, outputs: Iterator[Joined], *, evidence: bool) -> ScoredBlock:
    """Score outputs that are joined."""
    cells: dict[CellName, CellPart] = {}
    new, rows, model = array("q"), list[EvidenceOfOutput](), None
    for joined in outputs:
        prediction, row, cell = joined
        question = session.key.question(row)
        scored = None
        if prediction.output is not None:
            scored = session.scorer(question.answers, prediction.output, failed=prediction.failed)
            if session.properties.see(row, question):
                new.append(row)
        part = cells.get(cell)
        if part is None:
            part = cells[cell] = CellPart()
        matches = part.add(joined, question, scored)
        model = prediction.model or model
        if evidence:
            rows.append(EvidenceOfOutput(prediction.model, question.question_id, cell, list(span_rows(matches))))
    return ScoredBlock(cells, new, rows, model)
