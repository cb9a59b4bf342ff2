"""Reading datasets on a disk or in an object store.

A dataset is one of these:

- a folder that ``vcrgen build`` finished: ``manifest.json`` and Parquet files in a folder a mode;
- a Parquet file or a folder of them, such as those of VCR-WIKI on the Hub; where all of them are in folders called
  ``easy`` or ``hard``, these are their modes;
- a folder that `datasets` wrote by ``save_to_disk``;
- the public part of a hidden test set: ``metadata.jsonl`` and image files.

    data = open_dataset("data/vcr-en", VCR)
    for place, row in data.select(mode="hard", split="test").rows(["question_id", "stacked_image"], limit=10):
        ...
"""

import contextlib
import hashlib
import io
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any, Self, TypeVar

import pyarrow as pa

from vcrgen.core.errors import ConfigError, DatasetError, ManyDatasetsError
from vcrgen.core.records import is_mode
from vcrgen.core.storage import Folder, StorageError, open_folder, remote_url
from vcrgen.data.key import KEY_FILE
from vcrgen.data.manifest import MANIFEST, Manifest, check_task, read_manifest
from vcrgen.data.schema import DatasetKind
from vcrgen.data.tables import METADATA, DamagedFileError, StoredRows, TableFile, fits, narrowed, open_table

T = TypeVar("T")

