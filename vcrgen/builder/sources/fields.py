"""Columns of a source, and conversion of rows to items."""

import difflib
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from functools import partial
from itertools import islice
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from vcrgen.builder.options import BuildConfig
from vcrgen.builder.sources.base import PROBLEM, ColumnPath, Partition, Row, Source
from vcrgen.builder.sources.images import ImageFolders, image_bytes
from vcrgen.core.errors import ImageProblem, SourceError
from vcrgen.core.records import Item

# Id columns, by priority, if the configuration names none.
ID_COLUMNS = ("id", "question_id", "__key__", "item_id")
# Alternative names in image folders and in Wikipedia's tables.
_OTHER_NAMES = {"image": "file_name", "lang": "language"}
_MAX_ID = 200
_MAX_LISTS = 8
_MAX_SHOWN = 20
_VALUE_ROWS, _MAX_VALUES, _MAX_VALUE = 10_000, 8, 40  # of what is there instead of what a condition names
_MAX_CAPTIONS = 1000  # of a row
_FIRST_ROWS = 4
_URL = re.compile(r"\s*https?://", re.IGNORECASE)
_URL_COLUMN = re.compile(r"(?:\w*[_-])?ur[li]s?|\w*image_?link", re.IGNORECASE)
_CAPTION_NAMES = ("caption", "text", "alt", "alt_text", "description", "title")

_Place = tuple[int, ...]  # positions in the lists on the way to a value


class _Leaf(NamedTuple):
    """A value at a path."""

    place: _Place
    depths: tuple[int, ...]  # for each list on the way, the number of fields of the path before it
    value: Any

    @property
    def is_empty(self) -> bool:
        value = self.value
        return value is None or value == b"" or (isinstance(value, str) and not value.strip())


@dataclass(slots=True)
class RowCounts:
    """Counts of rows that were read, and of the captions in them."""

    rows: int = 0
    unmatched: int = 0  # rows that do not meet the conditions
    captions: int = 0  # of the other rows, each of which has at least one, if an empty one
    left_out: int = 0  # captions of these that the choice of captions leaves out

    def add(self, row: "RowItems") -> None:
        """Count one row."""
        self.rows += 1
        self.unmatched += not row.captions
        self.captions += row.captions
        self.left_out += row.captions - len(row.items) if row.captions else 0

    def __add__(self, other: "RowCounts") -> "RowCounts":
        return RowCounts(*map(int.__add__, astuple(self), astuple(other)))

    def check(self, rows: int, *, outcomes: int, place: str) -> None:
        """Raise a SourceError unless all rows were read, and each of their captions is an outcome or left out."""
        if self.rows != rows or self.captions != self.left_out + outcomes:
            raise SourceError(
                f"The sum does not hold in {place}: of {rows} rows, {self.rows} were read and {self.unmatched} do not "
                f"meet the conditions; of {self.captions} captions in the others, {self.left_out} are left out and "
                f"{outcomes} became pairs or rejects. What is finished is kept; run the same command again, and report "
                "this if it comes again."
            )


class RowItems(NamedTuple):
    """What a row gives."""

    items: tuple[Item, ...]  # none if the row does not meet the conditions
    captions: int  # captions in the row, or pictures if these are more; 0 if it does not meet the conditions


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
    url = next((path[0] for path in names if len(path) == 1 and _URL_COLUMN.fullmatch(path[0])), None)
    if url and not any(_is_named(config.image_column, path) for path in names):
        raise SourceError(_list_of_urls(source, url))
    conditions = [condition.partition("=") for condition in config.where]
    own_id = next(((name,) for name in ID_COLUMNS if (name,) in names), None)
    return Columns(
        image=find(config.image_column, use="image"),
        caption=find(config.caption_column, use=caption),
        id=find(config.id_column, use="id") if config.id_column is not None else own_id,
        where=tuple((find(path.strip(), use="condition"), value) for path, _, value in conditions),
    )


