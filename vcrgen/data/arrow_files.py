"""Parquet files and Arrow streams, opened and decoded in one way, on a disk and in an object store."""

import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyarrow import types

from vcrgen.core.storage import Folder
from vcrgen.data.parquet_pages import CheckedPages

_DISK_BUFFER, _STORE_BUFFER = 1 << 20, 8 << 20  # bytes read at a time, of each column
# A column of a group of rows that is larger than the first may not have been packed to less than its 200th part.
_FREE_BYTES, _MAX_RATIO = 64 << 20, 200
_BATCH_BYTES = 64 << 20  # decoded at a time, of each column, unless one row has more
_MAX_VALUES = 1 << 24  # in lists: of a column in a group of rows, and of rows that are decoded together
MAX_TEXT_BYTES = 4 << 20  # of one value; rows of datasets and sources have far less
_MAX_DECODED_BYTES = 256 << 20  # of all texts and bytes of rows that become Python values together


class ParquetReader:
    """An open Parquet file; a read holds a buffer of each column, and not a whole row group.

    Raises:
        OSError: The file cannot be opened.
        ArrowException: It is no Parquet file.
    """

    def __init__(self, folder: Folder, name: str) -> None:
        size = _DISK_BUFFER if folder.local_path else _STORE_BUFFER
        options = {"pre_buffer": False, "buffer_size": size, "page_checksum_verification": True}
        self._pages = CheckedPages(folder.open(name))
        try:
            self._file = pq.ParquetFile(self._pages, **options)
        except BaseException:
            self._pages.close()
            raise
        self.schema: pa.Schema = self._file.schema_arrow
        self.metadata: pq.FileMetaData = self._file.metadata

    def close(self) -> None:
        """Close the file."""
        self._file.close()
        self._pages.close()

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
            ArrowException: A column unpacks to more than a dataset's would or than the footer states, or is damaged.
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
            has_lists = self._file.schema.column(number).max_repetition_level > 0
            if has_lists and column.num_values > _MAX_VALUES:
                raise pa.ArrowInvalid(f"{path} has {column.num_values:,} values in lists, too many for one row group")
            self._pages.expect(column, has_lists=has_lists)
            largest = max(largest, unpacked)
        return largest