MAX_INDEX_BYTES = 16 << 20
MAX_NAMED = 5  # datasets that a folder holds, in a message
_SPLITS, _SAVED = "dataset_dict.json", "state.json"
_ENDINGS = (".parquet", ".pq", ".arrow")
_SHARD = re.compile(r"(\w+(?:\.\w+)*)-\d+-of-\d+")
_TAIL_BYTES = 64 << 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Dataset:
    """A dataset, or some modes and splits of it. Only file lists are read to open one."""

    name: str  # as the user wrote it
    folder: Folder  # where the files are
    kind: DatasetKind  # the columns that its rows may have
    files: tuple[TableFile, ...]  # in the order of the rows
    manifest: Manifest | None = None  # of a dataset that vcrgen built; otherwise None

    def __str__(self) -> str:
        return self.name

    @property
    def built(self) -> Manifest:
        """What the build wrote of itself.

        Raises:
            DatasetError: vcrgen did not build the dataset.
        """
        if self.manifest is None:
            raise DatasetError(f"{self} is not a dataset that vcrgen finished (it has no {MANIFEST}).")
        return self.manifest

    @property
    def modes(self) -> tuple[str, ...]:
        """Modes of the data files, in their order; none where files state none."""
        return tuple(dict.fromkeys(file.mode for file in self.files if file.mode is not None))

    @property
    def splits(self) -> tuple[str, ...]:
        """Splits of the data files, in their order; none where files state none."""
        return tuple(dict.fromkeys(file.split for file in self.files if file.split is not None))

    @property
    def is_hidden(self) -> bool:
        """Return True for the public part of a hidden test set."""
        return any(file.path == METADATA for file in self.files)

    @property
    def identity(self) -> str:
        """Return a hash of the content, sixteen hex digits or more: the same for equal files."""
        if self.manifest is not None:
            return self.manifest.digest
        digest = hashlib.sha256()
        for file in self.files:
            if file.path == METADATA:
                return self.folder.sha256(METADATA)
            digest.update(f"{file.path} {self.folder.size(file.path)} ".encode("utf-8", "surrogateescape"))
            with self.folder.open(file.path) as handle:
                end = handle.seek(0, io.SEEK_END)
                handle.seek(max(end - _TAIL_BYTES, 0))
                digest.update(handle.read(_TAIL_BYTES))
        return digest.hexdigest()

    def select(self, *, mode: str | None = None, split: str | None = None) -> Self:
        """Select the files of one mode, one split, or both.

        Args:
            mode: Such as ``"easy"``; all modes if None.
            split: Name of a split, or of a file without its ending; all of them if None.

        Raises:
            ConfigError: The dataset has no such mode or split; the message names what it has.
        """
        of_mode = (file for file in self.files if mode in (None, file.mode))
        files = tuple(file for file in of_mode if split in (None, file.split, PurePosixPath(file.path).stem))
        if not files:
            missing = (f"{kind} {value!r}" for kind, value in (("mode", mode), ("split", split)) if value is not None)
            raise ConfigError(f"{self} has nothing of {' and '.join(missing) or 'any mode'}; it has {self._choice()}.")
        return replace(self, files=files)

    def rows(
        self,
        columns: Sequence[str] | None = None,
        *,
        optional: Sequence[str] = (),
        positions: Sequence[int] | None = None,
        limit: int | None = None,
    ) -> Iterator[tuple[str, dict[str, Any]]]:
        """Stream rows in file order; only a few are in memory at a time.

        Args:
            columns: Required columns; None for all, with the optional ones of the kind. ``parts.name`` is a field of
                the records in ``parts``.
            optional: Columns that files may lack.
            positions: Only these rows, counted from 0, in order. Row groups without one of them are not read.
            limit: Maximal number of rows.

        Yields:
            The place of the row, for messages, and its values by column: images as stored (see
            `vcrgen.data.tables.image_bytes`), others of the type of the column, or None.

        Raises:
            DatasetError: A file is missing or damaged, or lacks a column.
        """
        names = tuple(self.kind.features) if columns is None else columns
        optional = (*optional, *self.kind.optional_features) if columns is None else optional
        numbers = None if positions is None else sorted(set(positions))[:limit]
        start = yielded = 0
        for file in self.files:
            if yielded == limit or (numbers is not None and yielded == len(numbers)):
                return
            with open_table(self.folder, file) as table:
                present = self._columns(table, file, names, optional)
                stop = start + (0 if numbers is None else table.count())
                local = None if numbers is None else {row - start for row in numbers if start <= row < stop}
                constants = {
                    name: value for name, value in file.constants.items() if name in names and name not in present
                }
                for number, row in table.rows(present, local) if local != set() else ():
                    if isinstance(row.get(self.kind.identifier), int):
                        row[self.kind.identifier] = str(row[self.kind.identifier])
                    yield f"{self.folder}/{file.path}, {table.place(number)}", row | constants
                    yielded += 1
                    if yielded == limit:
                        return
                start = stop

    def count(self, limit: int | None = None) -> int:
        """Count the rows, up to ``limit``.

        Raises:
            DatasetError: A file is missing or damaged.
        """
        rows = 0
        for file in self.files:
            if limit is not None and rows >= limit:
                return limit
            if file.rows is not None:
                rows += file.rows
                continue
            with open_table(self.folder, file) as table:
                rows += table.count(None if limit is None else limit - rows)
        return rows if limit is None else min(rows, limit)

    def check(self, columns: Sequence[str] | None = None) -> None:
        """Check that every file is complete and has some columns, by default all of the kind; no row is read.

        Raises:
            DatasetError: A file is missing, has another size or number of rows, is damaged, or lacks a column.
        """
        names = tuple(self.kind.features) if columns is None else columns

        def check_file(file: TableFile) -> None:
            with open_table(self.folder, file) as table:
                self._columns(table, file, names, ())

        for _ in self.folder.map(check_file, self.files):
            pass

    def map_files(self, function: Callable[[Self], T]) -> Iterator[T]:
        """Apply a function to the dataset of each single file, in order; in a store, several at once."""
        return self.folder.map(function, [replace(self, files=(file,)) for file in self.files])

    def _columns(self, table: StoredRows, file: TableFile, names: Sequence[str], optional: Sequence[str]) -> list[str]:
        """Check the required columns, and add the optional ones that the file has."""
        schema = self.kind.schema(*self.kind.features, *self.kind.optional_features)

        def there(name: str) -> bool:
            column, *fields = name.split(".")
            stored_type = table.types.get(column)
            numbered = column == self.kind.identifier and stored_type is not None and pa.types.is_integer(stored_type)
            return stored_type is not None and (
                numbered or fits(stored_type, narrowed(schema.field(column).type, fields))
            )

        names = [name for name in names if there(name) or name not in file.constants]
        for name in names:
            if not there(name) and self.manifest is not None:
                raise DamagedFileError(f"lacks the column {name!r} as vcrgen writes it")
            if not there(name):
                have = ", ".join(table.types)[:500] or "none"
                raise DatasetError(
                    f"{self.folder}/{file.path} has no column `{name}` as it is needed; it has {have}. Of pairs "
                    "`vcrgen build` makes a dataset."
                )
        columns = [name for name in (*names, *optional) if there(name)]
        table.check(columns)
        return columns

    def _choice(self) -> str:
        parts = dict.fromkeys("/".join(filter(None, (file.mode, file.split))) for file in self.files)
        return ", ".join(filter(None, parts)) or ("no modes and no splits" if self.files else "no files")


