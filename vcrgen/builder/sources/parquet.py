"""Parquet files on a disk or in an object store: counted by their footers, read a few rows at a time."""

import contextlib
from collections.abc import Iterator
from typing import Any

from vcrgen.builder.sources.arrow import BATCH_ROWS, corrupt, paths_of_schema, rows_of
from vcrgen.builder.sources.base import PROBLEM, ColumnPath, FileSource, Partition, Row

_DISK_BUFFER, _STORE_BUFFER = 1 << 20, 8 << 20  # bytes read at a time, of each column


class ParquetSource(FileSource):
    """Parquet files in a folder. Row groups outside of a window are not touched."""

    def _measure(self, name: str) -> Partition:
        with self._open(name) as file:
            return Partition(name=name, rows=file.metadata.num_rows, size=self._size(name))

    def _read_names(self, index: int) -> list[ColumnPath]:
        with self._open(self.files[index]) as file:
            return paths_of_schema(file.schema_arrow)

    def _read(self, name: str, start: int, stop: int, columns: frozenset[str]) -> Iterator[Row]:
        with self._open(name) as file:
            wanted = [column for column in file.schema_arrow.names if column in columns]
            first = 0
            for group in range(file.metadata.num_row_groups):
                rows = file.metadata.row_group(group).num_rows
                low, high = max(start - first, 0), min(stop - first, rows)
                if low < high:
                    yield from _group_rows(file, group, low, high, wanted)
                first += rows

    @contextlib.contextmanager
    def _open(self, name: str) -> Iterator[Any]:
        """The open Parquet file, of which a read holds one buffer a column, not a whole row group."""
        from pyarrow.parquet import ParquetFile

        size = _DISK_BUFFER if self.folder.disk else _STORE_BUFFER
        options = {"pre_buffer": False, "buffer_size": size, "page_checksum_verification": True}
        with self.folder.open(name) as handle, ParquetFile(handle, **options) as file:
            yield file

    def _failures(self) -> tuple[type[Exception], ...]:
        from pyarrow import ArrowException

        return (ArrowException, ValueError)


def _group_rows(file: Any, group: int, start: int, stop: int, columns: list[str]) -> Iterator[Row]:
    """Rows ``start`` to ``stop`` of a row group. From where its data are damaged, its rows are problems."""
    if not columns:
        yield from ({} for _ in range(start, stop))
        return
    seen = 0
    batches = file.iter_batches(batch_size=BATCH_ROWS, row_groups=[group], columns=columns, use_threads=False)
    while seen < stop:
        try:
            batch = next(batches, None)
        except Exception as error:
            if not corrupt(error):
                raise
            batch = None
        if batch is None:
            yield from ({PROBLEM: "the row group is damaged here"} for _ in range(max(seen, start), stop))
            return
        low, high = max(start - seen, 0), min(stop - seen, batch.num_rows)
        if low < high:
            yield from rows_of(batch.slice(low, high - low))
        seen += batch.num_rows
