"""Files of rows in three formats: Parquet, Arrow as `datasets` saves it, and JSON Lines with image files.

Rows are streamed in order, with selected columns. Files are not trusted: types are checked, and every fault is one
sentence that names the file.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

import pyarrow as pa

from vcrgen.core.errors import DatasetError
from vcrgen.core.plurals import pluralize
from vcrgen.core.reading import as_texts, decode, describe, parse_json
from vcrgen.core.storage import Folder, StorageError
from vcrgen.data.arrow_files import ParquetReader, checked_rows, is_bytes, is_text, open_stream

METADATA = "metadata.jsonl"
MAX_METADATA_BYTES = 64 << 20
MAX_IMAGE_BYTES = 32 << 20
# Rows in memory at a time: images of a few MB each stay within a few hundred MB.
_IMAGE_ROWS, _TEXT_ROWS = 16, 1024
_COPIED_ROWS = 4  # of images, as Python objects at a time
_IMAGE_TYPE = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
_FILE_FIELD = "_file_name"
_FILE_NAME = re.compile(r"[0-9a-f]{32}\.png")

Row = tuple[int, dict[str, Any]]
"""The number of a row in its file, from 0, and its values by column."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableFile:
    """A file of rows."""

    path: str  # relative to the dataset's folder; the suffix tells the format
    mode: str | None = None  # the mode of its rows, if known
    split: str | None = None  # the split of its rows, if known
    rows: int | None = None  # expected number of rows, if known
    bytes: int | None = None  # expected size, if known
    constants: Mapping[str, Any] = field(default_factory=dict)  # values of all rows in columns that the file may lack


class DamagedFileError(Exception):
    """A damaged file; the text follows the file's name in messages."""


class StoredRows(ABC):
    """An open file of rows."""

    types: Mapping[str, pa.DataType]  # of each column, without duplicate names

    @abstractmethod
    def count(self, limit: int | None = None) -> int:
        """Count the rows; may stop at ``limit``."""

    @abstractmethod
    def rows(self, columns: Sequence[str], numbers: AbstractSet[int] | None) -> Iterator[Row]:
        """Stream the rows of these numbers, counted from 0, or all.

        ``columns`` exist; ``parts.name`` is a field of the records in ``parts``, and other fields may be included.
        """

    def place(self, number: int) -> str:
        """Name of a row in messages, where the first is ``row 1``."""
        return f"row {number + 1}"

    def check(self, columns: Sequence[str]) -> None:  # noqa: B027 optional
        """Raise a DatasetError for invalid columns, without reading an image."""


@contextmanager
def open_table(folder: Folder, file: TableFile) -> Iterator[StoredRows]:
    """Open a file of rows, and close it after the block.

    Raises:
        DatasetError: It is missing, of another size or number of rows, or damaged; raised on opening or in the block.
    """
    try:
        size = folder.size(file.path)
        if size is None:
            raise DamagedFileError("is missing")
        if file.bytes not in (None, size):
            raise DamagedFileError(f"has {pluralize(size, 'byte')} where the manifest says {file.bytes}")
        with _opened(folder, file) as table:
            if file.rows is not None and file.rows != (rows := table.count()):
                raise DamagedFileError(f"has {pluralize(rows, 'row')} where the manifest says {file.rows}")
            yield table
        return
    except DamagedFileError as error:
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
        with closing(ParquetReader(folder, file.path)) as reader:
            yield _Parquet(reader)


def fits(stored: pa.DataType, expected: pa.DataType) -> bool:
    """Return True if one type can be read as another of the same class (text, integer, image) of any width."""
    types = pa.types
    if types.is_dictionary(stored):
        stored = stored.value_type
    if expected == _IMAGE_TYPE:
        place = stored.get_field_index("bytes") if types.is_struct(stored) else -1
        data = stored.field(place).type if place >= 0 else stored
        return is_bytes(data)
    if types.is_struct(expected):
        return types.is_struct(stored) and all(
            (place := stored.get_field_index(field.name)) >= 0 and fits(stored.field(place).type, field.type)
            for field in expected
        )
    if types.is_list(expected):
        is_list = types.is_list(stored) or types.is_large_list(stored) or types.is_fixed_size_list(stored)
        return is_list and fits(stored.value_type, expected.value_type)
    same = (is_text, types.is_integer, types.is_floating)
    return any(is_same(expected) and is_same(stored) for is_same in same)


def narrowed(kind: pa.DataType, fields: Sequence[str]) -> pa.DataType:
    """Reduce a type of records, or of lists of them, to the single field at the path ``fields``."""
    if not fields:
        return kind
    if pa.types.is_list(kind):
        return pa.list_(narrowed(kind.value_type, fields))
    return pa.struct([(fields[0], narrowed(kind.field(fields[0]).type, fields[1:]))])