def open_dataset(
    place: str | Path | Folder, kind: DatasetKind, *, others: Mapping[str, Callable[[Sequence[str]], DatasetKind]] = {}
) -> Dataset:
    """Open a dataset: a folder, a Parquet or Arrow file, or one of these in an object store.

    Args:
        kind: The kind of a dataset that names no task.
        others: For each other supported task, a function from languages to the kind.

    Raises:
        DatasetError: There is no dataset, it is of another task, or its file list is damaged.
    """
    files: tuple[TableFile, ...]
    try:
        folder = open_folder(place)
        if str(place).lower().endswith(_ENDINGS) and not (folder.local_path and folder.local_path.is_dir()):
            url = remote_url(str(place))
            parent, _, name = url.rpartition("/") if url else (Path(str(place)).parent, "", Path(str(place)).name)
            return Dataset(name=str(place), folder=open_folder(parent), kind=kind, files=(_table_file(name),))
        entries = set(folder.entries())
        if METADATA in entries:  # beside a manifest of another kind
            files = (TableFile(path=METADATA),)
            kind = _kind_of(folder, *_public_task(folder), kind, others)
        elif MANIFEST in entries:
            manifest = read_manifest(folder)
            return built_dataset(folder, manifest, _kind_of(folder, manifest.task, manifest.languages, kind, others))
        elif {_SPLITS, _SAVED} & entries:
            files = tuple(saved_files(folder))
        else:
            files = _table_files(folder.glob("**/*.parquet"))
            _check_one(folder, files)
    except StorageError as error:
        raise DatasetError(f"The dataset cannot be read: {error}.") from None
    except NotADirectoryError:
        raise DatasetError(
            f"{folder} is not a dataset but another file; name a dataset's folder, or its Parquet file."
        ) from None
    except OSError as error:
        raise DatasetError(f"{folder} cannot be read: {error.strerror or error}.") from None
    if not files and folder.local_path and not folder.local_path.exists():
        raise DatasetError(f"{folder} does not exist.")
    if not files and KEY_FILE in entries:
        raise DatasetError(f"{folder} is not a dataset but the key of a hidden set: answers to score with, no images.")
    if not files and {"public", "key"} <= entries:
        raise DatasetError(
            f"{folder} is not a dataset but a hidden set: `public` in it is for models, `key` is for scoring."
        )
    if not files:
        raise DatasetError(
            f"{folder} is not a dataset: it has no {MANIFEST} (of a build), no {METADATA} (of a hidden test set), no "
            f"{_SPLITS} or {_SAVED} (of `save_to_disk`), and holds no Parquet file."
        )
    return Dataset(name=str(folder), folder=folder, kind=kind, files=files)


def _kind_of(
    folder: Folder,
    task: str | None,
    languages: Sequence[str],
    kind: DatasetKind,
    others: Mapping[str, Callable[[Sequence[str]], DatasetKind]],
) -> DatasetKind:
    """Choose the kind by the task that a dataset states; a DatasetError if the command does not take it."""
    if task == kind.task:
        return kind
    if task is not None and task in others:
        return others[task](languages)
    raise DatasetError(f"{folder} is a dataset of the task {str(task)[:40]!r}, which this command does not take.")


def _public_task(folder: Folder) -> tuple[str | None, tuple[str, ...]]:
    """Task and languages of the public part of a hidden set; None and none without a manifest of vcrgen."""
    try:
        values = _read_index(folder, MANIFEST)
        task, languages = values.get("task"), tuple(values.get("languages", ()))
        check_task(task, languages)
    except (DatasetError, ValueError, TypeError):
        return None, ()
    return task, languages


