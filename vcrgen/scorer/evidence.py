"""Evidence of every unit as a file: Parquet or JSON Lines, written as a stream, whole or not at all."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from vcrgen.core.errors import ScoreError
from vcrgen.core.files import atomic_path, output_errors
from vcrgen.data.tasks.task import VCR_TASK, ScoredTask
from vcrgen.data.views import View
from vcrgen.scorer.records import Question, SpanMatch

SUFFIXES = (".parquet", ".jsonl")
_BATCH = 8192  # rows
Row = tuple[Any, ...]


def evidence_columns(task: ScoredTask) -> tuple[str, ...]:
    """The columns of evidence of a task, in their order."""
    return ("run", "model", "question_id", task.axis, "view", *task.evidence, *task.metrics, "signature")


class EvidenceWriter:
    """Gives ``write`` batches of rows of `evidence_columns`; without ``write`` it keeps nothing."""

    def __init__(self, write: Callable[[list[Row]], None] | None = None) -> None:
        self.wanted = write is not None  # whether anything is done with the matches
        self._write = write
        self._rows: list[Row] = []

    def add(
        self,
        run: str,
        model: str | None,
        question_id: str,
        variant: str,
        view: View,
        units: Iterable[tuple[Row, Sequence[float]]],
        signature: str,
    ) -> None:
        """Add the units of one output, which was scored under a signature: of each its columns and its metrics."""
        for evidence, scores in units if self.wanted else ():
            self._rows.append((run, model, question_id, variant, view.value, *evidence, *scores, signature))
        if len(self._rows) >= _BATCH:
            self.flush()

    def flush(self) -> None:
        """Write the rows that are held."""
        if self._write and self._rows:
            self._write(self._rows)
        self._rows.clear()


def evidence_rows(matches: Sequence[SpanMatch], question: Question, mode: str) -> Iterator[tuple[Row, Sequence[float]]]:
    """The spans of one output of a question as evidence; bits are those of a mode, None where unknown."""
    for number, (match, span) in enumerate(zip(matches, question.spans, strict=True)):
        nearest = (match.ngram, match.start, match.end, match.distance, match.verbatim, span.bits.get(mode))
        yield (number, match.answer, match.outcome.value, *nearest), match.scores


@contextmanager
def _json_lines(file: Path, task: ScoredTask) -> Iterator[EvidenceWriter]:
    columns = evidence_columns(task)
    with file.open("w", encoding="utf-8", newline="\n") as handle:
        yield EvidenceWriter(
            lambda rows: handle.writelines(
                json.dumps(_finite(dict(zip(columns, row, strict=True))), ensure_ascii=False) + "\n" for row in rows
            )
        )


def _finite(row: dict[str, Any]) -> dict[str, Any]:
    """A row as JSON can hold it: a metric that a unit does not have is null."""
    return {name: None if value != value else value for name, value in row.items()}


@contextmanager
def _parquet(file: Path, task: ScoredTask) -> Iterator[EvidenceWriter]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    types = {int: pa.int32(), bool: pa.bool_(), str: pa.string(), float: pa.float64()}
    kinds = {name: types[kind] for name, kind in task.evidence.items()} | dict.fromkeys(task.metrics, pa.float64())
    schema = pa.schema([(name, kinds.get(name, pa.string())) for name in evidence_columns(task)])
    with pq.ParquetWriter(file, schema, compression="zstd") as writer:
        yield EvidenceWriter(
            lambda rows: writer.write_table(pa.table([*map(list, zip(*rows, strict=True))], schema=schema))
        )


@contextmanager
def write_evidence(file: Path | None, task: ScoredTask = VCR_TASK) -> Iterator[EvidenceWriter]:
    """A writer to a ``.parquet`` or ``.jsonl`` file that appears when the block ends well; None writes nothing."""
    if file is None:
        yield EvidenceWriter()
        return
    if file.suffix not in SUFFIXES:
        raise ScoreError(f"{file}: evidence is written as {' or '.join(SUFFIXES)}; choose such a name.")
    form = _parquet if file.suffix == ".parquet" else _json_lines
    with output_errors(file), atomic_path(file) as temporary, form(temporary, task) as writer:
        yield writer
        writer.flush()
