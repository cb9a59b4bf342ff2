"""Rows of a finished dataset, file by file; nothing the files say is trusted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from vcrgen.dataset.manifest import DatasetFile, Manifest
from vcrgen.dataset.schema import arrow_schema
from vcrgen.errors import DatasetError
from vcrgen.storage import Folder, open_folder

BATCH_ROWS = 16


def read_rows(
    dataset: Path | Folder,
    manifest: Manifest,
    *,
    mode: str,
    split: str | None = None,
    columns: Sequence[str] | None = None,
    limit: int | None = None,
    positions: Sequence[int] | None = None,
) -> Iterator[dict[str, Any]]:
    """Stream rows in the order of the manifest's files; only a few are in memory at a time.

    Args:
        dataset: The dataset's folder.
        manifest: Its manifest.
        mode: ``"easy"`` or ``"hard"``.
        split: Name of a split; all splits if not given.
        columns: Columns of :data:`vcrgen.dataset.schema.FEATURES`; all if not given.
        limit: Rows, at most.
        positions: Only these rows, counted over ``mode`` and ``split`` from 0; given in order, whatever their order
            here. Row groups without one of them are not read.

    Yields:
        Column to value. An image is its stored bytes, ``{"bytes": ..., "path": ...}``, and may be anything. A value
        has the type that the schema says, or is None.

    Raises:
        DatasetError: There are no such rows, or a file is missing or damaged.
    """
    files = [file for file in manifest.files if file.mode == mode and split in (None, file.split)]
    if not files:
        where = f"mode {mode!r}" if split is None else f"mode {mode!r} and split {split!r}"
        raise DatasetError(f"{dataset} has no rows of {where}; it has {_choice(manifest)}.")
    folder = open_folder(dataset)
    names = list(arrow_schema().names if columns is None else columns)
    wanted = None if positions is None else sorted(set(positions))[:limit]
    start, left = 0, limit
    for file in files:
        stop = start + file.rows
        here = None if wanted is None else {row - start for row in wanted if start <= row < stop}
        start = stop
        if here == set() or left == 0:
            continue
        for row in _rows_of(folder, file, names, here):
            yield row
            if left is not None:
                left -= 1
                if not left:
                    return


def check_files(dataset: Path | Folder, manifest: Manifest) -> None:
    """Look at every file's size and footer, without reading a row.

    Raises:
        DatasetError: A file is missing, or not what the manifest says of it.
    """
    folder = open_folder(dataset)
    for file in manifest.files:
        with _opened(folder, file, arrow_schema().names):
            pass


def _rows_of(folder: Folder, file: DatasetFile, names: list[str], wanted: set[int] | None) -> Iterator[dict[str, Any]]:
    """Rows of one file; of ``wanted`` ones, counted within the file, or all."""
    with _opened(folder, file, names) as parquet:
        start = 0
        for group in range(parquet.num_row_groups):
            stop = start + parquet.metadata.row_group(group).num_rows
            if wanted is None or any(start <= row < stop for row in wanted):
                batches = parquet.iter_batches(BATCH_ROWS, row_groups=[group], columns=names, use_threads=False)
                yield from _wanted_rows(batches, start, wanted)
            start = stop


def _wanted_rows(batches: Iterator[pa.RecordBatch], start: int, wanted: set[int] | None) -> Iterator[dict[str, Any]]:
    for batch in batches:
        chosen = [row for row in range(batch.num_rows) if wanted is None or start + row in wanted]
        start += batch.num_rows
        # One row at a time: a batch of images as Python objects is a second copy of it.
        for row in chosen:
            yield batch.slice(row, 1).to_pylist()[0]


class _Damaged(Exception):
    """A file is not what the manifest says; the text says how."""


def _check_size(folder: Folder, file: DatasetFile) -> None:
    size = folder.size(file.path)
    if size is None:
        raise _Damaged("is missing")
    if size != file.bytes:
        raise _Damaged(f"has {size} bytes where the manifest says {file.bytes}")


def _check_schema(parquet: pq.ParquetFile, file: DatasetFile, names: Iterable[str]) -> None:
    if parquet.metadata.num_rows != file.rows:
        raise _Damaged(f"has {parquet.metadata.num_rows} rows where the manifest says {file.rows}")
    expected, found = arrow_schema(), parquet.schema_arrow
    for name in names:
        # A name may be there twice: then get_field_index gives -1, as for none.
        index = found.get_field_index(name)
        if index < 0 or found.field(index).type != expected.field(name).type:
            raise _Damaged(f"lacks the column {name!r} as vcrgen writes it")


@contextmanager
def _opened(folder: Folder, file: DatasetFile, names: Iterable[str]) -> Iterator[pq.ParquetFile]:
    """A checked file; what pyarrow says of damage is put in a sentence that names the file and what to do."""
    try:
        _check_size(folder, file)
        with folder.open(file.path) as handle, pq.ParquetFile(handle, pre_buffer=False) as parquet:
            _check_schema(parquet, file, names)
            yield parquet
        return
    except _Damaged as error:
        problem = str(error)
    except (OSError, ValueError, pa.ArrowException) as error:  # ValueError: text that is not UTF-8
        problem = f"cannot be read ({(str(error).splitlines() or [type(error).__name__])[0][:200]})"
    raise DatasetError(f"{folder}/{file.path} {problem}; copy or build the dataset again.")


def _choice(manifest: Manifest) -> str:
    pairs = dict.fromkeys(f"{file.mode}/{file.split}" for file in manifest.files)
    return ", ".join(pairs) or "no files"
