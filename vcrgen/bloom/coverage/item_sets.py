"""Items of any set of questions about pictures: an MCQ benchmark, or a file with any number of options an item.

An item need not be valid in an MCQ benchmark: it may have six options or none, several pictures or none.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from vcrgen.bloom.importing import (
    MAX_ID,
    ROW_ERRORS,
    RowReader,
    languages_in,
    name_of,
    open_rows,
    question_in,
    reject_of,
    texts_of,
    usable_picture,
)
from vcrgen.bloom.options import BloomCoverageOptions, BloomImportOptions
from vcrgen.bloom.rejects import ItemRejected, ItemRejectReason, RejectLog
from vcrgen.bloom.summary import set_taxonomy
from vcrgen.bloom.taxonomy import Taxonomy, default_taxonomy, load_taxonomy
from vcrgen.builder.sources.base import PROBLEM
from vcrgen.core.errors import ConfigError, ImageProblem, SourceError
from vcrgen.core.reading import encodable
from vcrgen.core.rng import rng_for, shuffled
from vcrgen.core.storage import remote_url
from vcrgen.data.reader import Dataset
from vcrgen.data.tables import image_bytes
from vcrgen.data.tasks.bloom import read_item_rows
from vcrgen.data.tasks.opening import is_mcq_dataset, open_task_dataset

MAX_TEXT = 20_000  # characters of a question and its options
MAX_OPTIONS = 26  # that have a letter each
# MMMU has up to seven pictures an item.
NUMBERED_PICTURES = tuple(f"image_{number}" for number in range(1, 10))


@dataclass(frozen=True, slots=True, kw_only=True)
class SetItem:
    """An item as it is shown to a model."""

    name: str
    question: str = ""
    options: tuple[str, ...] = ()
    pictures: tuple[bytes, ...] = ()  # encoded; empty unless requested
    path: str | None = None  # its category in its set; None if the taxonomy has no such category
    problem: str = ""  # a reason to reject it: no model is asked about it


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemSet:
    """A set of items.

    Attributes:
        name: Its name in tables.
        count: Number of its items.
        positions: Numbers of the items to classify, from 0: all, or those that were drawn.
        read: Yields all of its items, one in memory at a time, with the pictures of those with the given numbers.
        taxonomy: Its own taxonomy, if it has one.
    """

    name: str
    count: int
    positions: frozenset[int]
    read: Callable[[Taxonomy, frozenset[int]], Iterator[SetItem]]
    taxonomy: Taxonomy | None

    def items(self, taxonomy: Taxonomy, *, pictures: bool) -> Iterator[SetItem]:
        """Yield the items to classify, in the order of the set."""
        for number, item in enumerate(self.read(taxonomy, self.positions if pictures else frozenset())):
            if number in self.positions:
                yield item


def open_sets(places: Sequence[Path], options: BloomCoverageOptions) -> list[ItemSet]:
    """Open sets; no item is read yet.

    Raises:
        ConfigError: A place is named twice.
        DatasetError: An MCQ benchmark is damaged.
        SourceError: A file cannot be read, or has no questions.
    """
    names = [Path(place.name).stem if place.is_file() else place.name or str(place) for place in places]
    if len(set(names)) < len(names):
        names = [str(place) for place in places]
    if len(set(names)) < len(names):
        raise ConfigError(f"{max(names, key=names.count)} is named twice; name each set once.")
    return [_open(place, name, options) for place, name in zip(places, names, strict=True)]


def common_taxonomy(sets: Iterable[ItemSet], file: Path | None) -> Taxonomy:
    """The taxonomy of the file, else that of the MCQ benchmarks, else the default.

    Raises:
        ConfigError: The file is none, or MCQ benchmarks have different ones.
    """
    if file is not None:
        return load_taxonomy(file)
    taxonomies = {item_set.taxonomy for item_set in sets if item_set.taxonomy is not None}
    if len(taxonomies) > 1:
        raise ConfigError("The MCQ benchmarks have different taxonomies; choose one with --taxonomy.")
    return taxonomies.pop() if taxonomies else default_taxonomy()


def _open(place: Path, name: str, options: BloomCoverageOptions) -> ItemSet:
    read: Callable[[Taxonomy, frozenset[int]], Iterator[SetItem]]
    taxonomy = None
    if not (remote := remote_url(place.as_posix())) and not place.exists():
        raise SourceError(f"There is no file or folder {place}.")
    if remote or place.is_dir():
        if not is_mcq_dataset(place):
            raise SourceError(f"{place} is no MCQ benchmark; name the folder of one, or a file with questions.")
        dataset = open_task_dataset(place)
        count, read = sum(1 for _ in dataset.rows(["question_id"])), partial(_of_set, dataset)
        taxonomy = None if dataset.is_hidden else set_taxonomy(dataset)
    else:
        names, count, _ = open_rows(place)
        import_options = BloomImportOptions(images=options.images, image_column=options.image_column)
        languages = languages_in(place, names, import_options)
        read = partial(_of_file, place, import_options, languages)
    order: Sequence[int] = range(count)
    if options.sample is not None and options.sample < count:
        order = shuffled(rng_for(options.seed, "coverage", name), order)[: options.sample]
    return ItemSet(name=name, count=count, positions=frozenset(order), read=read, taxonomy=taxonomy)


def _of_set(dataset: Dataset, taxonomy: Taxonomy, pictured: frozenset[int]) -> Iterator[SetItem]:
    """Yield the items of an MCQ benchmark, each in the first of its languages."""
    for number, (row, item) in enumerate(read_item_rows(dataset, pictures=bool(pictured))):
        path = taxonomy.find(*item.path.split("/"))
        if not item.questions:
            yield SetItem(name=item.question_id, path=path, problem=ItemRejectReason.INCOMPLETE)
            continue
        question = next(iter(item.questions.values()))
        try:
            data = image_bytes(row.get("image")) if number in pictured else None
            pictures = (usable_picture(data),) if data else ()
        except ImageProblem:
            yield SetItem(name=item.question_id, path=path, problem=ItemRejectReason.BAD_PICTURE)
            continue
        yield SetItem(
            name=item.question_id, question=question.text, options=question.options, pictures=pictures, path=path
        )


def _of_file(
    file: Path, options: BloomImportOptions, languages: Sequence[str], taxonomy: Taxonomy, pictured: frozenset[int]
) -> Iterator[SetItem]:
    seen: set[str] = set()
    with TemporaryDirectory() as folder:
        reader = RowReader(options, file.parent, taxonomy, languages, RejectLog(), Path(folder))
        for number, row in enumerate(open_rows(file)[2], start=1):
            name = name_of(row, number)
            if PROBLEM in row or not name.isprintable() or len(name) > MAX_ID:
                yield SetItem(name=f"row-{number}", problem=ItemRejectReason.NOT_AN_ITEM)
                continue
            if name in seen:
                yield SetItem(name=name, problem=ItemRejectReason.DUPLICATE_ID)
                continue
            seen.add(name)
            if pictured:
                reader.keep_picture(row)  # an item to classify may name this one's picture
            yield _item(row, name, reader, languages, options, pictures=number - 1 in pictured)


def _item(
    row: Any, name: str, reader: RowReader, languages: Sequence[str], options: BloomImportOptions, *, pictures: bool
) -> SetItem:
    """The item in a row of a file, or its problem."""
    path = None
    try:
        path = reader.path(row)
        texts = texts_of(row)
        questions = (question_in(texts, lang, plain=lang == options.lang) for lang in languages)
        question, choices = next(((stem, choices) for stem, choices in questions if stem), ("", []))
        choices = [encodable(text) for text in choices if text]
        if not question:
            raise ItemRejected(ItemRejectReason.INCOMPLETE, "no question")
        if len(question) + sum(map(len, choices)) > MAX_TEXT or len(choices) > MAX_OPTIONS:
            raise ItemRejected(ItemRejectReason.TOO_LONG, "question and options")
        images = tuple(_pictures(row, reader, options.image_column)) if pictures else ()
    except ROW_ERRORS as problem:
        return SetItem(name=name, path=path, problem=reject_of(problem)[0])
    return SetItem(name=name, question=encodable(question), options=tuple(choices), pictures=images, path=path)


def _pictures(row: Any, reader: RowReader, column: str | None) -> Iterator[bytes]:
    if data := reader.picture(row):
        yield data
    for name in NUMBERED_PICTURES:
        if name != column and (data := reader.picture(row, (name,))):
            yield data
