"""Columns of a source, and conversion of rows to items."""

import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from vcrgen.builder.options import BuildConfig
from vcrgen.builder.sources.base import PROBLEM, ColumnPath, Partition, Row, Source
from vcrgen.builder.sources.images import image_bytes
from vcrgen.core.errors import ImageProblem, SourceError
from vcrgen.core.records import Item

# Id columns, by priority, if the configuration names none.
ID_COLUMNS = ("id", "question_id", "__key__", "item_id")
# Alternative names in image folders and in Wikipedia's tables.
_OTHER_NAMES = {"image": "file_name", "lang": "language"}
_MAX_ID = 200
_MAX_LISTS = 8
_MAX_SHOWN = 20

_Place = tuple[int, ...]  # positions in the lists on the way to a value


class Columns(NamedTuple):
    """The configuration's columns and conditions, resolved against the source."""

    image: ColumnPath
    caption: ColumnPath
    id: ColumnPath | None
    where: tuple[tuple[ColumnPath, str], ...]


def check_columns(source: Source, config: BuildConfig, *, caption: str = "caption") -> Columns:
    """Resolve the configuration's names against the source's columns.

    A name is a dotted path from the top (lists on the way are not named) or, where there is no such path, the
    end of exactly one path: ``language`` finds ``wit_features.language``.

    Raises:
        SourceError: A name is not there, or could be one of several.
    """
    names = source.names()

    find = partial(_resolve, names=names, description=source.description)
    conditions = [condition.partition("=") for condition in config.where]
    own_id = next(((name,) for name in ID_COLUMNS if (name,) in names), None)
    return Columns(
        image=find(config.image_column, use="image"),
        caption=find(config.caption_column, use=caption),
        id=find(config.id_column, use="id") if config.id_column is not None else own_id,
        where=tuple((find(path.strip(), use="condition"), value) for path, _, value in conditions),
    )


def iter_items(source: Source, config: BuildConfig, index: int, start: int, stop: int) -> Iterator[Item]:
    """Stream the items of rows ``start`` to ``stop``; rows that do not meet the conditions are skipped.

    An item's id and content do not depend on the window.

    Raises:
        SourceError: A column is not there, or the file cannot be read.
    """
    return (item for item in items_at(source, config, index, range(start, stop)) if item is not None)


def items_at(source: Source, config: BuildConfig, index: int, numbers: Sequence[int]) -> Iterator[Item | None]:
    """Stream the items of rows with these ascending numbers; None for rows that do not meet the conditions."""
    columns = check_columns(source, config)
    name = source.partitions()[index].name
    folder = source.root / PurePosixPath(name).parent if source.root else None
    paths = [columns.image, columns.caption, *filter(None, [columns.id]), *(path for path, _ in columns.where)]
    rows = source.rows(index, numbers, frozenset(path[0] for path in paths))
    for row, number in zip(rows, numbers, strict=False):
        yield read_item(row, columns, root=folder, row_id=f"{name}#{number}")


class CaptionRow(NamedTuple):
    """Caption and id of a row whose image is not read."""

    number: int
    source_id: str
    caption: str


def iter_captions(source: Source, config: BuildConfig, index: int, stop: int) -> Iterator[CaptionRow]:
    """Stream captions and ids of the rows before ``stop``, without images.

    Unreadable rows and rows that do not meet the conditions are skipped; a missing caption is empty.

    Raises:
        SourceError: A column is not there, or the file cannot be read.
    """
    columns = check_columns(source, config)
    name = source.partitions()[index].name
    paths = [columns.caption, *filter(None, [columns.id]), *(path for path, _ in columns.where)]
    for number, row in enumerate(source.rows(index, range(stop), frozenset(path[0] for path in paths))):
        if PROBLEM not in row and (places := _matching_places(row, columns)) is not None:
            caption, _ = _text(_first(row, columns.caption, places))
            yield CaptionRow(number, _id_of(row, columns, places, f"{name}#{number}"), caption or "")


def matching_rows(source: Source, config: BuildConfig, index: int) -> Iterator[int]:
    """Yield the numbers of the rows that `iter_items` yields, without reading images."""
    columns = check_columns(source, config)
    needed = frozenset(path[0] for path, _ in columns.where)
    for number, row in enumerate(source.rows(index, range(source.partitions()[index].rows), needed)):
        # A row that cannot be read counts: it is rejected with its reason, not skipped.
        if PROBLEM in row or _matching_places(row, columns) is not None:
            yield number


def limit_partitions(source: Source, config: BuildConfig) -> list[Partition]:
    """Return the partitions up to the last of the first ``config.limit`` items.

    With a limit of 70, two partitions of 60 rows become one of 60 and one of 10; conditions make them longer.
    """
    remaining = config.limit
    limited: list[Partition] = []
    for index, partition in enumerate(source.partitions()):
        rows = found = partition.rows
        if remaining is not None and config.where:
            found = 0
            for number in islice(matching_rows(source, config, index), remaining):
                found += 1
                rows = number + 1
            rows = rows if found == remaining else partition.rows
        elif remaining is not None:
            rows = found = min(partition.rows, remaining)
        limited.append(replace(partition, rows=rows))
        if remaining is not None:
            remaining -= found
            if not remaining:
                break
    return limited


