"""The interface of sources: ordered partitions of rows with random access."""

# ruff: noqa: D102 as `Source` documents the methods of all sources

import contextlib
import os
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from vcrgen.core.errors import NoPairsError, SourceError
from vcrgen.core.storage import Folder

T = TypeVar("T")
Row = Mapping[str, Any]
ColumnPath = tuple[str, ...]  # a column and its nested fields; lists have no name

PROBLEM = "__problem__"
MAX_IMAGE_BYTES = 256 << 20
MAX_TEXT_BYTES = 64 << 20  # of a line, CSV field or JSON member
_MAX_DEPTH = 6
_GROUP = 32
_MAX_FIELDS = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Partition:
    """A sequence of rows, usually a file."""

    name: str  # the file's path relative to the source, with `/`; part of row ids
    rows: int  # number of rows
    size: int = 0  # bytes of the file; 0 without one


class Source(ABC):
    """Image-caption pairs as rows. An instance is cheap to pickle: it holds names and offsets, no open file."""

    description: str  # one line for the dataset card, without local paths
    # The folder of partition names and image paths; None without a folder: then images cannot be paths.
    root: Path | None = None
    splits: Sequence[str] = ()  # those that are read; none if the source has no splits

    @abstractmethod
    def partitions(self) -> list[Partition]:
        """All partitions, in the same order on every machine.

        Raises:
            SourceError: A file is missing or is not what it claims to be, or there is no row at all.
        """

    @abstractmethod
    def names(self) -> list[ColumnPath]:
        """The columns and nested fields of the schema or, without one, of the first rows.

        Raises:
            SourceError: The first file cannot be read.
        """

    @abstractmethod
    def rows(self, partition: int, numbers: Sequence[int], columns: frozenset[str]) -> Iterator[Row]:
        """Stream the rows of a partition with these ascending numbers, usually a range.

        Top-level columns other than ``columns`` may be left out. A row that cannot be read is
        ``{"__problem__": "what is wrong"}``, so that the rows after it keep their numbers.

        Raises:
            SourceError: The file cannot be read, or ends before the last of these rows.
        """

    def chunk_rows(self, partition: int) -> int:
        """The most rows of a partition that are decoded from the first of them on; 1 where each is found."""
        return 1


class FileSource(Source):
    """A source with one partition a file; subclasses read one format."""

    _last_file: tuple[tuple[int, int, str], Any] | None = None

    def __init__(
        self,
        files: Iterable[str],
        *,
        folder: Folder,
        kind: str,
        description: str = "",
        splits: Sequence[str] = (),
        max_rows: int | None = None,
    ) -> None:
        self.root = folder.local_path
        self.folder = folder
        self.files: Sequence[str] = list(files) if splits else sorted(files)  # of splits, in the order of these
        is_single = len(self.files) == 1
        self.splits = tuple(splits)
        self.description = description or (f"{kind} {self.files[0]}" if is_single else f"{len(self.files)} {kind}s")
        if splits:
            self.description += f", split{'s' if len(splits) > 1 else ''} {', '.join(splits)}"
        self._max_rows = max_rows
        self._partitions: list[Partition] = []
        self._names: list[ColumnPath] = []

    def partitions(self) -> list[Partition]:
        if not self._partitions:
            # In groups, so that `max_rows` can stop a store in which many are measured at once.
            groups = (self.files[start : start + _GROUP] for start in range(0, len(self.files), _GROUP))
            all_partitions = (partition for group in groups for partition in self.folder.map(self._measure, group))
            partitions: list[Partition] = []
            rows = 0
            for partition in all_partitions:
                partitions.append(partition)
                rows += partition.rows
                if self._max_rows is not None and rows >= self._max_rows:
                    break
            if not rows:
                raise NoPairsError(f"The source ({self.description}) holds no rows.")
            self._partitions = partitions
        return list(self._partitions)

    def names(self) -> list[ColumnPath]:
        if not self._names:
            first = next((i for i, partition in enumerate(self.partitions()) if partition.rows), 0)
            with self._reading(self.files[first]):
                self._names = self._read_names(first)
        return self._names

    def rows(self, partition: int, numbers: Sequence[int], columns: frozenset[str]) -> Iterator[Row]:
        if not numbers:
            return
        name = self.files[partition]
        self._check_unchanged(partition)
        left = len(numbers)
        with self._reading(name):
            for row in self._read(name, numbers, columns):
                left -= 1
                if left < 0:
                    break
                yield row
        if left:
            stop = numbers[-1] + 1
            problem = f"ends before row {stop}" if left > 0 else f"gives more rows than the {len(numbers)} asked for"
            raise SourceError(f"{self._full_name(name)} {problem}; has it changed since it was planned?")

    def _check_unchanged(self, partition: int) -> None:
        """Raise a SourceError if a file of this disk has another size than when it was measured."""
        if self.folder.local_path and self._partitions:
            name, planned = self.files[partition], self._partitions[partition].size
            if (size := self.folder.size(name)) not in (None, planned):
                raise SourceError(
                    f"{self._full_name(name)} had {planned} bytes when its rows were counted and has {size} now; build "
                    "from a source that stays as it is."
                )

    @abstractmethod
    def _count(self, name: str) -> int:
        """Count a file's rows without reading its images."""

    @abstractmethod
    def _read_names(self, index: int) -> list[ColumnPath]:
        """Column paths of file number ``index``; called inside of `_reading`."""

    @abstractmethod
    def _read(self, name: str, numbers: Sequence[int], columns: frozenset[str]) -> Iterator[Row]:
        """Stream the rows of a file with these numbers, at least one."""

    def _failures(self) -> tuple[type[Exception], ...]:
        """What a missing or damaged file raises, to be turned into a SourceError."""
        return (OSError,)

    def _measure(self, name: str) -> Partition:
        with self._reading(name):
            return Partition(name=name, rows=self._count(name), size=self.folder.size(name) or 0)

    @contextlib.contextmanager
    def _reading(self, name: str) -> Iterator[None]:
        """Turn exceptions for a missing or damaged file into a SourceError."""
        try:
            yield
        except self._failures() as error:
            raise SourceError(f"{self._full_name(name)} cannot be read: {first_line(error)}.") from None

    @contextlib.contextmanager
    def _kept_open(self, name: str, open_file: Callable[[Folder, str], T]) -> Iterator[T]:
        """Open a file for a read; it stays open where the read ended, for the next one of this thread."""
        owner = (os.getpid(), threading.get_ident(), name)  # a forked process would share the place in the file
        last_file = self._last_file  # read once: another thread may put its own in its place at any time
        if last_file is None or last_file[0] != owner:
            last_file = self._last_file = (owner, open_file(self.folder, name))
        try:
            yield last_file[1]
        except BaseException:
            self._last_file = None
            raise

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_last_file": None}

    def _full_name(self, name: str) -> str:
        return f"{self.folder}/{name}"


