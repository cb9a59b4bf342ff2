"""Taxonomies: trees of categories, each named by its whole path ``level/subcategory/leaf``.

The default has the 106 categories of BloomBench (arXiv 2606.05531), in ``taxonomy.csv`` beside this file. Another tree
is a CSV with the same three columns. Names are compared in small letters; category names alone are not unique:
``texture`` is there three times.
"""

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Self

from vcrgen.core.errors import ConfigError
from vcrgen.core.reading import check_file_size, name_cells, parse_csv_cells, read_csv

COLUMNS = ("level", "subcategory", "leaf")
MAX_BYTES = 4 << 20
MAX_CATEGORIES = 10_000
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
    """Categories in a fixed order, and the levels in the order in which they come first."""

    paths: tuple[str, ...]  # ``level/subcategory/leaf``

    @property
    def levels(self) -> tuple[str, ...]:
        """The first parts of the paths."""
        return tuple(dict.fromkeys(path.partition("/")[0] for path in self.paths))

    @property
    def text(self) -> str:
        """The CSV that `parse` reads."""
        buffer = io.StringIO()
        writer = csv.writer(buffer, lineterminator="\n")
        writer.writerows([COLUMNS, *(path.split("/") for path in self.paths)])
        return buffer.getvalue()

    def find(self, *names: str) -> str | None:
        """The path that names mean, from the level or the subcategory to the category.

        None if there is none, or more than one.

        ``find("Create", "Poem")`` is ``create/creative generation/poem``, and so is ``find("poem")``, but
        ``find("texture")`` is None: three categories have that name.
        """
        index, given = _index(self), [name for name in names if name.strip()]
        return index.get(tuple(map(_normalized, given))) or index.get(tuple(map(_folded, given)))

    def resolve(self, names: Sequence[str]) -> str | None:
        """The path of names that may have further steps between the level and the category.

        Some trees have steps of which the last or the first ones are those of the taxonomy: ``Remember``,
        ``Recognition``, ``Object Recognition``, ``Attribute Recognition``, ``Color``.
        """
        given = [name for name in names if name.strip()]
        ends = given[:1] + given[-2:], given[:2] + given[-1:], given[:1] + given[-1:], given[-2:]
        choices = [given, given[-3:], *(ends if len(given) > 1 else ())]
        return next((path for some in choices if some and (path := self.find(*some))), None)

    @classmethod
    def parse(cls, text: str, place: str) -> Self:
        """Parse a CSV with the columns level, subcategory and leaf; other columns are ignored.

        Raises:
            ConfigError: It is not valid; the message opens with ``place``.
        """
        rows = parse_csv_cells(io.StringIO(text, newline=""), place, ConfigError)
        return cls.of_rows(name_cells(rows, place, ConfigError, required=COLUMNS), place)

    @classmethod
    def of_rows(cls, rows: Iterable[tuple[int, Mapping[str, str]]], place: str) -> Self:
        """The taxonomy of numbered rows; errors as of `parse`."""
        paths = []
        for number, row in rows:
            names = [_normalized(row[column]) for column in COLUMNS]
            if not all(0 < len(name) <= MAX_NAME and name.isprintable() and "/" not in name for name in names):
                raise ConfigError(
                    f"{place}, line {number}: needs a level, a subcategory and a leaf, each of 1 to {MAX_NAME} "
                    "characters without a slash."
                )
            paths.append("/".join(names))
        if not 0 < len(paths) <= MAX_CATEGORIES:
            raise ConfigError(f"{place} lists {len(paths):,} categories; from 1 to {MAX_CATEGORIES:,} can be there.")
        if twice := next((path for path, count in Counter(paths).items() if count > 1), None):
            raise ConfigError(f"{place} lists the category {twice!r} twice; once is enough.")
        return cls(tuple(paths))


@cache
def _index(taxonomy: Taxonomy) -> dict[tuple[str, ...], str]:
    """The keys by which a path is found: all of it, or the category alone or behind one name, if unambiguous."""
    folded = [(tuple(map(_folded, path.split("/"))), path) for path in taxonomy.paths]
    keys: dict[tuple[str, ...], str] = {}
    for short in (
        lambda parts: parts,
        lambda parts: parts[1:],
        lambda parts: (parts[0], parts[2]),
        lambda parts: parts[2:],
    ):
        counts = Counter(short(parts) for parts, _ in folded)
        keys |= {short(parts): path for parts, path in folded if counts[short(parts)] == 1}
    # In a tree of somebody's own, two categories may have names that fold to one; each is found by its own.
    return keys | {tuple(path.split("/")): path for path in taxonomy.paths}


def _normalized(name: str) -> str:
    """Return a name as in paths: small letters, single spaces."""
    return " ".join(name.lower().split())


def _folded(name: str) -> str:
    """Return a name for comparison: "and" and a hyphen between words are ``&``, misprints are corrected."""
    plain = re.sub(r" (?:-|and) ", " & ", _normalized(name))
    return _ALIASES.get(plain, plain)


@cache
def default_taxonomy() -> Taxonomy:
    """The 106 categories of BloomBench."""
    return Taxonomy.parse((files("vcrgen.bloom") / "taxonomy.csv").read_text("utf-8"), "The built-in taxonomy")


def load_taxonomy(file: Path | None) -> Taxonomy:
    """Read the taxonomy of a file, or return the default without one.

    Raises:
        ConfigError: The file cannot be read, or is no taxonomy.
    """
    if file is None:
        return default_taxonomy()
    check_file_size(file, MAX_BYTES, "it is no taxonomy", ConfigError)
    return Taxonomy.of_rows(read_csv(file, ConfigError, required=COLUMNS), str(file))
