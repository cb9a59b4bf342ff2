"""Datasets of the Hugging Face Hub, read by HTTP ranges, and local folders with the same layout."""

import contextlib
import logging
import os
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

from vcrgen.builder.sources.arrow import ParquetSource
from vcrgen.builder.sources.base import choose_splits, first_line
from vcrgen.core.errors import SourceError
from vcrgen.core.storage import BucketFolder, DiskFolder

# org/name, org/name:config, org/name@revision, org/name:config@revision.
HUB_ID = re.compile(r"((?:[\w.-]+/)?[\w.-]+)(?::([\w.+-]+))?(?:@([\w./-]+))?")
_FILES_URL = re.compile(r"hf://datasets/([\w.-]+/[\w.-]+)(?:@(refs/(?:convert|pr)/[\w.-]+|[\w.%-]+))?((?:/.*)?)")
_CONVERTED = "refs/convert/parquet"
_NOT_CONVERTED = "is not stored as Parquet, nor converted by the Hub; download and convert it."
_TIMEOUT_SECONDS = 10


def has_hub_layout(folder: Path) -> bool:
    """Return True for the layout of a dataset repository: configured by its README or by file names."""
    readme = folder / "README.md"
    if readme.is_file():
        with readme.open("rb") as handle:
            head = handle.read(1 << 20)
        if head.startswith(b"---") and re.search(rb"^configs:", head, re.MULTILINE):
            return True
    return any(any(place.glob("*-?????-of-?????.parquet")) for place in (folder, folder / "data"))


def open_local(folder: Path, config: str | None, *, split: str | None, max_rows: int | None) -> ParquetSource:
    """Open a local folder with a dataset repository's layout: one split or, if none is named, all of a configuration.

    Raises:
        SourceError: The configuration or the split is not there or is not stored as Parquet in the folder.
    """
    available, _ = _data_files(str(folder.resolve()), config=config, source_name=str(folder))
    splits = choose_splits(available, split, source_name=str(folder))
    files = [file for name in splits for file in sorted(available[name])]
    names = [os.path.relpath(file, folder.resolve()) for file in files]
    if any("://" in file or name.startswith("..") for file, name in zip(files, names, strict=True)):
        raise SourceError(f"The README.md of {folder} refers to files outside of the folder, which are not read.")
    if not _all_parquet(names):
        raise SourceError(f"{folder} is not stored as Parquet files; convert it, or name its files.")
    names = [Path(name).as_posix() for name in names]
    return ParquetSource(names, folder=DiskFolder(folder), kind="Parquet file", splits=splits, max_rows=max_rows)


def open_hub(parsed: re.Match[str], *, split: str | None, max_rows: int | None) -> ParquetSource:
    """Open one split of a dataset of the Hub or, if none is named, all, at the commit its revision names now.

    No file is downloaded as a whole. Other formats are read from the Hub's own conversion to Parquet. ``parsed`` is a
    match of ``HUB_ID``.

    Raises:
        SourceError: The Hub cannot be reached, or has no such dataset, configuration, split or Parquet files.
    """
    text = parsed[0]
    name, config, revision = parsed.groups()
    commit = _commit(name, revision, source_name=text)
    available, config_name = _data_files(name, config=config, revision=commit, source_name=text)
    splits = {split_name: available[split_name] for split_name in choose_splits(available, split, source_name=text)}
    return _open_splits(parsed, commit, splits, config_name, max_rows=max_rows)


def open_hub_splits(parsed: re.Match[str]) -> dict[str, ParquetSource]:
    """Open every split of the configuration that is named or, where none is, of all configurations.

    Raises:
        SourceError: As of `open_hub`.
    """
    import datasets

    text = parsed[0]
    name, config, revision = parsed.groups()
    commit = _commit(name, revision, source_name=text)
    with _resolving(text) as cache:
        configs = [config] if config else datasets.get_dataset_config_names(name, revision=commit, cache_dir=cache)
    sources: dict[str, ParquetSource] = {}
    for config in configs:
        splits, config_name = _data_files(name, config=config, revision=commit, source_name=text)
        for split, files in splits.items():
            sources[f"{config_name}/{split}"] = _open_splits(parsed, commit, {split: files}, config_name, max_rows=None)
    return sources