def built_dataset(folder: Folder, manifest: Manifest, kind: DatasetKind) -> Dataset:
    """Open the dataset that a build has finished in a folder."""
    rows = (asdict(file) for file in manifest.files)
    files = tuple(TableFile(**{name: row[name] for name in row if name != "sha256"}) for row in rows)
    return Dataset(name=str(folder), folder=folder, kind=kind, files=files, manifest=manifest)


def _table_file(path: str) -> TableFile:
    """Describe a file by its name: ``test-00000-of-00004.parquet`` is of the split ``test``."""
    shard = _SHARD.fullmatch(PurePosixPath(path).stem)
    return TableFile(path=path, split=shard[1] if shard else None)


def _table_files(names: Sequence[str]) -> tuple[TableFile, ...]:
    """Describe all but hidden files; folders are modes if all of them have the name of a mode."""
    paths = [PurePosixPath(*parts) for parts in sorted(PurePosixPath(name).parts for name in names)]
    paths = [path for path in paths if not any(part.startswith(".") for part in path.parts)]
    modes = [_mode_folder(path) for path in paths]
    are_modes = all(map(is_mode, modes))
    return tuple(
        replace(_table_file(str(path)), mode=mode if are_modes else None)
        for path, mode in zip(paths, modes, strict=True)
    )


def _mode_folder(path: PurePosixPath) -> str:
    """The name of the folder of a file, or of the one above a numbered folder."""
    folder = path.parent
    return (folder.parent if folder.name.isdecimal() else folder).name


def _check_one(folder: Folder, files: Sequence[TableFile]) -> None:
    """Raise a ManyDatasetsError for a folder that holds finished datasets."""
    datasets = []
    # The files of a build are in folders beside its manifest.
    folders = {PurePosixPath(file.path).parent for file in files}
    above = {str(place) for place in folders for place in (place.parent, place.parent.parent)}
    for place in sorted(above - {"."}):
        with contextlib.suppress(DatasetError):
            read_manifest(below := folder.subfolder(place))
            datasets.append(str(below))
    if datasets:
        names = ", ".join(datasets[:MAX_NAMED])
        rest = f" and {len(datasets) - MAX_NAMED} more" if len(datasets) > MAX_NAMED else ""
        raise ManyDatasetsError(
            f"{folder} is not a dataset but a folder with datasets; name one of them: {names}{rest}."
        )


def saved_files(folder: Folder) -> Iterator[TableFile]:
    """Yield the files that ``save_to_disk`` of `datasets` wrote: of one dataset, or of all splits.

    Raises:
        DatasetError: The file list is missing or damaged, or has a path outside of the folder.
    """
    if folder.size(_SPLITS) is None:
        yield from (TableFile(path=name) for name in _saved_names(folder))
        return
    for split in _texts(folder, _SPLITS, _read_index(folder, _SPLITS).get("splits")):
        yield from (TableFile(path=f"{split}/{name}", split=split) for name in _saved_names(folder.subfolder(split)))


def _saved_names(folder: Folder) -> list[str]:
    listed = _read_index(folder, _SAVED).get("_data_files")
    entries = listed if isinstance(listed, list) else [None]
    return _texts(folder, _SAVED, [entry.get("filename") if isinstance(entry, dict) else None for entry in entries])


def _texts(folder: Folder, index: str, names: Any) -> list[str]:
    """Check that names are texts without folders."""
    if not isinstance(names, list) or not all(isinstance(name, str) and name.isprintable() for name in names):
        raise DatasetError(f"{folder}/{index} does not list names; save the dataset again.")
    for name in names:
        if PurePosixPath(name).name != name or "\\" in name or name in ("", ".."):
            raise DatasetError(f"{folder}/{index} names {name!r}, which is not inside of the folder.")
    return names


def _read_index(folder: Folder, name: str) -> dict[str, Any]:
    try:
        with folder.open(name, ahead=True) as handle:
            data = handle.read(MAX_INDEX_BYTES + 1)
        value = json.loads(data) if len(data) <= MAX_INDEX_BYTES else None
    except StorageError:
        raise
    except (OSError, ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise DatasetError(f"{folder}/{name} is missing or damaged; save the dataset again.")
    return value