def read_item(row: Row, columns: Columns, *, root: Path | None, row_id: str) -> Item | None:
    """Convert a row to an item; None if it does not meet the conditions.

    If conditions and the caption are in the same lists (``wit_features`` as a list of structs or as a struct of lists),
    the caption is the first non-empty one of an element that meets the conditions.

    Image paths are relative to ``root`` and may not leave it; ``row_id`` is the id of a row without one.
    """
    if PROBLEM in row:
        return Item(source_id=clean_id(row_id), image=None, caption=None, problem=str(row[PROBLEM]))
    places = _matching_places(row, columns)
    if places is None:
        return None
    image, problem = None, ""
    try:
        image = image_bytes(_first(row, columns.image, places), root=root)
    except ImageProblem as error:
        problem = error.detail
    caption, caption_problem = _text(_first(row, columns.caption, places))
    return Item(
        source_id=_id_of(row, columns, places, row_id),
        image=image,
        caption=caption,
        problem=problem or caption_problem,
    )


def _id_of(row: Row, columns: Columns, places: dict[str, list[_Place]], row_id: str) -> str:
    own_id = _first(row, columns.id, places) if columns.id else None
    named = isinstance(own_id, str | int | float)
    return (clean_id(str(own_id)) if named else "") or clean_id(row_id)


def clean_id(text: str) -> str:
    """Return an id without control characters and lone surrogates, of at most 200 characters."""
    return "".join(letter for letter in text[: 4 * _MAX_ID] if letter.isprintable()).strip()[:_MAX_ID]


def _resolve(name: str, *, use: str, names: Sequence[ColumnPath], description: str) -> ColumnPath:
    by_name = {".".join(path): path for path in reversed(names)}
    for candidate in (name, _OTHER_NAMES.get(name, name)):
        if candidate in by_name:
            return by_name[candidate]
        matches = [path for dotted, path in by_name.items() if dotted.endswith(f".{candidate}")]
        if len(matches) == 1:
            return matches[0]
        if matches:
            options = " or ".join(sorted(".".join(path) for path in matches)[:_MAX_SHOWN])
            raise SourceError(f"The {use} column {name!r} of {description} is not clear; write {options}.")
    columns = [shown[:80] for path in names if (shown := ".".join(path)).isprintable()]
    near = difflib.get_close_matches(name, columns, n=1)
    hint = f"; the nearest name is {near[0]!r}" if near else ""
    ellipsis = ", ..." if len(columns) > _MAX_SHOWN else ""
    listed = ", ".join(columns[:_MAX_SHOWN]) + ellipsis if columns else "nothing readable"
    raise SourceError(f"The {use} column {name!r} is not in {description}{hint}. Known: {listed}.")


def _leaves(value: Any, path: ColumnPath, place: _Place = ()) -> Iterator[tuple[_Place, Any]]:
    """Yield the values at a path, each with its positions in the lists on the way."""
    if isinstance(value, list):
        if len(place) < _MAX_LISTS:
            for index, element in enumerate(value):
                yield from _leaves(element, path, (*place, index))
    elif not path:
        yield place, value
    elif isinstance(value, Mapping):
        yield from _leaves(value.get(path[0]), path[1:], place)


def _matching_places(row: Row, columns: Columns) -> dict[str, list[_Place]] | None:
    """Return the places in which all conditions on a column hold; None if one of them holds nowhere."""
    matched: dict[str, list[_Place]] = {}
    for path, wanted in columns.where:
        found = [place for place, leaf in _leaves(row, path) if leaf is not None and str(leaf) == wanted]
        if path[0] in matched:
            pairs = ((place, other) for place in found for other in matched[path[0]])
            found = [max(place, other, key=len) for place, other in pairs if _aligned(place, other)]
        if not found:
            return None
        matched[path[0]] = found
    return matched


def _aligned(place: _Place, other: _Place) -> bool:
    """Return True if two places agree in the list positions that both have."""
    return all(mine == theirs for mine, theirs in zip(place, other, strict=False))


def _first(row: Row, path: ColumnPath, places: Mapping[str, list[_Place]]) -> Any:
    """Return the first non-empty value at a path in an element that meets the conditions."""
    matched = places.get(path[0])
    for place, leaf in _leaves(row, path):
        empty = leaf is None or leaf == b"" or (isinstance(leaf, str) and not leaf.strip())
        if not empty and (matched is None or any(_aligned(place, other) for other in matched)):
            return leaf
    return None


def _text(value: Any) -> tuple[str | None, str]:
    """Return a caption, or its problem."""
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
