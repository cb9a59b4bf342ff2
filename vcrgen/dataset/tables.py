"""One file of rows, of three forms: Parquet, Arrow as `datasets` saves it, and JSON Lines with image files beside it.

All three give the same: rows in order, of the columns that are asked for, a few at a time; rows that nobody wants are
passed over. What a file says is not trusted: types are checked, and every fault is one sentence that names the file.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from vcrgen.errors import DatasetError
from vcrgen.plurals import counted
from vcrgen.reading import as_texts, decode, describe, parse_json
from vcrgen.storage import Folder, StorageError

METADATA = "metadata.jsonl"
MAX_METADATA_BYTES = 64 << 20
MAX_IMAGE_BYTES = 32 << 20
# Rows in memory at a time: images of a few MB each stay within a few hundred MB.
_IMAGE_ROWS, _TEXT_ROWS = 16, 1024
# A column of a group of rows that is larger than the first may not have been packed to less than its 200th part.
_FREE_BYTES, _MAX_RATIO = 64 << 20, 200
_DISK_BUFFER, _STORE_BUFFER = 1 << 20, 8 << 20
_IMAGE_TYPE = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
_FILE_FIELD = "_file_name"
_FILE_NAME = re.compile(r"[0-9a-f]{32}\.png")

Row = tuple[int, dict[str, Any]]
"""The number of a row in its file, from 0, and its values by column."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableFile:
    """A file of rows."""

    path: str  # relative to the dataset's folder; the ending says which form it has
    mode: str | None = None  # the mode of its rows, where the dataset says so
    split: str | None = None  # the split of its rows, where the dataset says so
    rows: int | None = None  # how many there have to be, or None where nobody says
    bytes: int | None = None  # the size it has to have, or None where nobody says
    given: Mapping[str, Any] = field(default_factory=dict)  # values of all rows in columns that the file may lack


class Damaged(Exception):
    """A file is not what it should be; the text says how, and stands behind the file's name."""


class StoredRows(ABC):
    """An open file of rows."""

    types: Mapping[str, pa.DataType]  # of each column; a name that is there twice is left out

    @abstractmethod
    def count(self, most: int | None = None) -> int:
        """How many rows there are; not counted further than ``most`` where that costs time."""

    @abstractmethod
    def rows(self, columns: Sequence[str], wanted: AbstractSet[int] | None) -> Iterator[Row]:
        """Rows in order: those with the ``wanted`` numbers, or all if None.

        ``columns`` are there; ``parts.name`` is the field ``name`` of the records in ``parts``, and other fields may be
        given too.
        """

    def place(self, number: int) -> str:
        """What a row is called in messages."""
        return f"row {number + 1}"

    def check(self, columns: Sequence[str]) -> None:  # noqa: B027 as most forms have nothing more to look at
        """Raise a DatasetError for what is wrong in columns, as far as that shows without reading an image."""


@contextmanager
def open_table(folder: Folder, file: TableFile) -> Iterator[StoredRows]:
    """Open a file of rows, and close it at the end of the block.

    Args:
        folder: Where it is.
        file: Its name, and the size in bytes and number of rows that it has to have, if they are known.

    Raises:
        DatasetError: It is missing, of another size or number of rows, or damaged; found on opening or in the block.
    """
    try:
        size = folder.size(file.path)
        if size is None:
            raise Damaged("is missing")
        if file.bytes not in (None, size):
            raise Damaged(f"has {counted(size, 'byte')} where the manifest says {file.bytes}")
        with _opened(folder, file) as table:
            if file.rows is not None and file.rows != (rows := table.count()):
                raise Damaged(f"has {counted(rows, 'row')} where the manifest says {file.rows}")
            yield table
        return
    except Damaged as error:
        problem = str(error)
    except (OSError, ValueError, pa.ArrowException) as error:  # ValueError: text that is not UTF-8
        problem = f"cannot be read ({(str(error).splitlines() or [type(error).__name__])[0][:200]})"
    raise DatasetError(f"{folder}/{file.path} {problem}; copy or build the dataset again.")


@contextmanager
def _opened(folder: Folder, file: TableFile) -> Iterator[StoredRows]:
    if PurePosixPath(file.path).name == METADATA:
        yield _ImageFiles(folder, file.path)
    elif file.path.endswith(".arrow"):
        yield _Arrow(folder, file)
    else:
        # So that a read holds a buffer of each column, and not a whole row group.
        options = {"pre_buffer": False, "buffer_size": _DISK_BUFFER if folder.disk else _STORE_BUFFER}
        with folder.open(file.path) as handle, pq.ParquetFile(handle, **options) as parquet:
            yield _Parquet(parquet)


