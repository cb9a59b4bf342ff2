"""Files of items as chunks of columns: evidence or long tables, in any form, of a bounded size at a time."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vcrgen.analysis.cells import sheet_cells
from vcrgen.errors import AnalysisError
from vcrgen.reading import check_file_size, encodable, iter_json_lines, name_cells, read_csv
from vcrgen.tasks.task import LABELS, MCQ_TASK, VCR_TASK

if TYPE_CHECKING:
    import pyarrow as pa

EVIDENCE = ("run", "model", "question_id", "mode", "view", "span", "outcome", "signature")
MCQ_EVIDENCE = ("run", "model", "question_id", "lang", "view", "outcome", "choice", "signature")
LONG = ("model", "item", "score")
MOST_ROWS = 1 << 28  # of a Parquet file
MOST_BYTES, MOST_GROUP = 8 << 30, 2 << 30  # of a file, and of a row group when it is unpacked
MOST_COLUMNS = 1000
_CHUNK = 1 << 16  # rows
_SUFFIXES = {".csv": ",", ".tsv": "\t"}
Columns = Mapping[str, "pa.Array"]


def read_chunks(file: Path, metric: str | None) -> Iterator[Columns]:
    """Read the needed columns, some rows at a time; the suffix gives the format.

    Columns have the names of long tables and of evidence of spans: ``score`` is the metric, ``mode`` also a language.

    Args:
        file: Evidence or a long table.
        metric: Of evidence, the score; None for the leading one.

    Raises:
        AnalysisError: It cannot be read, is larger than it may be, or is neither.
    """
    check_file_size(file, MOST_BYTES, "give a file for each model", AnalysisError)
    suffix = file.suffix.lower()
    if suffix in (".parquet", ".pq"):
        yield from _parquet(file, metric)
    elif suffix in _SUFFIXES:
        yield from _from_rows(file, read_csv(file, AnalysisError, delimiters=_SUFFIXES[suffix]), metric)
    elif suffix == ".jsonl":
        yield from _from_rows(file, iter_json_lines(file, AnalysisError), metric)
    elif suffix == ".xlsx":
        yield from _from_rows(file, name_cells(enumerate(sheet_cells(file), 1), str(file), AnalysisError), metric)
    else:
        raise AnalysisError(f"{file} is of no known form; items are read from .parquet, .jsonl, .csv, .tsv and .xlsx.")


def _needed_columns(file: Path, names: Sequence[str], metric: str | None) -> dict[str, str]:
    """The columns to read of evidence or of a long table, whichever it is, with the names that they get."""
    _check_names(file, names)
    for task, marks, columns in ((VCR_TASK, ("span",), EVIDENCE), (MCQ_TASK, ("path", "choice"), MCQ_EVIDENCE)):
        if {"question_id", "outcome", *marks} <= set(names):
            score = metric or task.main_metrics[0]
            if score not in task.metrics:
                raise AnalysisError(f"{file} has no metric {score!r}; its metrics are {', '.join(task.metrics)}.")
            if lacking := [name for name in (*columns, score) if name not in names]:
                hint = "score the outputs again with --spans" if lacking == ["signature"] else "is it whole?"
                raise AnalysisError(f"{file} is evidence without the column {lacking[0]!r}; {hint}.")
            texts = ["answer"] if task is VCR_TASK and "answer" in names else []
            return {name: name for name in (*columns, *texts)} | {task.axis: "mode", score: "score"}
    if lacking := [name for name in LONG if name not in names]:
        raise AnalysisError(
            f"{file} has no column {lacking[0]!r}; a long table has {', '.join(LONG)} (and image, span, choice), "
            "evidence is what vcrgen score --spans writes."
        )
    return {name: name for name in (*LONG, "image", "span", "choice") if name in names}


def _check_names(file: Path, names: Sequence[str]) -> None:
    if len(names) > MOST_COLUMNS:
        raise AnalysisError(f"{file} has more than {MOST_COLUMNS} columns, so it is no table of items.")
    if doubled := [name for number, name in enumerate(names) if name in names[:number]]:
        raise AnalysisError(f"{file} has two columns {doubled[0][:80]!r}; keep one.")


def _parquet(file: Path, metric: str | None) -> Iterator[Columns]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(file, pre_buffer=False, buffer_size=1 << 20) as parquet:
            meta = parquet.metadata
            sizes = (meta.row_group(number).total_byte_size for number in range(meta.num_row_groups))
            if meta.num_columns > MOST_COLUMNS or meta.num_rows > MOST_ROWS or max(sizes, default=0) > MOST_GROUP:
                raise AnalysisError(
                    f"{file} has more than {MOST_COLUMNS} columns, {MOST_ROWS:,} rows or {MOST_GROUP >> 30} GiB in a "
                    "row group."
                )
            wanted = _needed_columns(file, parquet.schema_arrow.names, metric)
            for batch in parquet.iter_batches(_CHUNK, columns=list(wanted)):
                batch.validate(full=True)  # offsets of a hostile file may point outside of its buffers
                yield {wanted[name]: _typed(file, name, batch.column(name)) for name in batch.schema.names}
    except (OSError, ValueError, pa.ArrowException) as problem:
        first = (str(problem).splitlines() or [type(problem).__name__])[0][:200]
        raise AnalysisError(f"{file} cannot be read ({first}).") from None


def _holds_numbers(name: str) -> bool:
    return name in LABELS or name in ("score", "span")


def _typed(file: Path, name: str, column: pa.Array) -> pa.Array:
    """A column as texts, or as numbers where it holds scores or places."""
    import pyarrow as pa

    numbers = _holds_numbers(name)
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    types = pa.types
    whole = types.is_integer(kind)
    if numbers and (whole or types.is_floating(kind) or types.is_boolean(kind)):
        return column.cast(pa.float64())
    if not numbers and (whole or types.is_string(kind) or types.is_large_string(kind) or types.is_null(kind)):
        return column.cast(pa.string())
    raise AnalysisError(f"{file}: the column {name!r} holds {kind}, not {'numbers' if numbers else 'texts'}.")


def _from_rows(file: Path, rows: Iterator[tuple[int, Mapping[str, Any]]], metric: str | None) -> Iterator[Columns]:
    import pyarrow as pa

    while some := list(itertools.islice(rows, _CHUNK)):
        wanted = _needed_columns(file, list(some[0][1]), metric)
        yield {
            named: pa.array(
                [_cell(f"{file}, line {number}", name, row.get(name)) for number, row in some],
                pa.float64() if _holds_numbers(name) else pa.string(),
            )
            for name, named in wanted.items()
        }


def _cell(place: str, name: str, value: Any) -> Any:
    """A value as what its column holds; a lone surrogate, which no file can hold, as U+FFFD."""
    if _holds_numbers(name):
        try:
            return float("nan") if value in (None, "") else float(value)
        except (TypeError, ValueError, OverflowError):
            raise AnalysisError(f"{place}: {name!r} is {str(value)[:80]!r}, which is no number.") from None
    if value is None or isinstance(value, str):
        return encodable(value) if value else value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    raise AnalysisError(f"{place}: {name!r} is {str(value)[:80]!r}, which is no text.")
