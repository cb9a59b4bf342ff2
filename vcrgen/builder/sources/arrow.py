"""Arrow sources: Parquet files, and folders of ``datasets.save_to_disk``."""

import contextlib
import os
from abc import abstractmethod
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import compress, count
from pathlib import Path
from typing import Any

import pyarrow as pa

from vcrgen.builder.sources.base import PROBLEM, ColumnPath, FileSource, Row, choose_splits, first_line
from vcrgen.core.errors import DatasetError, SourceError
from vcrgen.core.storage import DiskFolder, Folder
from vcrgen.data.arrow_files import ParquetReader, checked_rows, open_stream
from vcrgen.data.reader import saved_files
from vcrgen.data.tables import TableFile

_END_OF_STREAM = b"\xff\xff\xff\xff\0\0\0\0"  # of Arrow's streaming format
BATCH_ROWS = 4  # decoded at a time: images may have many MB each
_UNDECODABLE = (ValueError, ArithmeticError, NotImplementedError, ImportError)

# The number of rows of a row group or record batch, and a reader of some columns of its rows `low` to `high`.
_Chunk = tuple[int, Callable[[list[str], int, int], Iterator[Row]]]


class ArrowSource(FileSource):
    """Files with a schema and chunks of rows; chunks outside of the requested rows are not read."""

    @abstractmethod
    def _open(self, name: str) -> contextlib.AbstractContextManager[tuple[Any, Iterator[_Chunk]]]:
        """Open a file: its Arrow schema and its chunks."""

    def _open_rows(self, name: str) -> contextlib.AbstractContextManager[tuple[Any, Iterator[_Chunk]]]:
        """Open a file of which rows are read."""
        return self._open(name)

    def _count(self, name: str) -> int:
        with self._open(name) as (_, chunks):
            return sum(rows for rows, _ in chunks)

    def _read_names(self, index: int) -> list[ColumnPath]:
        with self._open(self.files[index]) as (schema, _):
            return paths_of_schema(schema)

    def _read(self, name: str, numbers: Sequence[int], columns: frozenset[str]) -> Iterator[Row]:
        with self._open_rows(name) as (schema, chunks):
            names = [column for column in schema.names if column in columns]
            first = done = 0
            for rows, read in chunks:
                chunk_numbers = numbers[done : bisect_left(numbers, first + rows)]
                if chunk_numbers:
                    low, high = chunk_numbers[0] - first, chunk_numbers[-1] - first + 1
                    yield from compress(
                        read(names, low, high), map(chunk_numbers.__contains__, count(chunk_numbers[0]))
                    )
                first, done = first + rows, done + len(chunk_numbers)
                if done == len(numbers):
                    return

    def _failures(self) -> tuple[type[Exception], ...]:
        return (OSError, pa.ArrowException, ValueError)


