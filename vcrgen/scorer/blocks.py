"""Match and score the outputs of a run block by block, in this process or in several.

A worker process reads one block, matches its outputs to the key, scores them and sends back columns of numbers. The
first process adds them up in the order of the file. Where an earlier block has an output for one of the same questions,
the first process scores the block itself. So the scores, counts and messages are those of one process.
"""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Callable, Iterator, Mapping, MutableSequence, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple, Protocol

from vcrgen.config.score import ScoreOptions
from vcrgen.errors import PredictionError
from vcrgen.scorer.answer_key import AnswerKey
from vcrgen.scorer.evidence import Row, evidence_rows
from vcrgen.scorer.groups import SpanBreakdowns, SpanFacts
from vcrgen.scorer.output_matcher import MatchedBlock, MatchedOutput, OutputMatcher
from vcrgen.scorer.predictions import PredictionFile
from vcrgen.scorer.predictions.recognise import Block
from vcrgen.scorer.records import CellName
from vcrgen.scorer.scorer import Scorer
from vcrgen.scorer.tally import CellPart
from vcrgen.work.processes import results

_ADVICE = "score with fewer --workers if memory was short"


class SpanContext(Protocol):
    """A key, a scorer and the options of a scoring."""

    options: ScoreOptions
    key: AnswerKey

    @property
    def scorer(self) -> Scorer:
        """The scorer of the key's language."""

    @property
    def breakdowns(self) -> SpanBreakdowns:
        """The groups of the key's spans."""


class OutputEvidence(NamedTuple):
    """The evidence of the spans of one output."""

    model: str | None
    question_id: str
    cell: CellName
    spans: list[tuple[Row, Sequence[float]]]


class ScoredBlock(NamedTuple):
    """The scores of the usable outputs of a block."""

    cells: Mapping[CellName, CellPart]
    new: array[int]  # rows of questions that were not seen before
    evidence: Sequence[OutputEvidence]  # of every output, where it is asked for
    model: str | None  # the last one that is named


def scored_blocks(
    context: SpanContext,
    make_matcher: Callable[[], OutputMatcher],
    run: Sequence[PredictionFile],
    matcher: OutputMatcher,
    *,
    evidence: bool,
) -> Iterator[ScoredBlock]:
    """Score the outputs of a run in their order; ``matcher`` counts their problems.

    Args:
        context: The answers and the scorer.
        make_matcher: Makes a matcher like ``matcher``, for a block that is read alone.
        run: The files.
        matcher: Matches the outputs of the whole run.
        evidence: Give the evidence of every span.

    Raises:
        PredictionError: As calling a :class:`OutputMatcher` does.
    """
    for file in run:
        matcher.begin(file, named=len(run) > 1)
        worker = partial(_BlockWorker, context, make_matcher, replace(file, folder=None), len(run) > 1, evidence)
        for block, result in _worker_results(worker, file, context.options.workers):
            if result is not None and matcher.merge_block(result.counts, result.marks):
                context.breakdowns.merge(result.facts)
                yield result.scored
            else:
                yield score_block(context, matcher.match_batch(file.read(block)), evidence=evidence)
        matcher.end()
    matcher.note_missing()


def _worker_results(
    make: Callable[[], _BlockWorker], file: PredictionFile, workers: int
) -> Iterator[tuple[Block, _BlockResult | None]]:
    """The blocks of a file, each with the result of a worker process; None where there is one process."""
    if workers == 1:
        yield from ((block, None) for block in file.blocks())
        return
    pending: deque[Block] = deque()

    def blocks() -> Iterator[Block]:
        for block in file.blocks():
            pending.append(block)
            yield block

    for result in results(make, blocks(), workers, advice=_ADVICE, forked=True):
        yield pending.popleft(), result


class _BlockResult(NamedTuple):
    """The result of a worker, which knows no other block."""

    counts: MatchedBlock
    scored: ScoredBlock
    facts: SpanFacts  # of the questions that it had not seen before

    @property
    def marks(self) -> dict[CellName, tuple[array[int], bytearray]]:
        """Rows and marks, as :meth:`OutputMatcher.merge_block` takes them."""
        return {cell: (part.rows, part.marks) for cell, part in self.scored.cells.items()}


class _BlockWorker:
    """Scores blocks of a file in a process of its own, each as if there were no other."""

    def __init__(
        self,
        context: SpanContext,
        make_matcher: Callable[[], OutputMatcher],
        file: PredictionFile,
        named: bool,
        evidence: bool,
    ) -> None:
        self._context, self._make_matcher, self._file = context, make_matcher, file
        self._named, self._evidence = named, evidence
        # As large as the key, so that it is not made for each block.
        self._seen: dict[CellName, MutableSequence[int]] = {}

    def __call__(self, block: Block) -> _BlockResult | None:
        """Score a block; None where the first process has to say what is wrong with it."""
        matcher = self._make_matcher()
        matcher.seen = self._seen
        matcher.begin(self._file, named=self._named)
        try:
            scored = score_block(self._context, matcher.match_batch(self._file.read(block)), evidence=self._evidence)
        except PredictionError:
            self._seen.clear()
            return None
        for cell, part in scored.cells.items():
            for row in part.rows:
                self._seen[cell][row] = 0
        return _BlockResult(matcher.as_block(), scored, self._context.breakdowns.facts(scored.new))


def score_block(context: SpanContext, outputs: Iterator[MatchedOutput], *, evidence: bool) -> ScoredBlock:
    """Score outputs that are matched."""
    cells: dict[CellName, CellPart] = {}
    new, rows, model = array("q"), list[OutputEvidence](), None
    for matched in outputs:
        prediction, row, cell = matched
        question = context.key.question(row)
        scored = None
        if prediction.output is not None:
            scored = context.scorer(question.answers, prediction.output, failed=prediction.failed)
            if context.breakdowns.observe(row, question):
                new.append(row)
        part = cells.get(cell)
        if part is None:
            part = cells[cell] = CellPart()
        matches = part.add(matched, question, scored)
        model = prediction.model or model
        if evidence:
            found = list(evidence_rows(matches, question, cell[0]))
            rows.append(OutputEvidence(prediction.model, question.question_id, cell, found))
    return ScoredBlock(cells, new, rows, model)
