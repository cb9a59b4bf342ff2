"""What every source is: ordered files of rows that can be read from any row on."""

# ruff: noqa: D102 as :class:`Source` documents the methods of all sources

import contextlib
import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vcrgen.errors import SourceError
from vcrgen.storage import Folder

Row = Mapping[str, Any]
ColumnPath = tuple[str, ...]  # a column and the fields inside it, from the top; lists on the way are not named

PROBLEM = "__problem__"
MAX_IMAGE_BYTES = 256 << 20
MAX_TEXT_BYTES = 64 << 20  # the longest line, CSV field or JSON member that is read; a longer one is a problem
_MAX_DEPTH = 6
_GROUP = 32
_MAX_FIELDS = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Partition:
    """One ordered run of rows, usually a file."""

    name: str  # what row ids are made of: the file's name relative to the source, with `/`; no machine's path
    rows: int  # number of rows
    size: int = 0  # bytes of the file, so that a changed source is noticed; 0 where it has none


class Source(ABC):
    """Pairs as rows. An instance is cheap to pickle: it holds names and offsets, no open file."""

    description: str  # one line for the dataset card and the signature; no machine's path
    # The folder that partition names are relative to and that image paths may not leave; None where the rows have no
    # folder, so that an image cannot be given as a path.
    root: Path | None = None

    @abstractmethod
    def partitions(self) -> list[Partition]:
        """All partitions, in an order that is the same on every machine.

        Raises:
            SourceError: A file is missing or is not what it claims to be, or there is no row at all.
        """

    @abstractmethod
    def names(self) -> list[ColumnPath]:
        """The columns and the fields inside them: of the schema or, where there is none, of the first rows.

        Raises:
            SourceError: The first file cannot be read.
        """

    @abstractmethod
    def rows(self, partition: int, start: int, stop: int, columns: frozenset[str]) -> Iterator[Row]:
        """Rows ``start`` to ``stop`` of a partition, in order, without holding more than a few of them.

        ``stop`` is one past the last row. Top-level columns other than ``columns`` may be left out.

        A row that cannot be read is ``{"__problem__": "what is wrong"}``, so that the rows after it keep
        their numbers.

        Raises:
            SourceError: The file cannot be read, or ends before row ``stop``.
        """

    def some_rows(self, partition: int, numbers: Sequence[int], columns: frozenset[str]) -> Iterator[Row]:
        """As :meth:`rows`, but of the rows with these numbers, which ascend.

        Where rows can be read in groups only, each group is read once.
        """
        return (row for number in numbers for row in self.rows(partition, number, number + 1, columns))


class FileSource(Source):
    """A source with one partition a file; a format says how to measure and read a file.

    Args:
        files: File names relative to ``folder``, with ``/``.
        folder: The folder they are in.
        kind: What one file is, for the description: ``Parquet file``.
        description: Instead of one made of the kind and the files.
        enough: Rows after which planning need not look at further files.
    """

    def __init__(
        self, files: Iterable[str], *, folder: Folder, kind: str, description: str = "", enough: int | None = None
    ) -> None:
        self.root = folder.disk
        self.folder = folder
        self.files: Sequence[str] = sorted(files)
        one = len(self.files) == 1
        self.description = description or (f"{kind} {self.files[0]}" if one else f"{len(self.files)} {kind}s")
        self._enough = enough
        self._partitions: list[Partition] = []
        self._names: list[ColumnPath] = []

    def partitions(self) -> list[Partition]:
        if not self._partitions:
            # In groups, so that `enough` can stop a store in which many are measured at once.
            groups = (self.files[start : start + _GROUP] for start in range(0, len(self.files), _GROUP))
            found: list[Partition] = []
            rows = 0
            for partition in (one for group in groups for one in self.folder.each(self._measure, group)):
                found.append(partition)
                rows += partition.rows
                if self._enough is not None and rows >= self._enough:
                    break
            if not rows:
                raise SourceError(f"The source ({self.description}) holds no rows.")
            self._partitions = found
        return list(self._partitions)

    def names(self) -> list[ColumnPath]:
        if not self._names:
            first = next((i for i, partition in enumerate(self.partitions()) if partition.rows), 0)
            with self._reading(self.files[first]):
                self._names = self._read_names(first)
        return self._names

    def rows(self, partition: int, start: int, stop: int, columns: frozenset[str]) -> Iterator[Row]:
        if start >= stop:
            return
        name = self.files[partition]
        found = start
        with self._reading(name):
            for row in self._read(name, start, stop, columns):
                yield row
                found += 1
        if found < stop:
            raise SourceError(f"{self._shown(name)} ends before row {stop}; has it changed since it was planned?")

    @abstractmethod
    def _count(self, name: str) -> int:
        """The number of a file's rows, found without reading its images."""

    @abstractmethod
    def _read_names(self, index: int) -> list[ColumnPath]:
        """The column paths of file number ``index``."""

    @abstractmethod
    def _read(self, name: str, start: int, stop: int, columns: frozenset[str]) -> Iterator[Row]:
        """The rows of a file; ``start < stop``."""

    def _failures(self) -> tuple[type[Exception], ...]:
        """What reading raises where the file, not vcrgen, is wrong."""
        return (OSError,)

    def _measure(self, name: str) -> Partition:
        with self._reading(name):
            return Partition(name=name, rows=self._count(name), size=self.folder.size(name) or 0)

    @contextlib.contextmanager
    def _reading(self, name: str) -> Iterator[None]:
        """Turn what a library raises for a missing or damaged file into one sentence."""
        try:
            yield
        except self._failures() as error:
            raise SourceError(f"{self._shown(name)} cannot be read: {first_line(error)}.") from None

    def _shown(self, name: str) -> str:
        return f"{self.folder}/{name}"


def first_line(error: Exception) -> str:
    """What an error says, short enough to be part of a sentence."""
    if isinstance(error, OSError) and error.errno:
        return os.strerror(error.errno)
    line = next(iter(str(error).strip().splitlines()), type(error).__name__)
    return "".join(letter if letter.isprintable() else "?" for letter in line[:200]).rstrip(".: ")


def paths_of(row: Row) -> Iterator[ColumnPath]:
    """The column paths of a row of Python values, top-level columns first.

    A hostile row has its limits: six levels of nesting, a thousand paths.
    """
    level: list[tuple[ColumnPath, Any]] = [((str(key),), value) for key, value in row.items()]
    found = 0
    for _ in range(_MAX_DEPTH):
        deeper: list[tuple[ColumnPath, Any]] = []
        for path, value in level:
            if found == _MAX_FIELDS:
                return
            found += 1
            yield path
            for field in value[:1] if isinstance(value, list) else (value,):
                if isinstance(field, Mapping):
                    deeper.extend(((*path, str(key)), inner) for key, inner in field.items())
        level = deeper


class SampleSource(Source):
    """The first ``count`` built-in pairs of a language; rows are ``{"id", "image", "caption"}``."""

    description = "built-in pairs"

    def __init__(self, lang: str, count: int) -> None:
        self._lang, self._count = lang, count

    def partitions(self) -> list[Partition]:
        return [Partition(name="samples", rows=self._count)]

    def names(self) -> list[ColumnPath]:
        return [("id",), ("image",), ("caption",)]

    def rows(self, partition: int, start: int, stop: int, columns: frozenset[str]) -> Iterator[Row]:
        from vcrgen.samples import sample_pair

        for index in range(start, min(stop, self._count)):
            pair = sample_pair(self._lang, index)
            yield {"id": pair.id, "image": pair.image, "caption": pair.caption}
