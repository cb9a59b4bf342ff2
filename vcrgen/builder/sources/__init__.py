"""Sources of image-caption pairs: files, folders, shards, object stores and the Hub."""

import os
import re
from pathlib import Path, PurePosixPath

from vcrgen.builder.sources.arrow import ParquetSource, is_saved_dataset, open_saved
from vcrgen.builder.sources.base import FileSource, Partition, SampleSource, Source
from vcrgen.builder.sources.fields import (
    check_columns,
    items_at,
    iter_captions,
    iter_items,
    iter_rows,
    limit_partitions,
)
from vcrgen.builder.sources.hub import HUB_ID, has_hub_layout, open_hub, open_local, pinned
from vcrgen.builder.sources.locate import files_with, find_files, is_pattern
from vcrgen.builder.sources.tabular import CsvSource, JsonlSource
from vcrgen.builder.sources.tar import TarSource
from vcrgen.config.build import BuildConfig
from vcrgen.errors import SourceError
from vcrgen.storage import DiskFolder, Folder, open_folder, remote_url

__all__ = [
    "Partition",
    "Source",
    "check_columns",
    "items_at",
    "iter_captions",
    "iter_items",
    "iter_rows",
    "limit_partitions",
    "open_source",
]

_SAMPLES = re.compile(r"samples(?::(.*))?")
_MOST_SAMPLES = 10**9
_FORMATS: dict[str, tuple[type[FileSource], str]] = {
    ".parquet": (ParquetSource, "Parquet file"),
    ".tar": (TarSource, "WebDataset shard"),
    ".csv": (CsvSource, "CSV file"),
    ".tsv": (CsvSource, "TSV file"),
    ".jsonl": (JsonlSource, "JSONL file"),
    ".ndjson": (JsonlSource, "NDJSON file"),
    ".json": (JsonlSource, "JSON file"),
}


def open_source(config: BuildConfig) -> Source:
    """Recognise ``config.source`` and open it; no row is read yet.

    In this order:

    - ``samples`` or ``samples:N``: built-in pairs;
    - a folder: one saved by `datasets.save_to_disk`, an image folder with ``metadata.jsonl`` or
      ``metadata.csv``, a dataset repository's layout, Parquet files or tar shards (at its top or in
      ``data``);
    - a file, a glob, or braces as in ``shard-{000..012}.tar``: Parquet, tar, CSV, TSV, JSON lines;
    - the same, or a folder of Parquet files or tar shards, as ``s3://``, ``gs://`` or ``hf://``;
    - a dataset of the Hugging Face Hub: ``org/name[:config][@revision]``.

    Raises:
        SourceError: It is none of these, or is missing.
    """
    text = config.source
    if match := _SAMPLES.fullmatch(text):
        return _open_samples(config.lang, match[1])
    max_rows = config.limit if not config.where else None
    if url := remote_url(text):
        return _open_url(url, max_rows=max_rows)
    try:
        path = Path(text).expanduser()
        if text and path.is_dir():
            return _open_folder(path, split=config.source_split, max_rows=max_rows)
        if path.is_file():
            return _open_files([path.name], folder=DiskFolder(path.parent), max_rows=max_rows)
        if text and is_pattern(text):
            folder, files = find_files(str(path))
            return _open_files(files, folder=folder, max_rows=max_rows)
    except (OSError, ValueError, RuntimeError) as error:
        reason = getattr(error, "strerror", None) or "not a usable path"
        raise SourceError(f"{text[:300]!r} cannot be read: {reason}.") from None
    if on_hub := _on_hub(text):
        return open_hub(on_hub, split=config.source_split, max_rows=max_rows)
    raise SourceError(
        f"There is no file or folder {text[:300]!r}; give one, a quoted glob, "
        "a dataset of the Hub (org/name), or `samples`."
    )


def is_remote_source(text: str) -> bool:
    """Return True if a source of this name is in an object store or on the Hub."""
    here = _SAMPLES.fullmatch(text) or os.path.lexists(text)  # which takes any text, however long
    return bool(remote_url(text)) or (not here and _on_hub(text) is not None)


def _on_hub(text: str) -> re.Match[str] | None:
    """Match the name of a dataset on the Hub; None for the name of a file."""
    file = Path(text).suffix.lower() in _FORMATS or text.startswith(".")
    return None if file else HUB_ID.fullmatch(text)


def _open_samples(lang: str, count: str | None) -> Source:
    from vcrgen.samples import BUILTIN_COUNT

    if count is not None and not re.fullmatch(r"[0-9]{1,12}", count):
        raise SourceError(f"`samples:{count[:50]}` names no count; write for example samples:500.")
    rows = BUILTIN_COUNT if count is None else int(count)
    if not 1 <= rows <= _MOST_SAMPLES:
        raise SourceError(
            f"`samples:{count}` asks for {rows} pairs; give a count of at least 1, at most {_MOST_SAMPLES}."
        )
    return SampleSource(lang, rows)


def _open_url(url: str, *, max_rows: int | None) -> Source:
    """Open files of an object store: one file, a pattern, or the Parquet files or tar shards of a folder."""
    url = pinned(url)
    try:
        if is_pattern(url):
            folder, files = find_files(url)
            return _open_files(files, folder=folder, max_rows=max_rows)
        parent, _, name = url.rpartition("/")
        if remote_url(parent) and open_folder(parent).size(name) is not None:
            return _open_files([name], folder=open_folder(parent), max_rows=max_rows)
        folder = open_folder(url)
        if files := files_with(folder, ".parquet") or files_with(folder, ".tar"):
            return _open_files(files, folder=folder, max_rows=max_rows)
    except OSError as error:
        raise SourceError(f"{url} cannot be read: {error.strerror or error}.") from None
    raise SourceError(f"{url} is no file, and no folder with Parquet files or tar shards in it or in its `data`.")


def _open_folder(folder: Path, *, split: str, max_rows: int | None) -> Source:
    if is_saved_dataset(folder):
        return open_saved(folder, split=split, max_rows=max_rows)
    place = DiskFolder(folder)
    for name in (f"{inside}metadata.{kind}" for inside in ("", f"{split}/") for kind in ("jsonl", "csv")):
        if place.size(name) is not None:
            source, _ = _FORMATS[PurePosixPath(name).suffix]
            return source([name], folder=place, kind="image folder with", max_rows=max_rows)
    if has_hub_layout(folder):
        return open_local(folder, split=split, max_rows=max_rows)
    if files := files_with(place, ".parquet") or files_with(place, ".tar"):
        return _open_files(files, folder=place, max_rows=max_rows)
    raise SourceError(
        f"{folder} holds no pairs that vcrgen knows: no metadata.jsonl or metadata.csv (with file_name and caption), "
        "no Parquet files or tar shards in it or in its `data`, nothing saved by datasets.save_to_disk. "
        "A CSV or JSON lines file has to be named itself."
    )


def _open_files(files: list[str], *, folder: Folder, max_rows: int | None) -> Source:
    suffix, *others = sorted({PurePosixPath(name).suffix.lower() for name in files})
    if others:
        raise SourceError(f"The source mixes formats ({', '.join([suffix, *others])}); give files of one format.")
    if suffix not in _FORMATS:
        raise SourceError(f"{folder}/{files[0]} has no format that vcrgen reads; known: {', '.join(_FORMATS)}.")
    source, kind = _FORMATS[suffix]
    return source(files, folder=folder, kind=kind, max_rows=max_rows)
