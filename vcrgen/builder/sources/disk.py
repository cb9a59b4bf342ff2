"""Folders written by ``datasets.save_to_disk``: Arrow streams, memory-mapped, images as they were stored."""

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from vcrgen.builder.sources.arrow import paths_of_schema, rows_of
from vcrgen.builder.sources.base import ColumnPath, FileSource, Partition, Row
from vcrgen.errors import SourceError
from vcrgen.storage import DiskFolder

_MAX_STATE_BYTES = 16 << 20


class DiskSource(FileSource):
    """The Arrow files of one saved dataset. ``datasets`` itself is not needed to read them."""

    def _measure(self, name: str) -> Partition:
        with self._open(name) as stream:
            return Partition(name=name, rows=sum(batch.num_rows for batch in stream), size=self._size(name))

    def _read_names(self, index: int) -> list[ColumnPath]:
        with self._open(self.files[index]) as stream:
            return paths_of_schema(stream.schema)

    def _read(self, name: str, start: int, stop: int, columns: frozenset[str]) -> Iterator[Row]:
        with self._open(name) as stream:
            wanted = [column for column in stream.schema.names if column in columns]
            first = 0
            for batch in stream:
                low, high = max(start - first, 0), min(stop - first, batch.num_rows)
                if low < high:
                    yield from rows_of(batch.select(wanted).slice(low, high - low))
                first += batch.num_rows
                if first >= stop:
                    return

    @contextlib.contextmanager
    def _open(self, name: str) -> Iterator[Any]:
        import pyarrow

        with pyarrow.memory_map(f"{self.root}/{name}") as mapped, pyarrow.ipc.open_stream(mapped) as stream:
            yield stream

    def _failures(self) -> tuple[type[Exception], ...]:
        from pyarrow import ArrowException

        return (ArrowException, ValueError)


def is_saved_dataset(folder: Path) -> bool:
    """Whether a folder looks like one that ``datasets.save_to_disk`` wrote."""
    saved = (folder / "state.json").is_file() and (folder / "dataset_info.json").is_file()
    return saved or (folder / "dataset_dict.json").is_file()


def open_disk(folder: Path, *, split: str, enough: int | None) -> DiskSource:
    """Open a saved dataset, or one split of a saved dictionary of them.

    Raises:
        SourceError: The split is not there, or the folder's index files are damaged.
    """
    index = folder / "dataset_dict.json"
    if index.is_file():
        splits = _load(index).get("splits")
        if not isinstance(splits, list) or split not in splits:
            raise SourceError(f"{folder} has no split {split!r}; it has {splits}.")
        folder = folder / _plain(split, folder)
    listed = _load(folder / "state.json").get("_data_files")
    if not isinstance(listed, list) or not all(isinstance(entry, dict) for entry in listed):
        raise SourceError(f"{folder / 'state.json'} does not list the files; save the dataset again.")
    files = [_plain(entry.get("filename"), folder) for entry in listed]
    return DiskSource(files, folder=DiskFolder(folder), kind="Arrow file", enough=enough)


def _plain(name: Any, folder: Path) -> str:
    """A file name that stays in its folder."""
    if not isinstance(name, str) or not name or Path(name).name != name or not name.isprintable():
        raise SourceError(f"{folder} refers to {name!r}, which is not a file name inside it.")
    return name


def _load(file: Path) -> dict[str, Any]:
    try:
        with file.open("rb") as handle:
            loaded = json.loads(handle.read(_MAX_STATE_BYTES))
    except OSError as error:
        raise SourceError(f"{file} cannot be read: {error.strerror}.") from None
    except (ValueError, RecursionError):
        loaded = None
    if not isinstance(loaded, dict):
        raise SourceError(f"{file} is damaged; save the dataset again.")
    return loaded