def _open_splits(
    parsed: re.Match[str], commit: str, splits: dict[str, list[str]], config_name: str, *, max_rows: int | None
) -> ParquetSource:
    """Open splits of a configuration, given the files of each."""
    text = parsed[0]
    name, config, revision = parsed.groups()
    files = [file for paths in splits.values() for file in sorted(paths)]
    url = f"hf://datasets/{name}@{commit}"
    if not _all_parquet(files):
        if revision and commit != _commit(name, None, source_name=text):
            raise SourceError(
                f"{text} is not stored as Parquet, and the Hub converts only the main branch; download and convert it."
            )
        commit = _commit(name, _CONVERTED, source_name=text)
        url = f"hf://datasets/{name}@{commit}"
        converted = [BucketFolder(url).glob(f"{config_name}/{split}/*.parquet") for split in splits]
        files = [file for paths in converted for file in sorted(paths)]
        if not all(converted) or not files:
            raise SourceError(f"{text} {_NOT_CONVERTED}")
    description = f"{name}{f':{config}' if config else ''}@{commit}"
    # A file's path in its repository, from such a path or a URL with any spelling of the revision.
    prefix = r"^.*?datasets/(?:[^/@]+/)?[^/@]+@(?:refs/convert/parquet|[^/]+)/"
    names = [re.sub(prefix, "", file) for file in files]
    return ParquetSource(
        names,
        folder=BucketFolder(url),
        kind="Parquet file",
        description=description,
        splits=tuple(splits),
        max_rows=max_rows,
    )


def pinned(url: str) -> str:
    """Pin the URL of a dataset's files to the current commit of its revision; other URLs are unchanged.

    So all files are of one commit, even if somebody pushes others, and no cached listing is used.

    Raises:
        SourceError: The Hub cannot be reached, or does not show such a dataset or revision.
    """
    if not (match := _FILES_URL.fullmatch(url)):
        return url
    name, revision, rest = match.groups()
    commit = _commit(name, unquote(revision) if revision else None, source_name=url)
    return f"hf://datasets/{name}@{commit}{rest}"


def _commit(name: str, revision: str | None, *, source_name: str) -> str:
    """The commit that a revision names now. This request comes first because it fails at once offline."""
    from huggingface_hub import HfApi, errors

    try:
        info = HfApi().dataset_info(name, revision=revision, timeout=_TIMEOUT_SECONDS)
        if info.gated:  # its description is public, its files are not
            HfApi().auth_check(name, repo_type="dataset")
        return str(info.sha)
    except errors.GatedRepoError:
        problem = f"{source_name} asks for an agreement; accept it on the Hub and log in with `hf auth login`."
    except errors.RevisionNotFoundError:
        problem = f"The Hub has no revision {revision!r} of {source_name}; check the revision."
        if revision == _CONVERTED:
            problem = f"{source_name} {_NOT_CONVERTED}"
    except (errors.RepositoryNotFoundError, errors.HFValidationError):
        problem = f"{source_name} is no local file or folder, and the Hub has no dataset of that name; check the name."
    except Exception as error:  # whatever the HTTP library raises
        problem = (
            f"{source_name} is no local file or folder, and the Hugging Face Hub cannot be reached "
            f"({first_line(error)}); check the name or the network, or download the dataset first."
        )
    raise SourceError(problem)


def _data_files(
    name: str, *, source_name: str, config: str | None = None, revision: str | None = None
) -> tuple[dict[str, list[str]], str]:
    """The data files of each split and the configuration, as `datasets` resolves them; no code is run."""
    import datasets

    with _resolving(source_name) as cache:
        builder = datasets.load_dataset_builder(name, name=config, revision=revision, cache_dir=cache)
    files_by_split = builder.config.data_files or {}
    splits = {str(key): [str(file) for file in files] for key, files in files_by_split.items()}
    return splits, str(builder.config.name)


@contextlib.contextmanager
def _resolving(source_name: str) -> Iterator[str]:
    """Yield a folder for the cache of `datasets`, and turn what it raises into a SourceError."""
    with tempfile.TemporaryDirectory() as cache, _quiet():
        try:
            yield cache
        except Exception as error:  # ValueError, OSError, errors of YAML and of the HTTP library
            reason = " ".join(str(error).partition("Example of usage")[0].split())[:300].rstrip(".")
            raise SourceError(f"{source_name} cannot be opened as a dataset: {reason}.") from None


def _all_parquet(files: list[str]) -> bool:
    return bool(files) and all(file.lower().endswith(".parquet") for file in files)


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Silence the warnings of libraries."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(before)
