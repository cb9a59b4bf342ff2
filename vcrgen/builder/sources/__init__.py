"""Sources of image-caption pairs: files, folders, shards, object stores and the Hub."""

import os
import re
from pathlib import Path, PurePosixPath
from typing import Any

from vcrgen.builder.options import BuildConfig
from vcrgen.builder.sources.arrow import SAVED_INDEXES, ParquetSource, is_saved_dataset, open_saved, saved_splits
from vcrgen.builder.sources.base import FileSource, Partition, SampleSource, Source, choose_splits
from vcrgen.builder.sources.beside import BesideSource, folders_of_files
from vcrgen.builder.sources.compressed import suffix_of
from vcrgen.builder.sources.documents import DocumentSource, is_caption_document
from vcrgen.builder.sources.fields import (
    RowCounts,
    check_columns,
    check_first_rows,
    describe_unmatched,
    items_at,
    iter_captions,
    iter_items,
    limit_partitions,
    read_rows,
)
from vcrgen.builder.sources.hub import HUB_ID, has_hub_layout, open_hub, open_hub_splits, open_local, pinned
from vcrgen.builder.sources.locate import files_with, find_files, is_log, is_pattern
from vcrgen.builder.sources.tabular import CsvSource, JsonlSource, TsvSource
from vcrgen.builder.sources.tar import TarSource
from vcrgen.core.errors import NoPairsError, SourceError
from vcrgen.core.plurals import pluralize
from vcrgen.core.storage import DiskFolder, Folder, open_folder, remote_url
from vcrgen.data.key import is_key
from vcrgen.data.tables import METADATA
from vcrgen.data.views import View
from vcrgen.text.languages import LANGUAGES

__all__ = [
    "Partition",
    "RowCounts",
    "SampleSource",
    "Source",
    "check_columns",
    "describe_unmatched",
    "items_at",
    "iter_captions",
    "iter_items",
    "limit_partitions",
    "open_every_split",
    "open_pairs",
    "open_source",
    "read_rows",
]

_SAMPLES = re.compile(r"samples(?::(.*))?")
_LOCAL_CONFIG = re.compile(r"(.+):([\w.+-]+)")
_MOST_SAMPLES = 10**9
_IMAGE_FOLDERS = ("metadata.jsonl", "metadata.csv")
# The number of a shard at the end of a file's name: `-00003-of-00012`, `_7`, `000042`.
_SHARD = re.compile(r"[-_]?\d+(?:-of-\d+)?$")
_FORMATS: dict[str, tuple[type[FileSource], str]] = {
    ".parquet": (ParquetSource, "Parquet file"),
    ".tar": (TarSource, "WebDataset shard"),
    ".csv": (CsvSource, "CSV file"),
    ".tsv": (TsvSource, "TSV file"),
    ".jsonl": (JsonlSource, "JSONL file"),
    ".ndjson": (JsonlSource, "NDJSON file"),
    ".json": (JsonlSource, "JSON file"),
}
_TEXTS = (".csv", ".tsv", ".jsonl", ".ndjson", ".json")
_FORMATS |= {f"{suffix}.gz": _FORMATS[suffix] for suffix in _TEXTS}


def open_source(config: BuildConfig) -> Source:
    """Recognise ``config.source`` and open it; no row is read yet.

    In this order:

    - ``samples`` or ``samples:N``: built-in pairs;
    - a folder: one saved by `datasets.save_to_disk`, an image folder with ``metadata.jsonl`` or
      ``metadata.csv``, a dataset repository's layout (``FOLDER:CONFIG`` for one of its configurations), Parquet files
      or tar shards (at its top or in ``data``), images beside text files with their captions;
    - a file, a glob, or braces as in ``shard-{000..012}.tar``: Parquet, tar, CSV, TSV, JSON lines, captions of COCO;
    - the same, or a folder of Parquet files or tar shards, as ``s3://``, ``gs://`` or ``hf://``;
    - a dataset of the Hugging Face Hub: ``org/name[:config][@revision]``.

    All splits are read, unless ``config.source_split`` names one.

    Raises:
        SourceError: It is none of these, or is missing, or it has no such split.
    """
    if config.image_root is not None and not config.image_root.is_dir():
        raise SourceError(
            f"--image-root {config.image_root} is no folder; name the one in which paths of images begin."
        )
    source = _open(config)
    if config.source_split is not None and not source.splits:
        raise SourceError(f"{config.source[:300]!r} has no splits; leave out --source-split {config.source_split}.")
    return source


