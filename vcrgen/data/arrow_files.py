"""Parquet files and Arrow streams, opened and decoded in one way, on a disk and in an object store."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from vcrgen.core.storage import Folder

_DISK_BUFFER, _STORE_BUFFER = 1 << 20, 8 << 20  # bytes read at a time, of each column
# A column of a group of rows that is larger than the first may not have been packed to less than its 200th part.
_FREE_BYTES, _MAX_RATIO = 64 << 20, 200
_BATCH_BYTES = 64 << 20  # decoded at a time, of each column, unless one row has more
_MAX_VALUES = 1 << 24  # of a column with lists, in a group of rows
MAX_TEXT_BYTES = 4 << 20  # of one value; rows of datasets and sources have far less
_MAX_TEXTS_BYTES = 256 << 20  # of all texts of rows that become Python values together


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
        """Decode a row group, at most so many rows at a time; columns are names or paths.

        A value that repeats is stored once, so the stored size does not limit what many rows are decoded to: that is at
        most the number of rows times the size of the column.

        Raises:
            ArrowException: A column unpacks to more than a dataset's would, or is damaged.
        """
        largest = self._largest_column(group, columns)
        rows = min(size, max(1, _BATCH_BYTES // max(1, largest)))
        options = {"batch_size": rows, "row_groups": [group], "columns": list(columns), "use_threads": False}
        yield from self._file.iter_batches(**options)

    def _largest_column(self, group: int, columns: Sequence[str]) -> int:
        """Unpacked bytes of the largest of some columns of a row group; refuses implausible ones."""
        metadata, largest = self.metadata.row_group(group), 0
        for number, column in enumerate(map(metadata.column, range(metadata.num_columns))):
            path, unpacked = column.path_in_schema, column.total_uncompressed_size
            if not any(f"{path}.".startswith(f"{name}.") for name in columns):
                continue
            if unpacked > max(_FREE_BYTES, _MAX_RATIO * column.total_compressed_size):
                raise pa.ArrowInvalid(f"{path} unpacks to {unpacked >> 20} MiB, more than its packed size allows")
            if self._file.schema.column(number).max_repetition_level and column.num_values > _MAX_VALUES:
                raise pa.ArrowInvalid(f"{path} has {column.num_values:,} values in lists, too many for one row group")
            largest = max(largest, unpacked)
        return largest


@contextmanager
def open_stream(folder: Folder, name: str) -> Iterator[pa.ipc.RecordBatchStreamReader]:
    """Open an Arrow stream as ``datasets`` saves it; on a disk it is mapped into memory."""
    source = pa.memory_map(str(folder.local_path / name)) if folder.local_path else folder.open(name, ahead=True)
    with source as opened, pa.ipc.open_stream(opened) as stream:
        yield stream


def checked_rows(batch: pa.RecordBatch) -> list[dict[str, Any]]:
    """Decode the rows of a batch as Python values; it raises as `check_batch`, or for what Python cannot hold."""
    check_batch(batch)
    rows: list[dict[str, Any]] = batch.to_pylist()
    return rows


def check_batch(batch: pa.RecordBatch) -> None:
    """Check a batch before its values become Python objects.

    Offsets of a hostile file may point outside of its buffers: without the check they would be followed. One text of
    a dictionary may stand in many rows.

    Raises:
        ArrowException: A value is not where the batch says, or a text is far longer than any of a dataset.
    """
    batch.validate(full=True)
    _check_texts(batch)


def _check_texts(batch: pa.RecordBatch) -> None:
    total = 0
    for name, texts in _texts(batch):
        is_encoded = pa.types.is_dictionary(texts.type)
        lengths = pc.binary_length(texts.dictionary if is_encoded else texts)
        longest = pc.max(lengths).as_py() or 0
        if longest > MAX_TEXT_BYTES:
            raise pa.ArrowInvalid(
                f"a text of {name} has {longest >> 20} MiB, and at most {MAX_TEXT_BYTES >> 20} are read"
            )
        total += pc.sum(lengths.take(texts.indices) if is_encoded else lengths).as_py() or 0
    if total > _MAX_TEXTS_BYTES:
        raise pa.ArrowInvalid(f"{batch.num_rows} rows have texts of {total >> 20} MiB")


def _texts(batch: pa.RecordBatch) -> Iterator[tuple[str, pa.Array]]:
    """The arrays of texts in the columns of a batch, also in their records and lists."""
    waiting = list(zip(batch.schema.names, batch.columns, strict=True))
    while waiting:
        name, array = waiting.pop()
        kind = array.type
        if pa.types.is_struct(kind):
            waiting += [(name, array.field(place)) for place in range(kind.num_fields)]
        elif pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
            waiting.append((name, array.flatten()))
        elif pa.types.is_map(kind):
            waiting += [(name, array.keys), (name, array.items)]
        elif is_text(kind.value_type if pa.types.is_dictionary(kind) else kind):
            yield name, array


def is_text(kind: pa.DataType) -> bool:
    """Whether a type is of text."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))
