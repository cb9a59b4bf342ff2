"""Formats without an index: scanned once while planning, then read from the nearest recorded offset."""

import contextlib
from abc import abstractmethod
from array import array
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, BinaryIO, NamedTuple

from vcrgen.builder.sources.base import PROBLEM, ColumnPath, FileSource, Row, paths_of
from vcrgen.builder.sources.compressed import is_compressed, open_text
from vcrgen.core.errors import SourceError

_STRIDE = 256
_SAMPLE_ROWS = 100


class Record(NamedTuple):
    """The unparsed row of a file."""

    offset: int  # byte at which it starts
    line: int  # line at which it starts, from 1; 0 in a format without lines
    raw: Any  # the input of `ScannedSource._row`
    end: int = 0  # byte after it, and its last line, in a format with lines
    last_line: int = 0


class ScannedSource(FileSource):
    """A source of files without random access.

    Planning records the offset of every 256th row (16 bytes each), so that a later read starts by a seek.
    """

    sample_columns: frozenset[str] = frozenset()  # columns that are read to find nested names

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._marks: dict[str, tuple[array[int], array[int]]] = {}
        self._headers: dict[str, Any] = {}
        self._rows: dict[str, int] = {}

    @abstractmethod
    def _begin(self, handle: BinaryIO, name: str) -> tuple[int, Any]:
        """Seek to the first record; return the number of lines before it, and the header."""

    @abstractmethod
    def _records(self, handle: BinaryIO, line: int, header: Any) -> Iterator[Record]:
        """Yield the records from the handle's position on; ``line`` lines come before it."""

    @abstractmethod
    def _row(self, record: Record, handle: BinaryIO, header: Any, columns: frozenset[str]) -> Row:
        """Convert a record to a row or a problem."""

    def _count(self, name: str) -> int:
        offsets, lines = array("q"), array("q")
        rows = 0
        with open_text(self.folder, name) as handle:
            line, header = self._begin(handle, name)
            for rows, record in enumerate(self._records(handle, line, header), start=1):
                if rows % _STRIDE == 1:
                    offsets.append(record.offset)
                    lines.append(max(record.line - 1, 0))
        self._marks[name], self._headers[name], self._rows[name] = (offsets, lines), header, rows
        return rows

    def chunk_rows(self, partition: int) -> int:
        """As `Source.chunk_rows`: all rows of a compressed file."""
        name = self.files[partition]
        return max(self._rows[name], 1) if is_compressed(name) else 1

    def _read(self, name: str, numbers: Sequence[int], columns: frozenset[str]) -> Iterator[Row]:
        if name not in self._marks:
            self._count(name)
        offsets, lines = self._marks[name]
        header = self._headers[name]
        with self._opened(name) as handle:
            for run in [numbers] if isinstance(numbers, range) else [range(number, number + 1) for number in numbers]:
                mark, skip = divmod(run.start, _STRIDE)
                if mark >= len(offsets):
                    return
                handle.seek(offsets[mark])
                for record in islice(self._records(handle, lines[mark], header), skip, skip + len(run)):
                    yield self._row(record, handle, header, columns)

    def _opened(self, name: str) -> contextlib.AbstractContextManager[BinaryIO]:
        """Open a file for a read; a compressed one is kept open, as it has to be read from its beginning."""
        return self._kept_open(name, open_text) if is_compressed(name) else open_text(self.folder, name)

    def _read_names(self, index: int) -> list[ColumnPath]:
        count = min(self.partitions()[index].rows, _SAMPLE_ROWS)
        paths: dict[ColumnPath, None] = {}
        problem = ""
        for row in self._read(self.files[index], range(count), self.sample_columns):
            if PROBLEM in row:
                problem = problem or str(row[PROBLEM])
            else:
                paths.update(dict.fromkeys(paths_of(row)))
        if not paths:
            file = self._full_name(self.files[index])
            raise SourceError(f"None of the first {count} rows of {file} can be read; the first one: {problem}.")
        return sorted(paths, key=len)
