"""Formats without an index: read through once while planning, then entered at the nearest noted offset."""

from abc import abstractmethod
from array import array
from collections.abc import Iterator
from itertools import islice
from typing import Any, BinaryIO, NamedTuple

from vcrgen.builder.sources.base import PROBLEM, ColumnPath, FileSource, Row, paths_of
from vcrgen.errors import SourceError

_STRIDE = 256
_SAMPLE_ROWS = 100


class Record(NamedTuple):
    """One row as it lies in the file."""

    offset: int  # byte at which it starts
    line: int  # line at which it starts, from 1; 0 in a format without lines
    raw: Any  # what :meth:`ScannedSource._row` makes a row of


class ScannedSource(FileSource):
    """A source of files in which a row is found by reading what is before it.

    Planning notes the offset of every 256th row (16 bytes each), so that a window deep in a file starts by a seek.
    """

    sample_columns: frozenset[str] = frozenset()  # those that have to be read for the names inside them to be known

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._marks: dict[str, tuple[array[int], array[int]]] = {}

    @abstractmethod
    def _begin(self, handle: BinaryIO, name: str) -> tuple[int, Any]:
        """Move to the first record; the lines before it, and what reading needs to know (a header)."""

    @abstractmethod
    def _records(self, handle: BinaryIO, line: int, begun: Any) -> Iterator[Record]:
        """The records from the handle's position on; ``line`` lines come before it."""

    @abstractmethod
    def _row(self, record: Record, handle: BinaryIO, begun: Any, columns: frozenset[str]) -> Row:
        """Make a row, or a problem, of a record."""

    def _count(self, name: str) -> int:
        offsets, lines = array("q"), array("q")
        rows = 0
        with self.folder.open(name, ahead=True) as handle:
            line, begun = self._begin(handle, name)
            for rows, record in enumerate(self._records(handle, line, begun), start=1):
                if rows % _STRIDE == 1:
                    offsets.append(record.offset)
                    lines.append(max(record.line - 1, 0))
        self._marks[name] = offsets, lines
        return rows

    def _read(self, name: str, start: int, stop: int, columns: frozenset[str]) -> Iterator[Row]:
        if name not in self._marks:
            self._count(name)
        offsets, lines = self._marks[name]
        mark, skip = divmod(start, _STRIDE)
        if mark >= len(offsets):
            return
        with self.folder.open(name, ahead=True) as handle:
            _, begun = self._begin(handle, name)
            handle.seek(offsets[mark])
            for record in islice(self._records(handle, lines[mark], begun), skip, skip + stop - start):
                yield self._row(record, handle, begun, columns)

    def _read_names(self, index: int) -> list[ColumnPath]:
        count = min(self.partitions()[index].rows, _SAMPLE_ROWS)
        found: dict[ColumnPath, None] = {}
        problem = ""
        for row in self._read(self.files[index], 0, count, self.sample_columns):
            if PROBLEM in row:
                problem = problem or str(row[PROBLEM])
            else:
                found.update(dict.fromkeys(paths_of(row)))
        if not found:
            shown = self._shown(self.files[index])
            raise SourceError(f"None of the first {count} rows of {shown} can be read; the first one: {problem}.")
        return sorted(found, key=len)
