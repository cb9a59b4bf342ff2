"""Expansion of globs and braces to sorted file names under one root."""

import itertools
import math
import re
from collections.abc import Collection, Iterator
from pathlib import PurePosixPath

from vcrgen.core.errors import SourceError
from vcrgen.core.storage import Folder, open_folder, remote_url

_BRACES = re.compile(r"\{([^{}]*)\}")
_RANGE = re.compile(r"(\d{1,18})\.\.(\d{1,18})")
_WILD = re.compile(r"[*?\[{]")
_MAX_FILES = 200_000


def is_pattern(text: str) -> bool:
    """Return True if a text holds wildcards or braces."""
    return _WILD.search(text) is not None


def find_files(pattern: str) -> tuple[Folder, list[str]]:
    """Expand braces and wildcards: the folder before the first wildcard, and the sorted names below it.

    The folder does not depend on what matches.

    Raises:
        SourceError: Nothing matches, or a file that braces spell out is missing.
        OSError: A folder or object store cannot be read.
    """
    fixed, slash, _ = _WILD.split(pattern, maxsplit=1)[0].rpartition("/")
    if (url := remote_url(pattern)) and remote_url(fixed) is None:
        raise SourceError(f"{url} has a wildcard in the name of its bucket; spell that out.")
    folder = open_folder(fixed or slash or ".")
    names: set[str] = set()
    for path in _expand_braces(pattern):
        name = path[len(fixed + slash) :]
        if _WILD.search(name):
            names.update(folder.glob(name))
        elif folder.size(name) is not None:
            names.add(name)
        else:
            raise SourceError(f"{path} is missing; {pattern} asks for it.")
    if not names:
        raise SourceError(f"No file matches {pattern}.")
    return folder, sorted(PurePosixPath(name).as_posix() for name in names)


def files_with(folder: Folder, suffix: str) -> list[str]:
    """Sorted names of the visible files with a suffix in a folder or, failing those, in its ``data``."""
    for place, inside in (("", folder), ("data/", folder.subfolder("data"))):
        visible = [name for name in inside.entries() if not name.startswith((".", "_"))]
        there = {PurePosixPath(name) for name in visible}
        of_suffix = [name for name in visible if PurePosixPath(name).suffix.lower() == suffix]
        of_suffix = [name for name in of_suffix if not is_log(PurePosixPath(name), there)]
        if names := [place + name for name in of_suffix if inside.size(name) is not None]:
            return names
    return []


def is_log(path: PurePosixPath, there: Collection[PurePosixPath]) -> bool:
    """Return True for a Parquet file that img2dataset has written beside a shard or folder of that name."""
    numbered = path.suffix == ".parquet" and path.stem.isdecimal()
    return numbered and (path.with_suffix(".tar") in there or path.with_suffix("") in there)


def _expand_braces(pattern: str) -> list[str]:
    """``a-{00..12}.tar`` and ``{a,b}.tar`` as a shell expands them; other braces stay as they are."""
    pieces = [list(_alternatives(piece)) for piece in re.split(r"(\{[^{}]*\})", pattern)]
    if math.prod(map(len, pieces)) > _MAX_FILES:
        raise SourceError(f"{pattern} spells out more than {_MAX_FILES} files.")
    return ["".join(parts) for parts in itertools.product(*pieces)]


def _alternatives(piece: str) -> Iterator[str]:
    braces = _BRACES.fullmatch(piece)
    numbers = _RANGE.fullmatch(braces[1]) if braces else None
    if numbers:
        width = len(numbers[1]) if numbers[1].startswith("0") else 0
        low, high = int(numbers[1]), int(numbers[2])
        # One more than allowed, so that the count is seen to be too large without being written out.
        yield from (f"{number:0{width}d}" for number in range(low, min(high, low + _MAX_FILES) + 1))
    elif braces and "," in braces[1]:
        yield from braces[1].split(",")
    else:
        yield piece
