"""Items of any set of questions about pictures: of a question set, or of a file with any number of options an item.

An item need not be one that can be asked in a question set: it may have six options or none, several pictures or none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from vcrgen.bloom.checks import Fault
from vcrgen.bloom.importing import (
    MAX_ID,
    RowReader,
    UnusableItem,
    languages_in,
    name_of,
    open_rows,
    question_in,
    texts_of,
    usable_picture,
)
from vcrgen.bloom.summary import set_taxonomy
from vcrgen.bloom.taxonomy import Taxonomy, default_taxonomy, load_taxonomy
from vcrgen.bloom.write import Aside
from vcrgen.builder.sources.base import PROBLEM
from vcrgen.config import BloomCoverageOptions, BloomImportOptions
from vcrgen.dataset.reader import Dataset
from vcrgen.dataset.tables import image_bytes
from vcrgen.errors import ConfigError, DatasetError, ImageProblem, SourceError
from vcrgen.reading import encodable
from vcrgen.records import Reason
from vcrgen.rng import rng_for, shuffled
from vcrgen.storage import remote_url
from vcrgen.tasks.bloom import item_of, languages_of
from vcrgen.tasks.opening import is_question_set, open_any

MAX_TEXT = 20_000  # characters of a question and its options
MAX_OPTIONS = 26  # that have a letter each
# MMMU has up to seven pictures an item.
NUMBERED_PICTURES = tuple(f"image_{number}" for number in range(1, 10))


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherItem:
    """An item as it is shown to a model."""

    name: str
    question: str = ""
    options: tuple[str, ...] = ()
    pictures: tuple[bytes, ...] = ()  # encoded; empty where nobody asked for pictures
    path: str | None = None  # the leaf under which its set files it; None where that is none of the taxonomy
    fault: str = ""  # why no model can be asked about it


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherSet:
    """A set of items.

    Attributes:
        name: What tables call it.
        count: How many items it has.
        positions: Numbers of the items that are looked at, from 0: all, or those that were drawn.
        read: Gives all of its items, one in memory at a time, with the pictures of those with the given numbers.
        taxonomy: The tree under which it files its items, where it comes with one.
    """

    name: str
    count: int
    positions: frozenset[int]
    read: Callable[[Taxonomy, frozenset[int]], Iterator[OtherItem]]
    taxonomy: Taxonomy | None

    def items(self, taxonomy: Taxonomy, *, pictures: bool) -> Iterator[OtherItem]:
        """The items that are looked at, in the order of the set."""
        for number, item in enumerate(self.read(taxonomy, self.positions if pictures else frozenset())):
            if number in self.positions:
                yield item


def open_sets(places: Sequence[Path], options: BloomCoverageOptions) -> list[OtherSet]:
    """Open sets; no item is read yet.

    Args:
        places: Folders of question sets, or files of questions.
        options: How many items of each are drawn, and where pictures are.

    Raises:
        ConfigError: A place is named twice.
        DatasetError: A question set is damaged.
        SourceError: A file cannot be read, or has no questions.
    """
    names = [Path(place.name).stem if place.is_file() else place.name or str(place) for place in places]
    if len(set(names)) < len(names):
        names = [str(place) for place in places]
    if len(set(names)) < len(names):
        raise ConfigError(f"{max(names, key=names.count)} is named twice; name each set once.")
    return [_open(place, name, options) for place, name in zip(places, names, strict=True)]


def common_taxonomy(sets: Iterable[OtherSet], file: Path | None) -> Taxonomy:
    """The taxonomy of a file or, where none is named, that of the question sets; else the default.

    Raises:
        ConfigError: The file is none, or question sets have different ones.
    """
    if file is not None:
        return load_taxonomy(file)
    found = {one.taxonomy for one in sets if one.taxonomy is not None}
    if len(found) > 1:
        raise ConfigError("The question sets have different taxonomies; choose one with --taxonomy.")
    return found.pop() if found else default_taxonomy()


def _open(place: Path, name: str, options: BloomCoverageOptions) -> OtherSet:
    read: Callable[[Taxonomy, frozenset[int]], Iterator[OtherItem]]
    taxonomy = None
    if not (remote := remote_url(place.as_posix())) and not place.exists():
        raise SourceError(f"There is no file or folder {place}.")
    if remote or place.is_dir():
        if not is_question_set(place):
            raise SourceError(f"{place} is no question set; name the folder of one, or a file with questions.")
        dataset = open_any(place)
        count, read = sum(1 for _ in dataset.rows(["question_id"])), partial(_of_set, dataset)
        taxonomy = None if dataset.is_hidden else set_taxonomy(dataset)
    else:
        names, count, _ = open_rows(place)
        found = BloomImportOptions(images=options.images, image_column=options.image_column)
        languages = languages_in(place, names, found)
        read = partial(_of_file, place, found, languages)
    order: Sequence[int] = range(count)
    if options.sample is not None and options.sample < count:
        order = shuffled(rng_for(options.seed, "coverage", name), order)[: options.sample]
    return OtherSet(name=name, count=count, positions=frozenset(order), read=read, taxonomy=taxonomy)


def _of_set(dataset: Dataset, taxonomy: Taxonomy, pictured: frozenset[int]) -> Iterator[OtherItem]:
    """The items of a question set, each in the first of its languages."""
    languages = languages_of(dataset)
    columns = ["question_id", *(f"{name}_{lang}" for lang in languages for name in ("question", "options"))]
    columns += ["image"] * bool(pictured) + ["path"] * (not dataset.is_hidden)
    for number, (place, row) in enumerate(dataset.rows(columns)):
        try:
            item = item_of(row, languages)
        except (TypeError, ValueError) as problem:
            raise DatasetError(f"{place}: {problem}; build or import the question set again.") from None
        path = taxonomy.find(*item.path.split("/"))
        if not item.questions:
            yield OtherItem(name=item.question_id, path=path, fault=Fault.INCOMPLETE)
            continue
        question = next(iter(item.questions.values()))
        try:
            data = image_bytes(row.get("image")) if number in pictured else None
            shown = (usable_picture(data),) if data else ()
        except ImageProblem:
            yield OtherItem(name=item.question_id, path=path, fault=Fault.BAD_PICTURE)
            continue
        yield OtherItem(
            name=item.question_id, question=question.text, options=question.options, pictures=shown, path=path
        )


def _of_file(
    file: Path, options: BloomImportOptions, languages: Sequence[str], taxonomy: Taxonomy, pictured: frozenset[int]
) -> Iterator[OtherItem]:
    """The items of a file."""
    seen: set[str] = set()
    with TemporaryDirectory() as folder:
        reader = RowReader(options, file.parent, taxonomy, languages, Aside(), Path(folder))
        for number, row in enumerate(open_rows(file)[2], start=1):
            name = name_of(row, number)
            if PROBLEM in row or not name.isprintable() or len(name) > MAX_ID:
                yield OtherItem(name=f"row-{number}", fault=Fault.NOT_AN_ITEM)
                continue
            if name in seen:
                yield OtherItem(name=name, fault=Fault.DUPLICATE_ID)
                continue
            seen.add(name)
            if pictured:
                reader.keep_picture(row)  # an item that is looked at may name this one's picture
            yield _item(row, name, reader, languages, options, pictures=number - 1 in pictured)


def _item(
    row: Any, name: str, reader: RowReader, languages: Sequence[str], options: BloomImportOptions, *, pictures: bool
) -> OtherItem:
    """The item in a row of a file, with what is wrong with it."""
    path = None
    try:
        path = reader.path(row)
        texts = texts_of(row)
        found = (question_in(texts, lang, plain=lang == options.lang) for lang in languages)
        question, choices = next(((stem, given) for stem, given in found if stem), ("", []))
        choices = [encodable(text) for text in choices if text]
        if not question:
            raise UnusableItem(Fault.INCOMPLETE, "no question")
        if len(question) + sum(map(len, choices)) > MAX_TEXT or len(choices) > MAX_OPTIONS:
            raise UnusableItem(Fault.TOO_LONG, "question and options")
        shown = tuple(_pictures(row, reader, options.image_column)) if pictures else ()
    except UnusableItem as problem:
        return OtherItem(name=name, path=path, fault=problem.fault)
    except ImageProblem as problem:
        fault = Fault.NO_PICTURE if problem.reason is Reason.NO_IMAGE else Fault.BAD_PICTURE
        return OtherItem(name=name, path=path, fault=fault)
    except (TypeError, ValueError, AttributeError, SourceError):
        return OtherItem(name=name, path=path, fault=Fault.NOT_AN_ITEM)
    return OtherItem(name=name, question=encodable(question), options=tuple(choices), pictures=shown, path=path)


def _pictures(row: Any, reader: RowReader, column: str | None) -> Iterator[bytes]:
    if data := reader.picture(row):
        yield data
    for name in NUMBERED_PICTURES:
        if name != column and (data := reader.picture(row, (name,))):
            yield data