def check_first_rows(source: Source, config: BuildConfig) -> None:
    """Check the first rows, so that a build of nothing but rejects ends before it begins.

    Raises:
        SourceError: The images of the first rows are addresses, or stand in other lists than the captions.
    """
    columns = check_columns(source, config)
    index, partition = next(filled for filled in enumerate(source.partitions()) if filled[1].rows)
    paths = columns.image, columns.caption
    images: list[Any] = []
    for row in source.rows(index, range(min(partition.rows, _FIRST_ROWS)), frozenset(path[0] for path in paths)):
        if PROBLEM in row:
            continue
        of_image, of_caption = ([*_leaves(row, path)] for path in paths)
        if problem := _crossed_lists(columns, of_image, of_caption):
            raise SourceError(
                f"In {source.description}, {problem}; name other columns by --column image=... and --column "
                "caption=..., or write one row a picture."
            )
        images += [leaf.value.get("path") if isinstance(leaf.value, Mapping) else leaf.value for leaf in of_image]
    if any(isinstance(image, str) and _URL.match(image) for image in images) and all(
        image is None or (isinstance(image, str) and (_URL.match(image) or not image.strip())) for image in images
    ):
        raise SourceError(_list_of_urls(source, ".".join(columns.image)))


def _list_of_urls(source: Source, column: str) -> str:
    names = [path[0] for path in source.names() if len(path) == 1]
    caption = next((name for usual_name in _CAPTION_NAMES for name in names if name.lower() == usual_name), "CAPTION")
    suffix = PurePosixPath(source.partitions()[0].name).suffix.strip(".") or "parquet"
    return (
        f"{source.description} lists addresses of pictures (column {column!r}), and vcrgen does not download; fetch "
        f"them with `img2dataset --url_list FILE --input_format {suffix} --url_col {column} --caption_col {caption} "
        "--output_format webdataset --output_folder shards`, then build from 'shards/*.tar'."
    )


def _is_named(name: str, path: ColumnPath) -> bool:
    """Return True if a path, or its end, is called so."""
    dotted = ".".join(path)
    return any(f".{dotted}".endswith(f".{spelling}") for spelling in (name, _OTHER_NAMES.get(name, name)))


def iter_items(
    source: Source,
    config: BuildConfig,
    index: int,
    start: int,
    stop: int,
    *,
    counts: RowCounts | None = None,
    turn: int | None = None,
) -> Iterator[Item]:
    """Stream the items of rows ``start`` to ``stop``; rows that do not meet the conditions are skipped.

    An item's id and content do not depend on the window.

    Args:
        config: Its columns and conditions, and the choice of captions.
        counts: Counts the rows while they are read.
        turn: With all captions of a row chosen, take one of them, in turns: the number of the turn.

    Raises:
        SourceError: A column is not there, or the file cannot be read.
    """
    for row in read_rows(source, config, index, range(start, stop), turn):
        if counts is not None:
            counts.add(row)
        yield from row.items


def items_at(source: Source, config: BuildConfig, index: int, numbers: Sequence[int]) -> Iterator[Item | None]:
    """Stream one item of each row with these ascending numbers; None for rows that do not meet the conditions.

    Where each caption of a row is chosen, it is the first one.
    """
    for row in read_rows(source, config, index, numbers, 0):
        yield row.items[0] if row.items else None


def read_rows(
    source: Source, config: BuildConfig, index: int, numbers: Sequence[int], turn: int | None = None
) -> Iterator[RowItems]:
    """Stream what the rows with these ascending numbers give; see `iter_items`."""
    columns = check_columns(source, config)
    name = source.partitions()[index].name
    folders = ImageFolders.of(
        source.root,
        inside=str(PurePosixPath(name).parent),
        image_root=config.image_root and config.image_root.absolute(),
    )
    paths = [columns.image, columns.caption, *filter(None, [columns.id]), *(path for path, _ in columns.where)]
    rows = source.rows(index, numbers, frozenset(path[0] for path in paths))
    for row, number in zip(rows, numbers, strict=True):
        yield read_row(row, columns, folders=folders, row_id=f"{name}#{number}", choice=config.captions, turn=turn)


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


def describe_unmatched(source: Source, config: BuildConfig) -> str:
    """Which conditions no row meets, with the values that the first rows have instead; empty without conditions."""
    if not config.where:
        return ""
    where = check_columns(source, config).where
    values = {path: Counter[str]() for path, _ in where}
    for row in islice(_all_rows(source, frozenset(path[0] for path in values)), _VALUE_ROWS):
        for path, count in values.items():
            if len(count) < _VALUE_ROWS:
                leaves = (leaf.value for leaf in _leaves(row, path))
                count.update({str(value) for value in leaves if isinstance(value, str | int | float)})
    without = [(path, value) for path, value in where if value not in values[path]]
    sentence = f"no row matches {' and '.join(config.where)}"
    others = [f"{'.'.join(path)} is {_some(values[path])}" for path, _ in without if values[path]]
    return "; ".join([sentence, *others])


def _all_rows(source: Source, columns: frozenset[str]) -> Iterator[Row]:
    for index, partition in enumerate(source.partitions()):
        yield from source.rows(index, range(partition.rows), columns)


