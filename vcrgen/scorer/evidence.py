"""Per-span evidence as a file: Parquet or JSON Lines, written as a stream, whole or not at all."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from vcrgen.dataset.views import View
from vcrgen.errors import ScoreError
from vcrgen.files import atomic_path, output_errors
from vcrgen.scorer.records import METRICS, SpanMatch

SUFFIXES = (".parquet", ".jsonl")
_BATCH = 8192
COLUMNS = (
    "run", "model", "question_id", "mode", "view", "span", "answer", "outcome", "ngram", "start", "end", "distance",
    "verbatim", *METRICS,
)  # fmt: skip


class EvidenceWriter:
    """Takes the matches of one output after another.

    Attributes:
        wanted: Whether anything is done with them.
    """

    wanted = False

    def add(
        self, run: str, model: str | None, question_id: str, mode: str, view: View, matches: Sequence[SpanMatch]
    ) -> None:
        """Add the spans of one output; this one drops them."""

    def _flush(self) -> None:
        """Write what is held."""


class _FileWriter(EvidenceWriter):
    """Holds rows until there are enough to write."""

    wanted = True

    def __init__(self) -> None:
        self._rows: list[tuple[Any, ...]] = []

    def add(
        self, run: str, model: str | None, question_id: str, mode: str, view: View, matches: Sequence[SpanMatch]
    ) -> None:
        for number, match in enumerate(matches):
            head = (run, model, question_id, mode, view.value, number, match.answer, match.outcome.value, match.ngram)
            self._rows.append((*head, match.start, match.end, match.distance, match.verbatim, *match.scores))
        if len(self._rows) >= _BATCH:
            self._flush()


class _JsonLines(_FileWriter):
    def __init__(self, file: Path) -> None:
        super().__init__()
        self._handle = file.open("w", encoding="utf-8", newline="\n")

    def _flush(self) -> None:
        for row in self._rows:
            self._handle.write(json.dumps(dict(zip(COLUMNS, row, strict=True)), ensure_ascii=False) + "\n")
        self._rows.clear()

    def close(self) -> None:
        self._handle.close()


class _Parquet(_FileWriter):
    def __init__(self, file: Path) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        super().__init__()
        kinds = {"span": pa.int32(), "start": pa.int32(), "end": pa.int32(), "distance": pa.int32()}
        kinds |= {"verbatim": pa.bool_()} | dict.fromkeys(METRICS, pa.float64())
        self._schema = pa.schema([(name, kinds.get(name, pa.string())) for name in COLUMNS])
        self._writer = pq.ParquetWriter(file, self._schema, compression="zstd")

    def _flush(self) -> None:
        import pyarrow as pa

        if self._rows:
            columns = [
                pa.array(column, kind)
                for column, kind in zip(zip(*self._rows, strict=True), self._schema.types, strict=True)
            ]
            self._writer.write_table(pa.table(columns, schema=self._schema))
        self._rows.clear()

    def close(self) -> None:
        self._writer.close()


@contextmanager
def write_evidence(file: Path | None) -> Iterator[EvidenceWriter]:
    """A writer to a ``.parquet`` or ``.jsonl`` file that appears when the block ends well; None writes nothing.

    Raises:
        ScoreError: The suffix is another.
        OutputError: The file cannot be written.
    """
    if file is None:
        yield EvidenceWriter()
        return
    if file.suffix not in SUFFIXES:
        raise ScoreError(f"{file}: evidence is written as {' or '.join(SUFFIXES)}; choose such a name.")
    with output_errors(file), atomic_path(file) as temporary:
        writer = _Parquet(temporary) if file.suffix == ".parquet" else _JsonLines(temporary)
        try:
            yield writer
            writer._flush()
        finally:
            writer.close()
