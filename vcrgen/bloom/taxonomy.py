"""A taxonomy: which leaves there are, each named by its whole path ``level/subcategory/leaf``.

The default has the 106 leaves of BloomBench (arXiv 2606.05531), in ``taxonomy.csv`` beside this file. Another tree is a
CSV with the same three columns. Names are compared in small letters; leaf names alone are not unique: ``texture`` is
there three times.
"""

import csv
import io
import re
from collections import Counter
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Self

from vcrgen.errors import ConfigError
from vcrgen.reading import check_file_size

COLUMNS = ("level", "subcategory", "leaf")
MAX_BYTES = 4 << 20
MAX_LEAVES = 10_000
MAX_NAME = 80  # characters
# Names as the paper, its counts and its repository also print them.
_ALIASES = {
    "newletter": "newsletter",
    "commonsense reasooning": "commonsense reasoning",
    "visual stroytelling": "visual storytelling",
    "harm & safety": "harm & safety evaluation",
    "quality": "quality evaluation",
}


@dataclass(frozen=True, slots=True)
class Taxonomy:
    """Leaves in a fixed order, and the levels in the order in which they come first."""

    paths: tuple[str, ...]  # ``level/subcategory/leaf``

    @property
    def levels(self) -> tuple[str, ...]:
        """The first parts of the paths."""
        return tuple(dict.fromkeys(path.partition("/")[0] for path in self.paths))

    @property
    def text(self) -> str:
        """The CSV that :meth:`parse` reads."""
        buffer = io.StringIO()
        writer = csv.writer(buffer, lineterminator="\n")
        writer.writerows([COLUMNS, *(path.split("/") for path in self.paths)])
        return buffer.getvalue()

    def find(self, *names: str) -> str | None:
        """The path that some names mean, from the level to the leaf; None if there is none, or more than one.

        ``find("Create", "Poem")`` is ``create/creative generation/poem``, and so is ``find("poem")``, but
        ``find("texture")`` is None: three leaves have that name.
        """
        index, given = _index(self), [name for name in names if name.strip()]
        return index.get(tuple(map(_plain, given))) or index.get(tuple(map(_folded, given)))

    @classmethod
    def parse(cls, text: str, place: str) -> Self:
        """The taxonomy in a CSV with the columns level, subcategory and leaf; other columns are passed over.

        Raises:
            ConfigError: It is none; the message opens with ``place``.
        """
        try:
            reader = csv.DictReader(io.StringIO(text), strict=True)
            lacks = not {*COLUMNS} <= {*(reader.fieldnames or ())}
            rows = list(reader)
        except csv.Error:
            raise ConfigError(f"{place} is no CSV; it needs the columns {', '.join(COLUMNS)}.") from None
        if lacks:
            raise ConfigError(f"{place} needs the columns {', '.join(COLUMNS)} in its first line, with commas between.")
        paths = []
        for number, row in enumerate(rows, start=2):
            names = [_plain(row.get(column) or "") for column in COLUMNS]
            if not all(0 < len(name) <= MAX_NAME and name.isprintable() and "/" not in name for name in names):
                raise ConfigError(
                    f"{place}, line {number}: needs a level, a subcategory and a leaf, each of 1 to {MAX_NAME} "
                    "characters without a slash."
                )
            paths.append("/".join(names))
        if not 0 < len(paths) <= MAX_LEAVES:
            raise ConfigError(f"{place} lists {len(paths):,} leaves; from 1 to {MAX_LEAVES:,} can be there.")
        if twice := next((path for path, count in Counter(paths).items() if count > 1), None):
            raise ConfigError(f"{place} lists the leaf {twice!r} twice; once is enough.")
        return cls(tuple(paths))


@cache
def _index(taxonomy: Taxonomy) -> dict[tuple[str, ...], str]:
    """What a path may be found by: all of it, or level and leaf, or the leaf, where these mean one path only."""
    folded = [(tuple(map(_folded, path.split("/"))), path) for path in taxonomy.paths]
    found: dict[tuple[str, ...], str] = {}
    for short in (lambda parts: parts, lambda parts: (parts[0], parts[2]), lambda parts: parts[2:]):
        counts = Counter(short(parts) for parts, _ in folded)
        found |= {short(parts): path for parts, path in folded if counts[short(parts)] == 1}
    # In a tree of somebody's own, two leaves may have names that fold to one; each is found by its own.
    return found | {tuple(path.split("/")): path for path in taxonomy.paths}


def _plain(name: str) -> str:
    """A name as paths hold it: small letters, single spaces."""
    return " ".join(name.lower().split())


def _folded(name: str) -> str:
    """What names are compared by: "and" and a hyphen between words are ``&``, and a misprint is what it stands for."""
    plain = re.sub(r" (?:-|and) ", " & ", _plain(name))
    return _ALIASES.get(plain, plain)


@cache
def default_taxonomy() -> Taxonomy:
    """The 106 leaves of BloomBench."""
    return Taxonomy.parse((files("vcrgen.bloom") / "taxonomy.csv").read_text("utf-8"), "The built-in taxonomy")


def load_taxonomy(file: Path | None) -> Taxonomy:
    """The taxonomy of a file, or the default where none is named.

    Raises:
        ConfigError: The file cannot be read, or is no taxonomy.
    """
    if file is None:
        return default_taxonomy()
    check_file_size(file, MAX_BYTES, "it is no taxonomy", ConfigError)
    try:
        return Taxonomy.parse(file.read_text("utf-8-sig"), str(file))
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "not UTF-8 text"
        raise ConfigError(f"{file} cannot be read: {why}.") from None