def _some(values: Counter[str]) -> str:
    """The most frequent values as "a, b or c"."""
    frequent = [repr(value[:_MAX_VALUE]) for value, _ in values.most_common(_MAX_VALUES)]
    *first, last = [*frequent, "another"] if len(values) > len(frequent) else frequent
    return f"{', '.join(first)} or {last}" if first else last


def limit_partitions(source: Source, config: BuildConfig) -> list[Partition]:
    """The partitions up to the last of the first ``config.limit`` items.

    With a limit of 70, two partitions of 60 rows become one of 60 and one of 10; conditions make them longer.
    """
    remaining = config.limit
    limited: list[Partition] = []
    for index, partition in enumerate(source.partitions()):
        rows = matches = partition.rows
        if remaining is not None and config.where:
            matches = 0
            for number in islice(matching_rows(source, config, index), remaining):
                matches += 1
                rows = number + 1
            rows = rows if matches == remaining else partition.rows
        elif remaining is not None:
            rows = matches = min(partition.rows, remaining)
        limited.append(replace(partition, rows=rows))
        if remaining is not None:
            remaining -= matches
            if not remaining:
                break
    return limited


def read_row(
    row: Row,
    columns: Columns,
    *,
    folders: ImageFolders,
    row_id: str,
    choice: str,
    turn: int | None = None,
) -> RowItems:
    """Convert a row to items.

    Of several captions, ``choice`` takes the ``first``, the ``longest`` or ``each`` of them. If conditions and the
    caption are in the same lists (``wit_features`` as a list of structs or as a struct of lists), only captions of
    elements that meet the conditions count; so it is with pictures and captions in the same lists.

    Image paths may not leave ``folders``; ``row_id`` is the id of a row without one.
    """
    if PROBLEM in row:
        return RowItems((Item(source_id=clean_id(row_id), image=None, caption=None, problem=str(row[PROBLEM])),), 1)
    places = _matching_places(row, columns)
    if places is None:
        return RowItems((), 0)
    own_id = _id_of(row, columns, places, row_id)
    images, captions = ([*_leaves(row, path)] for path in (columns.image, columns.caption))
    elements = max(len(images), len(captions), 1)
    problem = _crossed_lists(columns, images, captions)
    if elements > _MAX_CAPTIONS:
        problem = f"the row has more than {_MAX_CAPTIONS} captions or pictures"
    if problem:
        return RowItems((Item(source_id=own_id, image=None, caption=None, problem=problem),), elements)
    reader = _PictureReader([image for image in images if _meets(image, places.get(columns.image[0]))], folders)
    selection = _choose_captions(
        [caption for caption in captions if _meets(caption, places.get(columns.caption[0]))], choice, turn, reader
    )
    items = []
    for caption in selection or [_Leaf((), (), None)]:
        image, problem = reader.read(caption)
        text, caption_problem = _text(caption.value)
        several = choice == "each" and len(captions) > 1 and caption.place
        number = f"#{'.'.join(map(str, caption.place))}" if several else ""
        items.append(Item(source_id=own_id + number, image=image, caption=text, problem=problem or caption_problem))
    return RowItems(tuple(items), elements)


class _PictureReader:
    """Reads the picture of a caption: the first one in the same element of the lists that both are in."""

    def __init__(self, images: list[_Leaf], folders: ImageFolders) -> None:
        self._images, self._folders = images, folders
        self._read: dict[_Place, tuple[bytes | None, str]] = {}

    def find(self, caption: _Leaf) -> _Leaf | None:
        return next((image for image in self._images if _aligned(image.place, caption.place)), None)

    def read(self, caption: _Leaf) -> tuple[bytes | None, str]:
        """The encoded image and an empty text; or None and what is wrong with the image."""
        image = self.find(caption)
        if image is None:
            return None, ""
        if image.place not in self._read:
            try:
                self._read[image.place] = image_bytes(image.value, folders=self._folders), ""
            except ImageProblem as error:
                self._read[image.place] = None, error.detail
        return self._read[image.place]


def _choose_captions(captions: list[_Leaf], choice: str, turn: int | None, reader: _PictureReader) -> list[_Leaf]:
    """The captions that ``choice`` takes: of all, or of those with a picture, if any has one."""
    if choice == "each":
        return captions if turn is None or not captions else [captions[turn % len(captions)]]
    with_image = [caption for caption in captions if reader.find(caption)] or captions
    if choice == "longest" and with_image:
        return [max(with_image, key=lambda caption: len((_text(caption.value)[0] or "").strip()))]
    return with_image[:1]


