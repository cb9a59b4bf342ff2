"""Cells of tables in files, row by row: CSV, TSV, xlsx and Parquet. Limits come before reading."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from vcrgen.core.errors import AnalysisError
from vcrgen.core.reading import read_csv_cells

MAX_BYTES = 64 << 20
MAX_CELLS = 4_000_000
MAX_COLUMNS = 1000
Cells = list[Any]


def check_size(file: Path) -> None:
    """Refuse what is no file, or too large for a table of scores."""
    try:
        if not file.is_file():
            raise AnalysisError(f"{file} is not a file; name a table of scores (CSV, TSV, xlsx, Parquet, JSON).")
        if file.stat().st_size > MAX_BYTES:
            raise AnalysisError(f"{file} is larger than {MAX_BYTES >> 20} MiB, so it is not a table of scores.")
    except (OSError, ValueError) as error:
        raise AnalysisError(f"{file} cannot be read ({getattr(error, 'strerror', None) or error}).") from None


def read_cells(file: Path) -> Iterator[Cells]:
    """Read the rows of a table, the first of which names the columns; the suffix gives the format."""
    readers: Mapping[str, Callable[[Path], Iterator[Cells]]] = {
        ".csv": lambda path: _delimited(path, ","),
        ".tsv": lambda path: _delimited(path, "\t"),
        ".xlsx": sheet_cells,
        ".parquet": _parquet,
    }
    if file.suffix.lower() not in readers:
        raise AnalysisError(f"{file}: scores are read from {', '.join(readers)} and .json; save it as one of these.")
    total = 0
    for cells in readers[file.suffix.lower()](file):
        total += len(cells)
        if len(cells) > MAX_COLUMNS or total > MAX_CELLS:
            raise AnalysisError(f"{file} has more than {MAX_COLUMNS:,} columns or {MAX_CELLS:,} cells.")
        yield cells


def _delimited(file: Path, delimiter: str) -> Iterator[Cells]:
    rows = read_csv_cells(file, AnalysisError, delimiters=delimiter)
    for number, (_, cells) in enumerate(rows):
        if number == 0 and len(cells) == 1 and ";" in cells[0]:  # Excel writes so where decimals have a comma
            raise AnalysisError(
                f"{file}: its cells are separated by semicolons; save it with commas between cells and points in "
                "numbers, or as xlsx."
            )
        yield cells


def sheet_cells(file: Path) -> Iterator[Cells]:
    """Read the rows of an Excel table, as wide as the first one."""
    from vcrgen.scorer.predictions.xlsx import sheet_rows

    width = 0
    for number, cells in enumerate(sheet_rows(file)):
        width = width or max(cells, default=-1) + 1  # the first row names the columns
        if number and any(column >= width and value is not None for column, value in cells.items()):
            raise AnalysisError(f"{file}, row {number + 1}: it has more cells than the first row has names.")
        if number == 0 or any(value is not None for value in cells.values()):
            yield [cells.get(column) for column in range(width)]


def _parquet(file: Path) -> Iterator[Cells]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(file) as opened:
            meta = opened.metadata
            size = sum(meta.row_group(number).total_byte_size for number in range(meta.num_row_groups))
            if meta.num_columns > MAX_COLUMNS or meta.num_columns * meta.num_rows > MAX_CELLS or size > 8 * MAX_BYTES:
                raise AnalysisError(f"{file} has more than {MAX_COLUMNS:,} columns or {MAX_CELLS:,} cells.")
            yield list(opened.schema_arrow.names)
            for batch in opened.iter_batches(8192, use_threads=False):
                yield from map(list, zip(*(column.to_pylist() for column in batch.columns), strict=True))
    except (pa.ArrowException, OSError, ValueError) as problem:
        raise AnalysisError(
            f"{file} cannot be read as Parquet ({str(problem).splitlines()[0][:200]}); write it again."
        ) from None
