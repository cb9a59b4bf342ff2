"""From a row to an item: which columns are meant, and what they hold."""

import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vcrgen.builder.sources.base import PROBLEM, ColumnPath, Row, Source
from vcrgen.builder.sources.images import ImageProblem, image_bytes
from vcrgen.config import BuildConfig
from vcrgen.errors import SourceError
from vcrgen.records import Item

ID_COLUMNS = ("id", "question_id", "__key__", "item_id")
"""Taken as the id, in this order, where the configuration names none."""

_OTHER_NAMES = {"image": "file_name", "lang": "language"}
"""A name that is looked for where the first one is not there: image folders, and Wikipedia's tables."""
_MAX_ID = 200
_MAX_LISTS = 8
_MAX_SHOWN = 20

_Place = tuple[int, ...]
"""Positions in the lists on the way to a value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """The configuration's columns and conditions, resolved against what the source has."""

    image: ColumnPath
    caption: ColumnPath
    id: ColumnPath | None
    where: tuple[tuple[ColumnPath, str], ...]

    @property
    def condition_columns(self) -> frozenset[str]:
        """Top-level columns that decide whether a row is used."""
        return frozenset(path[0] for path, _ in self.where)

    @property
    def needed(self) -> frozenset[str]:
        """Top-level columns that an item is made of."""
        own = [self.image[0], self.caption[0], *([self.id[0]] if self.id else [])]
        return self.condition_columns.union(own)


def check_columns(source: Source, config: BuildConfig) -> Columns:
    """Resolve the configuration's names against the source's columns.

    A name is a dotted path from the top (lists on the way are not named) or, where there is no such path, the
    end of exactly one path: ``language`` finds ``wit_features.language``.

    Raises:
        SourceError: A name is not there, or could be one of several.
    """
    names = source.names()

    def find(name: str, use: str) -> ColumnPath:
        return _resolve(name, names, use=use, description=source.description)

    conditions = [condition.partition("=") for condition in config.where]
    own_id = next(((name,) for name in ID_COLUMNS if (name,) in names), None)
    return Columns(
        image=find(config.image_column, "image"),
        caption=find(config.caption_column, "caption"),
        id=find(config.id_column, "id") if config.id_column is not None else own_id,
        where=tuple((find(path.strip(), "condition"), value) for path, _, value in conditions),
    )


def needed_columns(source: Source, config: BuildConfig) -> frozenset[str]:
    """The top-level columns that items are made of."""
    return check_columns(source, config).needed


def matches(row: Row, columns: Columns) -> bool:
    """Whether a row gives an item: it meets all conditions, or cannot be read, which must not go unseen."""
    return PROBLEM in row or _matching_places(row, columns) is not None


def read_item(row: Row, columns: Columns, *, root: Path | None, row_id: str) -> Item | None:
    """Make an item of a row.

    Where conditions and the caption lie in the same lists (``wit_features`` as a list of structs or as a
    struct of lists), the caption is that of an element that meets the conditions: the first one whose caption
    is not empty.

    Args:
        row: As a source gives it.
        columns: From :func:`check_columns`.
        root: The folder that image paths are relative to and may not leave.
        row_id: The id for a row that has none.

    Returns:
        The item, or None where the row does not meet the conditions.
    """
    if PROBLEM in row:
        return Item(source_id=clean_id(row_id), image=None, caption=None, problem=str(row[PROBLEM]))
    places = _matching_places(row, columns)
    if places is None:
        return None
    own_id = _first(row, columns.id, places) if columns.id else None
    named = isinstance(own_id, str | int | float)
    image, problem = None, ""
    try:
        image = image_bytes(_first(row, columns.image, places), root=root)
    except ImageProblem as error:
        problem = str(error)
    caption, caption_problem = _text(_first(row, columns.caption, places))
    return Item(
        source_id=(clean_id(str(own_id)) if named else "") or clean_id(row_id),
        image=image,
        caption=caption,
        problem=problem or caption_problem,
    )


def clean_id(text: str) -> str:
    """An id without control characters and lone surrogates, of at most 200 characters."""
    return "".join(letter for letter in text[: 4 * _MAX_ID] if letter.isprintable()).strip()[:_MAX_ID]


def _resolve(name: str, names: Sequence[ColumnPath], *, use: str, description: str) -> ColumnPath:
    by_name = {".".join(path): path for path in reversed(names)}
    for wanted in (name, _OTHER_NAMES.get(name, name)):
        if wanted in by_name:
            return by_name[wanted]
        ends = [path for dotted, path in by_name.items() if dotted.endswith(f".{wanted}")]
        if len(ends) == 1:
            return ends[0]
        if ends:
            options = " or ".join(sorted(".".join(path) for path in ends)[:_MAX_SHOWN])
            raise SourceError(f"The {use} column {name!r} of {description} is not clear; write {options}.")
    known = [shown[:80] for path in names if (shown := ".".join(path)).isprintable()]
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.0)
    hint = f"; the nearest name is {near[0]!r}" if near else ""
    more = ", ..." if len(known) > _MAX_SHOWN else ""
    listed = ", ".join(known[:_MAX_SHOWN]) + more if known else "nothing readable"
    raise SourceError(f"The {use} column {name!r} is not in {description}{hint}. Known: {listed}.")


def _leaves(value: Any, path: ColumnPath, place: _Place = ()) -> Iterator[tuple[_Place, Any]]:
    """The values at the end of a path, each with its positions in the lists on the way."""
    if isinstance(value, list):
        if len(place) < _MAX_LISTS:
            for index, element in enumerate(value):
                yield from _leaves(element, path, (*place, index))
    elif not path:
        yield place, value
    elif isinstance(value, Mapping):
        yield from _leaves(value.get(path[0]), path[1:], place)


def _matching_places(row: Row, columns: Columns) -> dict[str, list[_Place]] | None:
    """For every column with conditions, where all of them hold; None if one of them holds nowhere."""
    kept: dict[str, list[_Place]] = {}
    for path, wanted in columns.where:
        found = [place for place, leaf in _leaves(row, path) if leaf is not None and str(leaf) == wanted]
        if path[0] in kept:
            pairs = ((place, other) for place in found for other in kept[path[0]])
            found = [max(place, other, key=len) for place, other in pairs if _aligned(place, other)]
        if not found:
            return None
        kept[path[0]] = found
    return kept


def _aligned(place: _Place, other: _Place) -> bool:
    """Whether two places are the same element, as far as both are inside of lists."""
    return all(mine == theirs for mine, theirs in zip(place, other, strict=False))


def _first(row: Row, path: ColumnPath, places: Mapping[str, list[_Place]]) -> Any:
    """The first value at a path that is not empty and is in an element that meets the conditions."""
    kept = places.get(path[0])
    for place, leaf in _leaves(row, path):
        empty = leaf is None or leaf == b"" or (isinstance(leaf, str) and not leaf.strip())
        if not empty and (kept is None or any(_aligned(place, other) for other in kept)):
            return leaf
    return None


def _text(value: Any) -> tuple[str | None, str]:
    """A caption, or what is wrong with it."""
    try:
        if isinstance(value, bytes):
            return value.decode("utf-8"), ""
        if isinstance(value, str):
            value.encode("utf-8")
            return value, ""
    except UnicodeError:
        return None, "the caption is not valid Unicode text"
    if value is None or isinstance(value, int | float):
        return (None if value is None else str(value)), ""
    return None, f"the caption column holds a value of type {type(value).__name__}"