def choose_splits(available: Iterable[str], split: str | None, *, source_name: str) -> list[str]:
    """The split that is named or, if none is, all: ``train`` first, the others in the order of the source.

    Raises:
        SourceError: There is no split of that name.
    """
    splits = sorted(available, key=lambda name: name != "train")
    if split is None:
        return splits
    if split not in splits:
        raise SourceError(f"{source_name} has no split {split!r}; it has {', '.join(splits) or 'none'}.")
    return [split]


def first_line(error: Exception) -> str:
    """The first line of an error's text, shortened."""
    if isinstance(error, OSError) and error.errno:
        return os.strerror(error.errno)
    line = next(iter(str(error).strip().splitlines()), type(error).__name__)
    return "".join(letter if letter.isprintable() else "?" for letter in line[:200]).rstrip(".: ")


def paths_of(row: Row) -> Iterator[ColumnPath]:
    """Yield the column paths of a row of Python values, at most six levels and a thousand paths."""
    level: list[tuple[ColumnPath, Any]] = [((str(key),), value) for key, value in row.items()]
    count = 0
    for _ in range(_MAX_DEPTH):
        deeper: list[tuple[ColumnPath, Any]] = []
        for path, value in level:
            if count == _MAX_FIELDS:
                return
            count += 1
            yield path
            for field in value[:1] if isinstance(value, list) else (value,):
                if isinstance(field, Mapping):
                    deeper.extend(((*path, str(key)), inner) for key, inner in field.items())
        level = deeper


class SampleSource(Source):
    """The ``count`` built-in pairs of a language from number ``first`` on; rows are ``{"id", "image", "caption"}``."""

    description = "built-in pairs"

    def __init__(self, lang: str, count: int, *, first: int = 0) -> None:
        self._lang, self._count, self._first = lang, count, first

    def starting_at(self, first: int) -> "SampleSource":
        """As many pairs from another number on; from a secret one of 256 bits, nobody else finds them."""
        return SampleSource(self._lang, self._count, first=first)

    def partitions(self) -> list[Partition]:
        return [Partition(name="samples", rows=self._count)]

    def names(self) -> list[ColumnPath]:
        return [("id",), ("image",), ("caption",)]

    def rows(self, partition: int, numbers: Sequence[int], columns: frozenset[str]) -> Iterator[Row]:
        from vcrgen.samples import sample_pair

        for number in numbers:
            pair = sample_pair(self._lang, self._first + number)
            yield {"id": pair.id, "image": pair.image, "caption": pair.caption}
