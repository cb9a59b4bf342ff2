"""Parquet files and Arrow streams, opened and decoded in one way, on a disk and in an object store."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from vcrgen.core.storage import Folder

_DISK_BUFFER, _STORE_BUFFER = 1 << 20, 8 << 20  # bytes read at a time, of each column


class ParquetReader:
    """An open Parquet file; a read holds a buffer of each column, and not a whole row group.

    Raises:
        OSError: The file cannot be opened.
        ArrowException: It is no Parquet file.
    """

    def __init__(self, folder: Folder, name: str) -> None:
        size = _DISK_BUFFER if folder.local_path else _STORE_BUFFER
        options = {"pre_buffer": False, "buffer_size": size, "page_checksum_verification": True}
        self._handle = folder.open(name)
        try:
            self._file = pq.ParquetFile(self._handle, **options)
        except BaseException:
            self._handle.close()
            raise
        self.schema: pa.Schema = self._file.schema_arrow
        self.metadata: pq.FileMetaData = self._file.metadata

    def close(self) -> None:
        """Close the file."""
        self._file.close()
        self._handle.close()

    @property
    def group_sizes(self) -> list[int]:
        """The number of rows of each row group."""
        return [self.metadata.row_group(group).num_rows for group in range(self.metadata.num_row_groups)]

    @property
    def leaves(self) -> list[str]:
        """The paths of all columns that hold values, as ``parts.list.element.name``."""
        return [self._file.schema.column(number).path for number in range(len(self._file.schema))]

    def batches(self, group: int, columns: Sequence[str], size: int) -> Iterator[pa.RecordBatch]:
        """Decode a row group, so many rows at a time; columns are names or paths."""
        options = {"batch_size": size, "row_groups": [group], "columns": list(columns), "use_threads": False}
        batches: Iterator[pa.RecordBatch] = self._file.iter_batches(**options)
        return batches


@contextmanager
def open_stream(folder: Folder, name: str) -> Iterator[pa.ipc.RecordBatchStreamReader]:
    """Open an Arrow stream as ``datasets`` saves it; on a disk it is mapped into memory."""
    source = pa.memory_map(str(folder.local_path / name)) if folder.local_path else folder.open(name, ahead=True)
    with source as opened, pa.ipc.open_stream(opened) as stream:
        yield stream


def checked_rows(batch: pa.RecordBatch) -> list[dict[str, Any]]:
    """Decode the rows of a batch as Python values.

    Offsets of a hostile file may point outside of its buffers: without the check they would be followed.

    Raises:
        ArrowException: A value is not where the batch says; or another exception for one that Python cannot hold.
    """
    batch.validate(full=True)
    rows: list[dict[str, Any]] = batch.to_pylist()
    return rows