def open_pairs(config: BuildConfig) -> tuple[Source, list[Partition]]:
    """Open a source, check its columns and first rows, and return it with the partitions to read.

    Raises:
        SourceError: As of `open_source`, `check_columns` and `check_first_rows`.
    """
    source = open_source(config)
    check_columns(source, config)
    partitions = limit_partitions(source, config)
    if not isinstance(source, SampleSource):
        check_first_rows(source, config)
    return source, partitions


def _open(config: BuildConfig) -> Source:
    text = config.source
    if match := _SAMPLES.fullmatch(text):
        return _open_samples(config.lang, match[1])
    max_rows = config.limit if not config.where else None
    if url := remote_url(text):
        return _open_url(url, max_rows=max_rows)
    try:
        path = Path(text).expanduser()
        if text and path.is_dir():
            _refuse_hidden_set(path)
            return _open_folder(path, split=config.source_split, max_rows=max_rows, image_root=config.image_root)
        if match := _LOCAL_CONFIG.fullmatch(text):
            repository = Path(match[1]).expanduser()
            if not path.exists() and repository.is_dir():
                return open_local(repository, match[2], split=config.source_split, max_rows=max_rows)
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


def open_every_split(config: BuildConfig) -> dict[str, Source]:
    """Open all splits, modes and configurations of a source, by name; no row is read yet.

    Of a folder, whatever its layout, these are all tables in it and in the folders below: image folders, Parquet files,
    tar shards, and datasets saved by `datasets.save_to_disk`. A dataset of the Hub has its configurations and splits.
    Files that are named, and built-in pairs, are one split without a name.

    Raises:
        SourceError: As of `open_source`.
    """
    text = config.source
    path = Path(text).expanduser()
    try:
        if text and path.is_dir():
            _refuse_hidden_set(path)
            sources = _open_below(DiskFolder(path))
        elif (url := remote_url(text)) and not is_pattern(url):
            sources = _open_below(open_folder(pinned(url)))
        elif not (url or is_pattern(text) or _SAMPLES.fullmatch(text) or os.path.lexists(path)) and (
            on_hub := _on_hub(text)
        ):
            return dict(open_hub_splits(on_hub))
        else:
            sources = {}
    except (OSError, ValueError, RuntimeError) as error:
        reason = getattr(error, "strerror", None) or "not a usable path"
        raise SourceError(f"{text[:300]!r} cannot be read: {reason}.") from None
    # A split without rows is left out: there is nothing in it.
    return {name: source for name, source in sources.items() if _has_rows(source)} or {"": open_source(config)}


def _open_below(folder: Folder) -> dict[str, Source]:
    """Open the tables in a folder and in those below it, by their names without the numbers of shards."""
    groups: dict[tuple[str, str], list[str]] = {}
    saved: list[PurePosixPath] = []
    paths = [PurePosixPath(name) for name in folder.glob("**/*")]
    there = {place for path in paths for place in (path, path.parent)}
    for path in paths:
        suffix = path.suffix.lower()
        if any(part.startswith((".", "_")) for part in path.parts) or is_log(path, there):
            continue
        if path.name in SAVED_INDEXES:
            saved.append(path.parent)
        elif path.name in _IMAGE_FOLDERS:
            groups.setdefault((str(path.parent), suffix), []).append(str(path))
        elif suffix in (".parquet", ".tar"):
            groups.setdefault((str(path.parent / _SHARD.sub("", path.stem)), suffix), []).append(str(path))
    sources: dict[str, Source] = {}
    for (name, suffix), files in sorted(groups.items()):
        own_name = name if name not in sources else f"{name}{suffix}"
        sources[own_name] = _open_files(files, folder=folder, max_rows=None)
    for place in saved if folder.local_path else ():
        for split in saved_splits(Path(folder.local_path or "", place)):
            saved_at = Path(folder.local_path or "", place)
            sources[str(place / split)] = open_saved(saved_at, split=split or None, max_rows=None)
    return sources


def _has_rows(source: Source) -> bool:
    try:
        return bool(source.partitions())
    except NoPairsError:
        return False


def is_remote_source(text: str) -> bool:
    """Return True if a source of this name is in an object store or on the Hub."""
    here = _SAMPLES.fullmatch(text) or os.path.lexists(text)  # which takes any text, however long
    return bool(remote_url(text)) or (not here and _on_hub(text) is not None)


