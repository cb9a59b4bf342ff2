"""Files of items as chunks of columns: evidence or long tables, in any form, of a bounded size at a time."""

from __future__ import annotations

import csv
import io
import itertools
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vcrgen.errors import AnalysisError
from vcrgen.plurals import counted
from vcrgen.reading import MAX_LINE_BYTES, encodable, iter_json_lines
from vcrgen.scorer.predictions.xlsx import sheet_rows
from vcrgen.scorer.records import METRICS

if TYPE_CHECKING:
    import pyarrow as pa

EVIDENCE = ("run", "model", "question_id", "mode", "view", "span", "outcome", "signature")
LONG = ("model", "item", "score")
MOST_ROWS = 1 << 28  # of a Parquet file
MOST_BYTES, MOST_GROUP = 8 << 30, 2 << 30  # of a file, and of a row group when it is unpacked
MOST_COLUMNS = 1000
_CHUNK = 1 << 16  # rows
_SUFFIXES = {".csv": ",", ".tsv": "\t"}
Columns = Mapping[str, "pa.Array"]


def _check_file(file: Path) -> None:
    try:
        if file.stat().st_size > MOST_BYTES:
            raise AnalysisError(f"{file} is larger than {MOST_BYTES >> 30} GiB; give a file for each model.")
    except (OSError, ValueError) as problem:
        raise AnalysisError(f"{file} cannot be read: {getattr(problem, 'strerror', None) or problem}.") from None


def read_chunks(file: Path, metric: str) -> Iterator[Columns]:
    """The columns that are needed, some rows at a time; what form the file has is told by its suffix.

    Args:
        file: Evidence or a long table.
        metric: Of evidence, the score.

    Raises:
        AnalysisError: It cannot be read, is larger than it may be, or is neither.
    """
    _check_file(file)
    suffix = file.suffix.lower()
    if suffix in (".parquet", ".pq"):
        yield from _parquet(file, metric)
    elif suffix in _SUFFIXES:
        yield from _from_rows(file, _delimited(file, _SUFFIXES[suffix]), metric)
    elif suffix == ".jsonl":
        rows = ((f"line {number}", row) for number, row in iter_json_lines(file, AnalysisError))
        yield from _from_rows(file, rows, metric)
    elif suffix == ".xlsx":
        yield from _from_rows(file, _sheet(file), metric)
    else:
        raise AnalysisError(f"{file} is of no known form; items are read from .parquet, .jsonl, .csv, .tsv and .xlsx.")


def _wanted(file: Path, names: Sequence[str], metric: str) -> list[str]:
    """The columns to read of evidence or of a long table, whichever it is."""
    _check_names(file, names)
    if {"question_id", "span", "outcome"} <= set(names):
        lacking = [name for name in (*EVIDENCE, metric) if name not in names]
        if lacking:
            hint = "score the outputs again with --spans" if lacking == ["signature"] else "is it whole?"
            raise AnalysisError(f"{file} is evidence without the column {lacking[0]!r}; {hint}.")
        return [*EVIDENCE, "answer", metric] if "answer" in names else [*EVIDENCE, metric]
    if {"question_id", "path", "choice"} <= set(names):
        raise AnalysisError(
            f"{file} is evidence of a question set, which analyses of items do not read; write a long table of its "
            f"items, with the columns {', '.join(LONG)}."
        )
    if lacking := [name for name in LONG if name not in names]:
        raise AnalysisError(
            f"{file} has no column {lacking[0]!r}; a long table has {', '.join(LONG)} (and image), evidence is what "
            "vcrgen score --spans writes."
        )
    return [*LONG, "image"] if "image" in names else list(LONG)


def _check_names(file: Path, names: Sequence[str]) -> None:
    if len(names) > MOST_COLUMNS:
        raise AnalysisError(f"{file} has more than {MOST_COLUMNS} columns, so it is no table of items.")
    if doubled := [name for number, name in enumerate(names) if name in names[:number]]:
        raise AnalysisError(f"{file} has two columns {doubled[0][:80]!r}; keep one.")


def _parquet(file: Path, metric: str) -> Iterator[Columns]:
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
            wanted = _wanted(file, parquet.schema_arrow.names, metric)
            for batch in parquet.iter_batches(_CHUNK, columns=wanted):
                batch.validate(full=True)  # offsets of a hostile file may point outside of its buffers
                yield {name: _typed(file, name, batch.column(name)) for name in batch.schema.names}
    except (OSError, ValueError, pa.ArrowException) as problem:
        first = (str(problem).splitlines() or [type(problem).__name__])[0][:200]
        raise AnalysisError(f"{file} cannot be read ({first}).") from None


def _holds_numbers(name: str) -> bool:
    return name in METRICS or name in ("score", "span")


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


def _from_rows(file: Path, rows: Iterator[tuple[str, Mapping[str, Any]]], metric: str) -> Iterator[Columns]:
    """Chunks of rows of texts or JSON values."""
    import pyarrow as pa

    while some := list(itertools.islice(rows, _CHUNK)):
        wanted = _wanted(file, list(some[0][1]), metric)
        yield {
            name: pa.array(
                [_cell(f"{file}, {place}", name, row.get(name)) for place, row in some],
                pa.float64() if _holds_numbers(name) else pa.string(),
            )
            for name in wanted
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


def _sheet(file: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """The rows of an Excel table, by the names in its first row."""
    rows = sheet_rows(file)
    names = {column: str(cell).strip() for column, cell in next(rows, {}).items() if cell is not None}
    _check_names(file, list(names.values()))
    for number, cells in enumerate(rows, start=2):
        if any(cell is not None for cell in cells.values()):
            yield f"row {number}", {name: cells.get(column) for column, name in names.items()}


def _delimited(file: Path, delimiter: str) -> Iterator[tuple[str, dict[str, str]]]:
    """The rows of a CSV or TSV file, by the names in its first row."""
    csv.field_size_limit(MAX_LINE_BYTES)
    try:
        with file.open("rb") as raw, io.TextIOWrapper(raw, encoding="utf-8-sig", newline="") as text:
            reader = csv.reader(_bounded(text, file), delimiter=delimiter)
            header = [name.strip() for name in next(reader, [])]
            _check_names(file, header)
            for number, cells in enumerate(reader, start=2):
                if cells:
                    if len(cells) != len(header):
                        raise AnalysisError(
                            f"{file}, row {number}: {counted(len(cells), 'cell')} under {counted(len(header), 'name')}."
                        )
                    yield f"row {number}", dict(zip(header, cells, strict=True))
    except OSError as problem:
        raise AnalysisError(f"{file} cannot be read: {problem.strerror or problem}.") from None
    except UnicodeDecodeError:
        raise AnalysisError(f"{file} is not UTF-8 text; save it as UTF-8.") from None
    except csv.Error as problem:
        raise AnalysisError(f"{file} is no such table: {problem}.") from None


def _bounded(text: io.TextIOWrapper, file: Path) -> Iterator[str]:
    while line := text.readline(MAX_LINE_BYTES):
        if len(line) == MAX_LINE_BYTES:
            raise AnalysisError(f"{file} has a line of more than {MAX_LINE_BYTES >> 20} MiB.")
        yield line