class ParquetSource(ArrowSource):
    """Parquet files in a folder."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._chunk_rows: dict[str, int] = {}  # rows of the largest row group, by file

    def _count(self, name: str) -> int:
        with contextlib.closing(_ParquetFile(self.folder, name)) as file:
            sizes = [rows for rows, _ in file.chunks()]
            if sum(sizes) != file.rows:
                raise ValueError(f"its row groups have {sum(sizes)} rows, and the file says {file.rows}")
        self._chunk_rows[name] = max(sizes, default=1)
        return sum(sizes)

    def chunk_rows(self, partition: int) -> int:
        """As `Source.chunk_rows`: those of the largest row group."""
        return self._chunk_rows[self.files[partition]]

    @contextlib.contextmanager
    def _open(self, name: str) -> Iterator[tuple[Any, Iterator[_Chunk]]]:
        with contextlib.closing(_ParquetFile(self.folder, name)) as file:
            yield file.schema, file.chunks()

    @contextlib.contextmanager
    def _open_rows(self, name: str) -> Iterator[tuple[Any, Iterator[_Chunk]]]:
        with self._kept_open(name, _ParquetFile) as file:
            yield file.schema, file.chunks()


class _ParquetFile:
    """An open Parquet file. A read of rows that follow those of the last one goes on where that ended.

    Rows can only be decoded from the first one of their row group on, and many programs write a file as one group: if
    every read began there, a build would read such a file once for each of its tasks.
    """

    def __init__(self, folder: Folder, name: str) -> None:
        self._reader = ParquetReader(folder, name)
        self._reading: tuple[int, list[str]] = (-1, [])  # row group and columns of the batches
        self._batches: Iterator[pa.RecordBatch] = iter(())
        self._batch: pa.RecordBatch | None = None
        self._position = 0  # row of the group with which the batch begins
        self._problem = "it ends early"  # why no more batches come
        self.schema = self._reader.schema
        self.rows: int = self._reader.metadata.num_rows  # as the footer says, beside those of the row groups

    def close(self) -> None:
        self._reader.close()

    def chunks(self) -> Iterator[_Chunk]:
        """Yield the row groups."""
        for group, rows in enumerate(self._reader.group_sizes):
            yield rows, partial(self._read, group)

    def _read(self, group: int, columns: list[str], start: int, stop: int) -> Iterator[Row]:
        """Yield rows ``start`` to ``stop`` of a row group. After damaged data, its rows are problems."""
        if not columns:
            yield from ({} for _ in range(start, stop))
            return
        if self._reading != (group, columns) or start < self._position:
            self._reading, self._batch, self._position = (group, columns), None, 0
            self._batches = self._reader.batches(group, columns, BATCH_ROWS)
        while self._position < stop:
            self._batch = self._batch or self._next_batch()
            if self._batch is None:
                problem = f"the row group is damaged here ({self._problem})"
                yield from ({PROBLEM: problem} for _ in range(max(self._position, start), stop))
                return
            low, high = max(start - self._position, 0), min(stop - self._position, self._batch.num_rows)
            if low < high:
                yield from _decoded(self._batch.slice(low, high - low))
            if self._position + self._batch.num_rows > stop:
                return
            self._position += self._batch.num_rows
            self._batch = None

    def _next_batch(self) -> pa.RecordBatch | None:
        """The next batch, or None at the end and after damaged data."""
        try:
            return next(self._batches, None)
        except Exception as error:
            # Damaged data stay damaged; a failing disk or network, whose errors have a number, ends the read.
            if not isinstance(error, pa.ArrowException) and not (type(error) is OSError and error.errno is None):
                raise
            self._batches, self._problem = iter(()), first_line(error)
            return None


class SavedSource(ArrowSource):
    """The memory-mapped Arrow streams of one saved dataset, read without ``datasets``."""

    def _count(self, name: str) -> int:
        rows = super()._count(name)
        with self.folder.open(name) as handle:  # a stream that is cut between two batches ends as others do
            handle.seek(-len(_END_OF_STREAM), os.SEEK_END)
            if handle.read() != _END_OF_STREAM:
                raise ValueError("it is cut short, as it has no end mark")
        return rows

    @contextlib.contextmanager
    def _open(self, name: str) -> Iterator[tuple[Any, Iterator[_Chunk]]]:
        with open_stream(self.folder, name) as stream:
            yield stream.schema, ((batch.num_rows, partial(_batch_rows, batch)) for batch in stream.batches())


def paths_of_schema(schema: Any) -> list[ColumnPath]:
    """The column paths of an Arrow schema, top-level columns first; lists have no name."""
    paths: list[ColumnPath] = []
    level: list[tuple[ColumnPath, Any]] = [((field.name,), field.type) for field in schema]
    while level:
        paths.extend(path for path, _ in level)
        deeper: list[tuple[ColumnPath, Any]] = []
        for path, kind in level:
            while pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
                kind = kind.value_type
            if pa.types.is_struct(kind):
                fields = (kind.field(index) for index in range(kind.num_fields))
                deeper.extend(((*path, field.name), field.type) for field in fields)
        level = deeper
    return paths


def _batch_rows(batch: Any, columns: list[str], start: int, stop: int) -> Iterator[Row]:
    return _decoded(batch.select(columns).slice(start, stop - start))


def _decoded(batch: Any) -> Iterator[Row]:
    """Yield the rows of a record batch as Python values; a row that cannot be converted is a problem."""
    for start in range(0, batch.num_rows, BATCH_ROWS):
        part = batch.slice(start, BATCH_ROWS)
        try:
            yield from checked_rows(part)
        except _UNDECODABLE as error:
            if part.num_rows == 1:
                yield {PROBLEM: f"the row cannot be decoded: {first_line(error)}"}
            else:
                for index in range(part.num_rows):
                    yield from _decoded(part.slice(index, 1))


SAVED_INDEXES = ("state.json", "dataset_dict.json")  # of one dataset, of a dictionary of splits


def is_saved_dataset(folder: Path) -> bool:
    """Return True if ``datasets.save_to_disk`` wrote the folder."""
    saved = (folder / "state.json").is_file() and (folder / "dataset_info.json").is_file()
    return saved or (folder / "dataset_dict.json").is_file()


def saved_splits(folder: Path) -> list[str]:
    """The splits of a saved dictionary; the one without a name of a saved dataset; none of other folders.

    Raises:
        SourceError: The folder's index files are damaged.
    """
    if not is_saved_dataset(folder):
        return []
    return list(dict.fromkeys(file.split or "" for file in _files_of(folder)))


def _files_of(folder: Path) -> list[TableFile]:
    try:
        return list(saved_files(DiskFolder(folder)))
    except DatasetError as error:
        raise SourceError(str(error)) from None


def open_saved(folder: Path, *, split: str | None, max_rows: int | None) -> SavedSource:
    """Open a saved dataset, or a saved dictionary of them: one split or, if none is named, all.

    Raises:
        SourceError: The split is not there, or the folder's index files are damaged.
    """
    files = _files_of(folder)
    available = dict.fromkeys(file.split for file in files if file.split is not None)
    splits = choose_splits(available, split, source_name=str(folder)) if available else []
    split_names: Sequence[str | None] = splits or [None]
    names = [file.path for name in split_names for file in files if file.split == name]
    return SavedSource(names, folder=DiskFolder(folder), kind="Arrow file", splits=splits, max_rows=max_rows)