def _on_hub(text: str) -> re.Match[str] | None:
    """Match the name of a dataset on the Hub; None for the name of a file."""
    file = suffix_of(text) in _FORMATS or text.startswith(".")
    return None if file else HUB_ID.fullmatch(text)


def _open_samples(lang: str, count: str | None) -> Source:
    from vcrgen.samples import BUILTIN_COUNT
    from vcrgen.samples.pairs import has_captions

    if not has_captions(lang):
        raise SourceError(
            f"There are no built-in captions in {LANGUAGES[lang].name}; name a source of pairs, not `samples`."
        )
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


def _refuse_hidden_set(folder: Path) -> None:
    """Refuse a hidden set, its public part and its key, which hold pictures and captions, but no pairs to use."""
    places = (folder, folder / "public", folder / "key", folder / "form-1" / "public")
    views = (View.STACKED.column, View.TEI.column)
    if any(is_key(place) or all((place / name).exists() for name in (METADATA, *views)) for place in places):
        raise SourceError(
            f"{folder} is of a hidden set, whose pairs are secret: name other pairs. A new set is compared with it by "
            "`vcrgen hidden ... --not-in`."
        )


def _open_folder(folder: Path, *, split: str | None, max_rows: int | None, image_root: Path | None) -> Source:
    if is_saved_dataset(folder):
        return open_saved(folder, split=split, max_rows=max_rows)
    place = DiskFolder(folder)
    if images := _open_image_folder(place, split=split, max_rows=max_rows):
        return images
    if has_hub_layout(folder):
        return open_local(folder, None, split=split, max_rows=max_rows)
    if files := files_with(place, ".parquet") or files_with(place, ".tar"):
        return _open_files(files, folder=place, max_rows=max_rows)
    if folders := folders_of_files(folder, image_root):
        description = f"images beside their captions in {pluralize(len(folders), 'folder')}"
        options: dict[str, Any] = {"description": description, "max_rows": max_rows, "image_root": image_root}
        return BesideSource(folders, folder=place, kind="", **options)
    table = next((f", as {folder / name}" for name in place.entries() if suffix_of(name) in _TEXTS), "")
    raise SourceError(
        f"{folder} holds no pairs that vcrgen knows: no metadata.jsonl or metadata.csv (with file_name and caption), "
        "no Parquet files or tar shards in it or in its `data`, no images beside text files of the same names, nothing "
        f"saved by datasets.save_to_disk. A CSV or JSON lines file has to be named itself{table}."
    )


def _open_image_folder(folder: DiskFolder, *, split: str | None, max_rows: int | None) -> Source | None:
    """Open an image folder, or one with such a folder for each split."""
    lists = next(([name] for name in _IMAGE_FOLDERS if folder.size(name) is not None), [])
    of_split: dict[str, str] = {}
    if not lists:
        inside = (f"{entry}/{name}" for entry in sorted(folder.entries()) for name in _IMAGE_FOLDERS)
        for path in inside:
            entry = path.partition("/")[0]
            if folder.size(path) is not None and folder.size(f"{entry}/manifest.json") is None:  # no public part
                of_split.setdefault(entry, path)
    splits = choose_splits(of_split, split, source_name=str(folder)) if of_split else []
    lists = lists or [of_split[name] for name in splits]
    if not lists:
        return None
    source, _ = _format_of(lists, folder)
    several = "image folders" if len(lists) > 1 else ""
    return source(lists, folder=folder, kind="image folder with", description=several, splits=splits, max_rows=max_rows)


def _open_files(files: list[str], *, folder: Folder, max_rows: int | None) -> Source:
    source, kind = _format_of(files, folder)
    return source(files, folder=folder, kind=kind, max_rows=max_rows)


def _format_of(files: list[str], folder: Folder) -> tuple[type[FileSource], str]:
    suffix, *others = sorted({suffix_of(name) for name in files})
    if others:
        raise SourceError(f"The source mixes formats ({', '.join([suffix, *others])}); give files of one format.")
    if suffix not in _FORMATS:
        excel = "; save a table of Excel as CSV UTF-8" if suffix in (".xlsx", ".xls", ".ods") else ""
        raise SourceError(f"{folder}/{files[0]} has no format that vcrgen reads; known: {', '.join(_FORMATS)}{excel}.")
    if suffix in (".json", ".json.gz") and is_caption_document(folder, files[0]):
        return DocumentSource, "caption file"
    return _FORMATS[suffix]