def image_bytes(value: Any) -> bytes | None:
    """Encoded image in a value of an image column, or None."""
    data = value.get("bytes") if isinstance(value, dict) else value
    return data if isinstance(data, bytes) else None


def _types(schema: pa.Schema) -> dict[str, pa.DataType]:
    return {name: schema.field(name).type for name in schema.names if schema.get_field_index(name) >= 0}


def _rows_together(types: Mapping[str, pa.DataType], columns: Sequence[str]) -> int:
    """Rows to decode at a time: few where they hold images, to spare memory."""
    images = any(fits(types[column], _IMAGE_TYPE) for column in columns if column in types)
    return _IMAGE_ROWS if images else _TEXT_ROWS


def _rows(batches: Iterator[pa.RecordBatch], start: int, selected: AbstractSet[int] | None, size: int) -> Iterator[Row]:
    """Decode batches ``size`` rows at a time; image rows few at a time, as Python objects are copies."""
    for batch in batches:
        for first in range(0, batch.num_rows, size):
            part = batch.slice(first, size)
            numbers = range(start + first, start + first + part.num_rows)
            if selected is not None and selected.isdisjoint(numbers):
                continue
            for place in range(0, part.num_rows, at_once := size if size == _TEXT_ROWS else _COPIED_ROWS):
                few = numbers[place : place + at_once]
                if selected is None or not selected.isdisjoint(few):
                    decoded = zip(few, checked_rows(part.slice(place, at_once)), strict=True)
                    yield from (row for row in decoded if selected is None or row[0] in selected)
        start += batch.num_rows


class _Parquet(StoredRows):
    def __init__(self, reader: ParquetReader) -> None:
        self._reader = reader
        self.types = _types(reader.schema)

    def count(self, limit: int | None = None) -> int:
        return int(self._reader.metadata.num_rows)

    def rows(self, columns: Sequence[str], numbers: AbstractSet[int] | None) -> Iterator[Row]:
        paths, size = self._paths(columns), _rows_together(self.types, columns)
        start = 0
        for group, rows in enumerate(self._reader.group_sizes):
            if numbers is None or not numbers.isdisjoint(range(start, start + rows)):
                yield from _rows(self._reader.batches(group, paths, size), start, numbers, size)
            start += rows

    def _paths(self, columns: Sequence[str]) -> list[str]:
        """Leaf paths of columns, as ``parts.list.element.name`` of ``parts.name``, for any writer."""
        leaves = self._reader.leaves
        plain = {leaf: re.sub(r"\.(list\.(element|item)|bag\.array_element)\b", "", leaf) for leaf in leaves}
        return [leaf for leaf in leaves if any(f"{plain[leaf]}.".startswith(f"{column}.") for column in columns)]


class _Arrow(StoredRows):
    def __init__(self, folder: Folder, file: TableFile) -> None:
        self._folder, self._path = folder, file.path
        with open_stream(folder, file.path) as stream:
            self.types = _types(stream.schema)

    def count(self, limit: int | None = None) -> int:
        rows = 0
        with open_stream(self._folder, self._path) as stream:
            for batch in stream.batches():
                rows += batch.num_rows
                if limit is not None and rows >= limit:
                    break
        return rows

    def rows(self, columns: Sequence[str], numbers: AbstractSet[int] | None) -> Iterator[Row]:
        names = list(dict.fromkeys(column.partition(".")[0] for column in columns))
        with open_stream(self._folder, self._path) as stream:
            yield from _rows(
                (batch.select(names) for batch in stream.batches()), 0, numbers, _rows_together(self.types, columns)
            )


class _ImageFiles(StoredRows):
    """The questions of a hidden test set: one a line, with file names of images.

    ``{"question_id": "5f…", "stacked_image_file_name": "stacked_image/5f….png"}`` is read as the columns
    ``question_id`` and ``stacked_image``. Only requested images are read.
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

    def count(self, limit: int | None = None) -> int:
        return len(self._lines)

    def place(self, number: int) -> str:
        return f"line {self._lines[number][0]}"

    def check(self, columns: Sequence[str]) -> None:
        for number in range(len(self._lines)):
            for column in columns:
                if self.types[column] == _IMAGE_TYPE:
                    self._file_name(number, column)

    def rows(self, columns: Sequence[str], numbers: AbstractSet[int] | None) -> Iterator[Row]:
        for number in range(len(self._lines)) if numbers is None else sorted(numbers):
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
        """File name of a row's image; only COLUMN/ID.png is valid, so that no path leads out of the folder."""
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
    """Yield the objects of the questions' file with their line numbers from 1."""
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
    """Read an image file, at most one byte above the limit; None if it cannot be read."""
    try:
        if folder.size(name) is None:  # a named pipe would be waited on for ever
            return None
        with folder.open(name, ahead=True) as handle:
            return handle.read(MAX_IMAGE_BYTES + 1)
    except StorageError:
        raise  # not the file's fault
    except OSError:
        return None
