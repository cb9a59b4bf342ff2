"""Evidence of every unit as a file: Parquet or JSON Lines, written as a stream, whole or not at all."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from vcrgen.dataset.views import View
from vcrgen.errors import ScoreError
from vcrgen.files import atomic_path, output_errors
from vcrgen.scorer.records import METRICS, SpanMatch

SUFFIXES = (".parquet", ".jsonl")
_BATCH = 8192  # rows
COLUMNS = (
    "run", "model", "question_id", "mode", "view", "span", "answer", "outcome", "ngram", "start", "end", "distance",
    "verbatim", *METRICS, "signature",
)  # fmt: skip
Row = tuple[Any, ...]


class EvidenceWriter:
    """Takes the matches of outputs and gives ``write`` many rows of :data:`COLUMNS` at a time; None drops all."""

    wanted = False  # whether anything is done with the matches

    def __init__(self, write: Callable[[list[Row]], None] | None = None) -> None:
        self.wanted = self.wanted or write is not None
        self._write = write
        self._rows: list[Row] = []

    def add(
        self,
        run: str,
        model: str | None,
        question_id: str,
        mode: str,
        view: View,
        matches: Sequence[SpanMatch],
        signature: str,
    ) -> None:
        """Add the spans of one output, which was scored under a signature."""
        for number, match in enumerate(matches if self.wanted else ()):
            head = (run, model, question_id, mode, view.value, number, match.answer, match.outcome.value, match.ngram)
            found = (match.start, match.end, match.distance, match.verbatim, *match.scores)
            self._rows.append((*head, *found, signature))
        if len(self._rows) >= _BATCH:
            self.flush()

    def flush(self) -> None:
        """Write the rows that are held."""
        if self._write and self._rows:
            self._write(self._rows)
        self._rows.clear()


@contextmanager
def _json_lines(file: Path) -> Iterator[EvidenceWriter]:
    with file.open("w", encoding="utf-8", newline="\n") as handle:
        yield EvidenceWriter(
            lambda rows: handle.writelines(
                json.dumps(dict(zip(COLUMNS, row, strict=True)), ensure_ascii=False) + "\n" for row in rows
            )
        )


@contextmanager
def _parquet(file: Path) -> Iterator[EvidenceWriter]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    kinds = dict.fromkeys(("span", "start", "end", "distance"), pa.int32()) | {"verbatim": pa.bool_()}
    kinds |= dict.fromkeys(METRICS, pa.float64())
    schema = pa.schema([(name, kinds.get(name, pa.string())) for name in COLUMNS])
    with pq.ParquetWriter(file, schema, compression="zstd") as writer:
        yield EvidenceWriter(
            lambda rows: writer.write_table(pa.table([*map(list, zip(*rows, strict=True))], schema=schema))
        )


@contextmanager
def write_evidence(file: Path | None) -> Iterator[EvidenceWriter]:
    """A writer to a ``.parquet`` or ``.jsonl`` file that appears when the block ends well; None writes nothing."""
    if file is None:
        yield EvidenceWriter()
        return
    if file.suffix not in SUFFIXES:
        raise ScoreError(f"{file}: evidence is written as {' or '.join(SUFFIXES)}; choose such a name.")
    form = _parquet if file.suffix == ".parquet" else _json_lines
    with output_errors(file), atomic_path(file) as temporary, form(temporary) as writer:
        yield writer
        writer.flush()
