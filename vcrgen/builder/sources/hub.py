"""Datasets of the Hugging Face Hub, read by range, and local folders with the same layout."""

import contextlib
import logging
import os
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

from vcrgen.builder.sources.arrow import ParquetSource
from vcrgen.builder.sources.base import first_line
from vcrgen.errors import SourceError
from vcrgen.storage import BucketFolder, DiskFolder

# org/name, org/name:config, org/name@revision, org/name:config@revision.
HUB_ID = re.compile(r"((?:[\w.-]+/)?[\w.-]+)(?::([\w.+-]+))?(?:@([\w./-]+))?")
_FILES_URL = re.compile(r"hf://datasets/([\w.-]+/[\w.-]+)(?:@(refs/(?:convert|pr)/[\w.-]+|[\w.%-]+))?((?:/.*)?)")
_CONVERTED = "refs/convert/parquet"
_NOT_CONVERTED = "is not stored as Parquet, nor converted by the Hub; download and convert it."
_TIMEOUT_SECONDS = 10


def has_hub_layout(folder: Path) -> bool:
    """Whether a folder is laid out like a dataset repository: configured by its README or split by names."""
    readme = folder / "README.md"
    if readme.is_file():
        with readme.open("rb") as handle:
            head = handle.read(1 << 20)
        if head.startswith(b"---") and re.search(rb"^configs:", head, re.MULTILINE):
            return True
    return any(any(place.glob("*-?????-of-?????.parquet")) for place in (folder, folder / "data"))


def open_local(folder: Path, *, split: str, enough: int | None) -> ParquetSource:
    """Open one split of a local folder with a dataset repository's layout.

    Raises:
        SourceError: The split is not there or is not stored as Parquet in the folder.
    """
    files, _ = _data_files(str(folder.resolve()), split=split, shown=str(folder))
    names = [os.path.relpath(file, folder.resolve()) for file in files]
    if any("://" in file or name.startswith("..") for file, name in zip(files, names, strict=True)):
        raise SourceError(f"The README.md of {folder} refers to files outside of the folder, which are not read.")
    if not _all_parquet(names):
        raise SourceError(f"Split {split!r} of {folder} is not stored as Parquet files; convert it, or name its files.")
    names = [Path(name).as_posix() for name in names]
    return ParquetSource(names, folder=DiskFolder(folder), kind="Parquet file", enough=enough)


def open_hub(parsed: re.Match[str], *, split: str, enough: int | None) -> ParquetSource:
    """Open one split of a dataset of the Hub, at the commit its revision names now.

    Nothing is downloaded as a whole. A dataset that is not stored as Parquet is read from the Hub's own
    conversion. ``parsed`` is a match of ``HUB_ID``.

    Raises:
        SourceError: The Hub cannot be reached, or has no such dataset, configuration, split or Parquet files.
    """
    text = parsed[0]
    name, config, revision = parsed.groups()
    commit = _commit(name, revision, shown=text)
    files, chosen = _data_files(name, config=config, revision=commit, split=split, shown=text)
    url = f"hf://datasets/{name}@{commit}"
    if not _all_parquet(files):
        if revision and commit != _commit(name, None, shown=text):
            raise SourceError(
                f"{text} is not stored as Parquet, and the Hub converts only the main branch; download and convert it."
            )
        commit = _commit(name, _CONVERTED, shown=text)
        url = f"hf://datasets/{name}@{commit}"
        files = BucketFolder(url).glob(f"{chosen}/{split}/*.parquet")
        if not files:
            raise SourceError(f"{text} {_NOT_CONVERTED}")
    description = f"{name}{f':{config}' if config else ''}@{commit}, split {split}"
    # A file's path in its repository, from such a path or a URL with any spelling of the revision.
    prefix = r"^.*?datasets/(?:[^/@]+/)?[^/@]+@(?:refs/convert/parquet|[^/]+)/"
    names = [re.sub(prefix, "", file) for file in files]
    return ParquetSource(names, folder=BucketFolder(url), kind="Parquet file", description=description, enough=enough)


def pinned(url: str) -> str:
    """The URL of a dataset's files at the commit that its revision names now; any other URL as it is.

    Files that are read while somebody pushes others are of one commit, and nothing that the Hub's library remembers of
    an earlier one is taken for them.

    Raises:
        SourceError: The Hub cannot be reached, or does not show such a dataset or revision.
    """
    if not (found := _FILES_URL.fullmatch(url)):
        return url
    name, revision, rest = found.groups()
    commit = _commit(name, unquote(revision) if revision else None, shown=url)
    return f"hf://datasets/{name}@{commit}{rest}"


def _commit(name: str, revision: str | None, *, shown: str) -> str:
    """The commit that a revision names now. It is asked for first because, offline, it fails at once."""
    from huggingface_hub import HfApi, errors

    try:
        info = HfApi().dataset_info(name, revision=revision, timeout=_TIMEOUT_SECONDS)
        if info.gated:  # of which the Hub tells everybody, and keeps the files to itself
            HfApi().auth_check(name, repo_type="dataset")
        return str(info.sha)
    except errors.GatedRepoError:
        problem = f"{shown} asks for an agreement; accept it on the Hub and log in with `hf auth login`."
    except errors.RevisionNotFoundError:
        problem = f"The Hub has no revision {revision!r} of {shown}; check the revision."
        if revision == _CONVERTED:
            problem = f"{shown} {_NOT_CONVERTED}"
    except (errors.RepositoryNotFoundError, errors.HFValidationError):
        problem = f"{shown} is no local file or folder, and the Hub has no dataset of that name; check the name."
    except Exception as error:  # whatever the HTTP library raises
        problem = (
            f"{shown} is no local file or folder, and the Hugging Face Hub cannot be reached "
            f"({first_line(error)}); check the name or the network, or download the dataset first."
        )
    raise SourceError(problem)


def _data_files(
    name: str, *, split: str, shown: str, config: str | None = None, revision: str | None = None
) -> tuple[list[str], str]:
    """The data files of a split and the configuration, as `datasets` finds them; no data are read, no code is run."""
    import datasets

    with tempfile.TemporaryDirectory() as cache, _quiet():
        try:
            builder = datasets.load_dataset_builder(name, name=config, revision=revision, cache_dir=cache)
        except Exception as error:  # ValueError, OSError, and what YAML and the HTTP library raise
            reason = " ".join(str(error).partition("Example of usage")[0].split())[:300].rstrip(".")
            raise SourceError(f"{shown} cannot be opened as a dataset: {reason}.") from None
    found = builder.config.data_files or {}
    splits = {str(key): [str(file) for file in files] for key, files in found.items()}
    if split not in splits:
        raise SourceError(f"{shown} has no split {split!r}; it has {', '.join(splits) or 'none'}.")
    return splits[split], str(builder.config.name)


def _all_parquet(files: list[str]) -> bool:
    return bool(files) and all(file.lower().endswith(".parquet") for file in files)


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Keep libraries' warnings, which repeat what the error will say, off the user's screen."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(before)
