"""From what the user wrote (a file, a glob, braces, a folder) to sorted file names under one root."""

import glob
import itertools
import os
import re
from collections.abc import Iterator
from pathlib import Path

from vcrgen.errors import SourceError

_BRACES = re.compile(r"\{([^{}]*)\}")
_RANGE = re.compile(r"(\d{1,18})\.\.(\d{1,18})")
_WILD = re.compile(r"[*?\[{]")
_MAX_FILES = 200_000


def is_pattern(text: str) -> bool:
    """Whether a text holds wildcards or braces."""
    return _WILD.search(text) is not None


def find_files(pattern: str) -> tuple[Path, list[str]]:
    """Expand braces and wildcards.

    Returns:
        The folder before the first wildcard, which does not depend on what matches; the sorted names below
        it.

    Raises:
        SourceError: Nothing matches, or a file that braces spell out is missing.
    """
    fixed, slash, _ = _WILD.split(pattern, maxsplit=1)[0].rpartition("/")
    root = Path(fixed or slash or ".")
    found: set[str] = set()
    for path in _expand_braces(pattern):
        if _WILD.search(path):
            # Path.glob takes no absolute pattern.
            found_here = glob.glob(path, recursive=True)  # noqa: PTH207
            matching = [match for match in found_here if Path(match).is_file()]
        elif Path(path).is_file():
            matching = [path]
        else:
            raise SourceError(f"{path} is missing; {pattern} asks for it.")
        found.update(matching)
    if not found:
        raise SourceError(f"No file matches {pattern}.")
    return root, sorted(Path(os.path.relpath(path, root)).as_posix() for path in found)


def files_with(folder: Path, suffix: str) -> list[str]:
    """Sorted names of the visible files with a suffix in a folder or, failing those, in its ``data``."""
    for place in ("", "data/"):
        inside = folder / place
        if inside.is_dir():
            entries = [entry for entry in inside.iterdir() if entry.suffix.lower() == suffix and entry.is_file()]
            if names := sorted(place + entry.name for entry in entries if not entry.name.startswith((".", "_"))):
                return names
    return []


def _expand_braces(pattern: str) -> list[str]:
    """``a-{00..12}.tar`` and ``{a,b}.tar`` as a shell expands them; other braces stay as they are."""
    pieces = [list(_alternatives(piece)) for piece in re.split(r"(\{[^{}]*\})", pattern)]
    count = 1
    for options in pieces:
        count *= len(options)
    if count > _MAX_FILES:
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