def fits(found: pa.DataType, expected: pa.DataType) -> bool:
    """Whether values of one type can be read as another: as text, whole numbers, images and so on, of any width."""
    types = pa.types
    if types.is_dictionary(found):
        found = found.value_type
    if expected == _IMAGE_TYPE:
        place = found.get_field_index("bytes") if types.is_struct(found) else -1
        data = found.field(place).type if place >= 0 else found
        return bool(types.is_binary(data) or types.is_large_binary(data))
    if types.is_struct(expected):
        return types.is_struct(found) and all(
            (place := found.get_field_index(field.name)) >= 0 and fits(found.field(place).type, field.type)
            for field in expected
        )
    if types.is_list(expected):
        is_list = types.is_list(found) or types.is_large_list(found) or types.is_fixed_size_list(found)
        return is_list and fits(found.value_type, expected.value_type)
    same = (_is_text, types.is_integer, types.is_floating)
    return any(is_same(expected) and is_same(found) for is_same in same)


def narrowed(kind: pa.DataType, fields: Sequence[str]) -> pa.DataType:
    """A type of records, or of lists of them, with one field only; ``fields`` leads to that field."""
    if not fields:
        return kind
    if pa.types.is_list(kind):
        return pa.list_(narrowed(kind.value_type, fields))
    return pa.struct([(fields[0], narrowed(kind.field(fields[0]).type, fields[1:]))])


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def image_bytes(value: Any) -> bytes | None:
    """The encoded image in a value of an image column; None where there is none."""
    data = value.get("bytes") if isinstance(value, dict) else value
    return data if isinstance(data, bytes) else None


def _types(schema: pa.Schema) -> dict[str, pa.DataType]:
    return {name: schema.field(name).type for name in schema.names if schema.get_field_index(name) >= 0}


def _rows_together(types: Mapping[str, pa.DataType], columns: Sequence[str]) -> int:
    """How many rows to decode at a time."""
    images = any(fits(types[column], _IMAGE_TYPE) for column in columns if column in types)
    return _IMAGE_ROWS if images else _TEXT_ROWS


def _rows(batches: Iterator[pa.RecordBatch], start: int, wanted: AbstractSet[int] | None, size: int) -> Iterator[Row]:
    """The rows of batches, decoded ``size`` at a time; with images one at a time, as Python objects are a copy."""
    for batch in batches:
        for first in range(0, batch.num_rows, size):
            part = batch.slice(first, size)
            numbers = range(start + first, start + first + part.num_rows)
            if wanted is not None and wanted.isdisjoint(numbers):
                continue
            # Offsets of a hostile file may point outside of its buffers: without this check they would be followed.
            part.validate(full=True)
            if size == _TEXT_ROWS:
                yield from (
                    row for row in zip(numbers, part.to_pylist(), strict=True) if wanted is None or row[0] in wanted
                )
            else:
                chosen = (number for number in numbers if wanted is None or number in wanted)
                yield from ((number, part.slice(number - numbers[0], 1).to_pylist()[0]) for number in chosen)
        start += batch.num_rows


class _Parquet(StoredRows):
    def __init__(self, parquet: pq.ParquetFile) -> None:
        self._parquet = parquet
        self.types = _types(parquet.schema_arrow)

    def count(self, most: int | None = None) -> int:
        return int(self._parquet.metadata.num_rows)

    def rows(self, columns: Sequence[str], wanted: AbstractSet[int] | None) -> Iterator[Row]:
        paths, size = self._paths(columns), _rows_together(self.types, columns)
        start = 0
        for group in range(self._parquet.num_row_groups):
            stop = start + self._parquet.metadata.row_group(group).num_rows
            if wanted is None or not wanted.isdisjoint(range(start, stop)):
                self._check_sizes(group, paths)
                batches = self._parquet.iter_batches(size, row_groups=[group], columns=paths, use_threads=False)
                yield from _rows(batches, start, wanted, size)
            start = stop

    def _check_sizes(self, group: int, paths: Sequence[str]) -> None:
        """Raise Damaged where a column of a group says that it unpacks to far more than columns of datasets do."""
        metadata = self._parquet.metadata.row_group(group)
        for column in map(metadata.column, range(metadata.num_columns)):
            unpacked, most = column.total_uncompressed_size, max(_FREE_BYTES, _MAX_RATIO * column.total_compressed_size)
            if column.path_in_schema in paths and unpacked > most:
                raise Damaged(
                    f"unpacks to {unpacked >> 20} MiB in {column.path_in_schema}, which is no column of a dataset"
                )

    def _paths(self, columns: Sequence[str]) -> list[str]:
        """The leaves of columns: ``parts.list.element.name`` for ``parts.name``; other writers have other middles."""
        leaves = [self._parquet.schema.column(number).path for number in range(len(self._parquet.schema))]
        plain = {leaf: re.sub(r"\.(list\.(element|item)|bag\.array_element)\b", "", leaf) for leaf in leaves}
        return [leaf for leaf in leaves if any(f"{plain[leaf]}.".startswith(f"{column}.") for column in columns)]