@dataclass(frozen=True, slots=True)
class ArrowStream:
    """An open Arrow stream."""

    schema: pa.Schema
    messages: pa.ipc.MessageReader

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Read the batches, whose values stay in the file where it is mapped into memory.

        Raises:
            ArrowException: One is damaged, or packed, which `datasets` does with none.
        """
        for message in self.messages:
            if message.type != "record batch" or _is_compressed(message):
                raise pa.ArrowInvalid("it is compressed or has dictionaries, and a saved dataset has neither")
            yield pa.ipc.read_record_batch(message, self.schema)


@contextmanager
def open_stream(folder: Folder, name: str) -> Iterator[ArrowStream]:
    """Open an Arrow stream as ``datasets`` saves it; on a disk it is mapped into memory."""
    source = pa.memory_map(str(folder.local_path / name)) if folder.local_path else folder.open(name, ahead=True)
    with source as opened:
        messages = pa.ipc.MessageReader.open_stream(opened)
        yield ArrowStream(pa.ipc.read_schema(messages.read_next_message()), messages)


def _is_compressed(message: pa.ipc.Message) -> bool:
    """Whether a record batch has its fourth field, which says how its buffers are compressed.

    A message is a table of FlatBuffers, which Arrow has checked; the batch is its third field.
    """
    data = memoryview(message.metadata)
    (table,) = struct.unpack_from("<I", data)
    batch = _field(data, table, 2)
    return batch is None or _field(data, batch + struct.unpack_from("<I", data, batch)[0], 3) is not None


def _field(data: memoryview, table: int, number: int) -> int | None:
    """Where a field of a table of FlatBuffers stands, or None if it is left out."""
    fields = table - struct.unpack_from("<i", data, table)[0]
    place = 4 + 2 * number
    offset = (
        struct.unpack_from("<H", data, fields + place)[0] if place < struct.unpack_from("<H", data, fields)[0] else 0
    )
    return table + offset if offset else None


def checked_rows(batch: pa.RecordBatch) -> list[dict[str, Any]]:
    """Decode the rows of a batch as Python values; it raises as `check_batch`, or for what Python cannot hold."""
    check_batch(batch)
    rows: list[dict[str, Any]] = batch.to_pylist()
    return rows


def check_batch(batch: pa.RecordBatch) -> None:
    """Check a batch before its values become Python objects.

    Offsets of a hostile file may point outside of its buffers: without the check they would be followed. One text of
    a dictionary may stand in many rows, and a list may have any number of values that take no bytes.

    Raises:
        ArrowException: A value is not where the batch says, its type is none of a dataset's, or rows have more or
            longer ones than those of a dataset.
    """
    batch.validate(full=True)
    total = listed = 0
    for name, values, is_listed in _arrays(batch):
        listed += len(values) if is_listed else 0
        if listed > _MAX_VALUES:
            raise pa.ArrowInvalid(f"{batch.num_rows} rows have more than {_MAX_VALUES:,} values in their lists")
        total += _decoded_bytes(name, values)
    if total > _MAX_DECODED_BYTES:
        raise pa.ArrowInvalid(f"{batch.num_rows} rows have texts and bytes of {total >> 20} MiB")


def _decoded_bytes(name: str, values: pa.Array) -> int:
    """The bytes of all texts of an array; refuses too long ones, and types whose values have another size."""
    is_encoded = types.is_dictionary(values.type)
    kind = values.type.value_type if is_encoded else values.type
    if not _is_plain(kind):
        raise pa.ArrowInvalid(f"{name} has values of the type {str(kind)[:80]}, which no dataset has")
    if types.is_fixed_size_binary(kind):
        return int(len(values) * kind.byte_width)
    if not is_text(kind) and not is_bytes(kind):
        return 0
    lengths = pc.binary_length(values.dictionary if is_encoded else values)
    longest = pc.max(lengths).as_py() or 0
    if longest > MAX_TEXT_BYTES and is_text(kind):
        raise pa.ArrowInvalid(f"a text of {name} has {longest >> 20} MiB, and at most {MAX_TEXT_BYTES >> 20} are read")
    return pc.sum(lengths.take(values.indices) if is_encoded else lengths).as_py() or 0


def _arrays(batch: pa.RecordBatch) -> Iterator[tuple[str, pa.Array, bool]]:
    """The arrays of values in the columns of a batch, and whether they stand in lists."""
    waiting = [(name, array, False) for name, array in zip(batch.schema.names, batch.columns, strict=True)]
    while waiting:
        name, array, is_listed = waiting.pop()
        kind = array.type
        if isinstance(kind, pa.BaseExtensionType):
            waiting.append((name, array.storage, is_listed))
        elif types.is_struct(kind):
            waiting += [(name, array.field(place), is_listed) for place in range(kind.num_fields)]
        elif types.is_map(kind):
            first, end = array.offsets[0].as_py(), array.offsets[-1].as_py()
            waiting += [(name, array.keys[first:end], True), (name, array.items[first:end], True)]
        elif types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
            waiting.append((name, array.flatten(), True))
        else:
            yield name, array, is_listed


def _is_plain(kind: pa.DataType) -> bool:
    """Whether values of a type stand for themselves: no views, runs, unions or dictionaries of records."""
    tests = (types.is_null, types.is_primitive, types.is_decimal, types.is_fixed_size_binary, is_text, is_bytes)
    return any(test(kind) for test in tests)


def is_text(kind: pa.DataType) -> bool:
    """Whether a type is of text."""
    return bool(types.is_string(kind) or types.is_large_string(kind))


def is_bytes(kind: pa.DataType) -> bool:
    """Whether a type is of bytes of any number."""
    return bool(types.is_binary(kind) or types.is_large_binary(kind))