def _crossed_lists(columns: Columns, images: Sequence[_Leaf], captions: Sequence[_Leaf]) -> str:
    """What is wrong where nothing says which picture a caption belongs to; an empty text otherwise.

    Elements belong together in one list of structs, and by their positions in lists of equal length in one struct.
    """
    for depths in {image.depths for image in images}:
        for other_depths in {caption.depths for caption in captions}:
            for depth, other_depth in zip(depths, other_depths, strict=False):
                image_list, caption_list = columns.image[:depth], columns.caption[:other_depth]
                if image_list == caption_list:
                    continue
                lists_of_values = (image_list, caption_list) == (columns.image, columns.caption)
                in_one_struct = len(image_list) > 1 and image_list[:-1] == caption_list[:-1]
                is_parallel = [image.place for image in images] == [caption.place for caption in captions]
                if lists_of_values and in_one_struct and is_parallel:
                    continue
                return (
                    f"pictures stand in the list {'.'.join(image_list)} and captions in {'.'.join(caption_list)}, so "
                    "nothing says which of them belong together"
                )
    return ""


def _id_of(row: Row, columns: Columns, places: dict[str, list[_Place]], row_id: str) -> str:
    own_id = _first(row, columns.id, places) if columns.id else None
    named = isinstance(own_id, str | int | float)
    return (clean_id(str(own_id)) if named else "") or clean_id(row_id)


def clean_id(text: str) -> str:
    """An id without control characters and lone surrogates, of at most 200 characters."""
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
    columns = [column[:80] for path in names if (column := ".".join(path)).isprintable()]
    near = difflib.get_close_matches(name, columns, n=1)
    hint = f"; the nearest name is {near[0]!r}" if near else ""
    ellipsis = ", ..." if len(columns) > _MAX_SHOWN else ""
    listed = ", ".join(columns[:_MAX_SHOWN]) + ellipsis if columns else "nothing readable"
    option = "--where NAME=VALUE" if use == "condition" else f"--column {use}=NAME"
    if use in ("image", "caption", "id"):
        option += f" (in Python and in recipes {use}_column)"
    raise SourceError(f"The {use} column {name!r} is not in {description}{hint}. Known: {listed}; {option} names one.")


def _leaves(value: Any, path: ColumnPath, place: _Place = (), depths: tuple[int, ...] = ()) -> Iterator[_Leaf]:
    """Yield the values at a path: None where it leads nowhere, or into more than eight lists."""
    depth = depths[-1] if depths else 0
    while depth < len(path) and isinstance(value, Mapping):
        value = value.get(path[depth])
        depth += 1
    if not isinstance(value, list):
        yield _Leaf(place, depths, value if depth == len(path) else None)
    elif len(place) < _MAX_LISTS:
        for index, element in enumerate(value):
            yield from _leaves(element, path, (*place, index), (*depths, depth))
    else:
        yield _Leaf(place, depths, None)


def _matching_places(row: Row, columns: Columns) -> dict[str, list[_Place]] | None:
    """The places in which all conditions on a column hold; None if one of them holds nowhere."""
    matched: dict[str, list[_Place]] = {}
    for path, value in columns.where:
        places = [leaf.place for leaf in _leaves(row, path) if leaf.value is not None and str(leaf.value) == value]
        if path[0] in matched:
            pairs = ((place, other) for place in places for other in matched[path[0]])
            places = [max(place, other, key=len) for place, other in pairs if _aligned(place, other)]
        if not places:
            return None
        matched[path[0]] = places
    return matched


def _aligned(place: _Place, other: _Place) -> bool:
    """Return True if two places agree in the list positions that both have."""
    return all(mine == theirs for mine, theirs in zip(place, other, strict=False))


def _meets(leaf: _Leaf, matched: Sequence[_Place] | None) -> bool:
    """Return True for a value that is not empty, in an element that meets the conditions."""
    return not leaf.is_empty and (matched is None or any(_aligned(leaf.place, place) for place in matched))


def _first(row: Row, path: ColumnPath, places: Mapping[str, list[_Place]]) -> Any:
    """The first non-empty value at a path in an element that meets the conditions."""
    matched = places.get(path[0])
    return next((leaf.value for leaf in _leaves(row, path) if _meets(leaf, matched)), None)


def _text(value: Any) -> tuple[str | None, str]:
    """The caption, None for a missing one; and what is wrong with it, empty if nothing is."""
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