class _Arrow(StoredRows):
    def __init__(self, folder: Folder, file: TableFile) -> None:
        self._folder, self._file = folder, file
        with self._stream() as stream:
            self.types = _types(stream.schema)

    def count(self, most: int | None = None) -> int:
        found = 0
        with self._stream() as stream:
            for batch in stream:
                found += batch.num_rows
                if most is not None and found >= most:
                    break
        return found

    def rows(self, columns: Sequence[str], wanted: AbstractSet[int] | None) -> Iterator[Row]:
        names = list(dict.fromkeys(column.partition(".")[0] for column in columns))
        with self._stream() as stream:
            yield from _rows((batch.select(names) for batch in stream), 0, wanted, _rows_together(self.types, columns))

    @contextmanager
    def _stream(self) -> Iterator[pa.ipc.RecordBatchStreamReader]:
        folder, path = self._folder, self._file.path
        source = pa.memory_map(str(folder.disk / path)) if folder.disk else folder.open(path, ahead=True)
        with source as opened, pa.ipc.open_stream(opened) as stream:
            yield stream


class _ImageFiles(StoredRows):
    """The questions of a hidden test set: a line for each, with the name of a file for every image.

    ``{"question_id": "5f…", "stacked_image_file_name": "stacked_image/5f….png"}`` is read as the columns
    ``question_id`` and ``stacked_image``. Only the images that are asked for are read.
    """

    def __init__(self, folder: Folder, path: str) -> None:
        self._folder, self._path = folder, path
        self._lines = list(_read_lines(folder, path))
        if not self._lines:
            raise DatasetError(f"{folder}/{path} holds no question; get the test set again.")
        names = dict.fromkeys(name for _, row in self._lines for name, value in row.items() if isinstance(value, str))
        lists = dict.fromkeys(name for _, row in self._lines for name, value in row.items() if isinstance(value, list))
        images = {column: _IMAGE_TYPE for name in names if (column := name.removesuffix(_FILE_FIELD)) != name}
        self.types = dict.fromkeys(lists, pa.list_(pa.string())) | dict.fromkeys(names, pa.string()) | images

    def count(self, most: int | None = None) -> int:
        return len(self._lines)

    def place(self, number: int) -> str:
        return f"line {self._lines[number][0]}"

    def check(self, columns: Sequence[str]) -> None:
        for number in range(len(self._lines)):
            for column in columns:
                if self.types[column] == _IMAGE_TYPE:
                    self._file_name(number, column)

    def rows(self, columns: Sequence[str], wanted: AbstractSet[int] | None) -> Iterator[Row]:
        for number in range(len(self._lines)) if wanted is None else sorted(wanted):
            yield number, {column: self._value(number, column) for column in columns}

    def _value(self, number: int, column: str) -> Any:
        if self.types[column] != _IMAGE_TYPE:
            value = self._lines[number][1].get(column)
            if self.types[column] == pa.string():
                return value if isinstance(value, str) else None
            return None if as_texts(value) is None else value
        name = self._file_name(number, column)
        return {"bytes": _read_image(self._folder, name), "path": name}

    def _file_name(self, number: int, column: str) -> str:
        """A file's name from a row, if it is one of those that a test set gives and so leads nowhere else."""
        name = self._lines[number][1].get(column + _FILE_FIELD)
        if isinstance(name, str):
            folder, _, file = name.partition("/")
            if folder == column and _FILE_NAME.fullmatch(file):
                return name
        raise DatasetError(
            f"{self._folder}/{self._path}, {self.place(number)}: `{column + _FILE_FIELD}` is not {column}/ID.png with "
            "an ID of 32 hex digits."
        )


def _read_lines(folder: Folder, path: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of the file that lists images, with the numbers of their lines from 1."""
    with folder.open(path, ahead=True) as handle:
        data = handle.read(MAX_METADATA_BYTES + 1)
    if len(data) > MAX_METADATA_BYTES:
        raise DatasetError(f"{folder}/{path} is larger than {MAX_METADATA_BYTES >> 20} MiB, so it is not a test set's.")
    file, ids = f"{folder}/{path}", set()
    for number, line in enumerate(data.split(b"\n"), start=1):
        if not line.strip():
            continue
        place = f"{file}, line {number}"
        row = parse_json(decode(line, file, number, DatasetError), place, DatasetError)
        if not isinstance(row, dict):
            raise DatasetError(f"{place}: not a JSON object but {describe(row)}.")
        question_id = row.get("question_id")
        if isinstance(question_id, str) and question_id in ids:
            raise DatasetError(f"{place}: the id {question_id!r} stands there twice; get the test set again.")
        ids.add(str(question_id))
        yield number, row


def _read_image(folder: Folder, name: str) -> bytes | None:
    """The bytes of an image file, not many more than are allowed; None where it cannot be read."""
    try:
        if folder.size(name) is None:  # a named pipe would be waited on for ever
            return None
        with folder.open(name, ahead=True) as handle:
            return handle.read(MAX_IMAGE_BYTES + 1)
    except StorageError:
        raise  # not the file's fault
    except OSError:
        return None
