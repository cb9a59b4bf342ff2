"""The pictures of a dataset that a model or a person is shown, one by one, from whatever kind of dataset.

For example:

    pictures = open_pictures(open_dataset("data/vcr-en", VCR), Choice(views=(View.STACKED, View.TEI), split="test"))
    for picture in pictures.stream():
        send(picture.data)

What is in a picture is not looked at here: it may be no image at all.
"""

import hashlib
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, Self

from vcrgen.dataset.canary import canary_questions, read_canary
from vcrgen.dataset.reader import Dataset
from vcrgen.dataset.schema import DatasetKind
from vcrgen.dataset.tables import image_bytes
from vcrgen.dataset.views import IMAGE_VIEWS, View
from vcrgen.errors import DatasetError
from vcrgen.reading import as_texts
from vcrgen.records import is_mode
from vcrgen.text.languages import LANGUAGES, guess_language

_GUESSED_FROM = 100  # rows
MAX_QUESTION = 10_000  # characters


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """Which pictures of a dataset are read."""

    views: tuple[View, ...] = (View.STACKED,)  # what of a question is shown; each is a picture of its own
    mode: str | None = None  # only this mode
    split: str | None = None  # only this split
    limit: int | None = None  # questions at most, the first ones; each in all modes and views
    canary: bool = False  # instead of all these, the questions for the canary of a hidden set

    def holds(self, other: Self) -> bool:
        """Whether all pictures of another choice are certain to be among those of this one."""
        first_ones = self.limit is None or (
            self.split == other.split and other.limit is not None and other.limit <= self.limit
        )
        if self.canary or other.canary:
            return self.canary and other.canary
        wider = self.mode in (None, other.mode) and self.split in (None, other.split)
        return wider and first_ones and set(other.views) <= set(self.views)


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """One picture, not decoded."""

    question_id: str  # of the question it belongs to
    lang: str  # language code of the question
    view: View  # what it shows
    mode: str | None  # such as ``"easy"``, or None where the dataset does not say
    data: bytes | None  # the encoded image, or None where there is none, or none is shown
    # What is asked about it: the dataset's own words or, where it has none, those of its language. In the view
    # :attr:`View.TEXT` the words that stand for the image come before them.
    question: str
    # Number of the mode, the file, the row and the view: sorts a dataset's pictures, and says nothing of what they are.
    place: tuple[int, int, int, int] = field(compare=False)
    answers: tuple[str, ...] = ()  # the right answers, where they were asked for
    problem: str = ""  # why there is nothing to show, or the empty string


@dataclass(frozen=True, slots=True, kw_only=True)
class Pictures:
    """The chosen pictures of a dataset, streamed in an order that is always the same."""

    dataset: Dataset  # where they are from
    identity: str  # stands for what is in the dataset: equal for equal pictures
    total: int  # number of pictures
    stream: Callable[[], Iterator[Picture]]  # starts to read from the beginning
    # those of some rows of a mode, which are counted from 0 in the order of its files; they come in that order
    at: Callable[[str, Collection[int]], Iterator[Picture]] = lambda mode, numbers: iter(())


def open_pictures(dataset: Dataset, choice: Choice, *, answers: bool = False) -> Pictures:
    """Look at a dataset and choose its pictures; none is read yet.

    They are given mode by mode, in the order of the rows. Where the dataset does not say which language its questions
    are in, the first answers tell.

    Args:
        dataset: Where they are.
        choice: Which of them.
        answers: Whether the right answers are wanted, too.

    Raises:
        ConfigError: The dataset has nothing of that mode or split.
        DatasetError: A file is damaged, lacks a column, or has rows of another mode than vcrgen builds; answers are
            asked of the public part of a hidden set; or words are to be shown of a dataset that has none.
    """
    if choice.canary:
        return _canary_questions(dataset)
    if answers and dataset.is_hidden:
        raise DatasetError(f"{dataset} is the public part of a hidden test set, which has no answers.")
    chosen = dataset.select(mode=choice.mode, split=choice.split)
    if not all(map(is_mode, dataset.modes)):
        raise DatasetError(f"The manifest of {dataset} names a mode that vcrgen does not build; build it again.")
    parts = [chosen.select(mode=mode) for mode in chosen.modes] or [chosen]
    kind = dataset.kind
    columns, optional = _columns(dataset, choice, answers=answers)
    for part in parts:
        part.check(columns)
    if dataset.is_hidden:  # in memory by now, so a fault can show before hours of work
        for place, row in chosen.rows(["question_id"], optional=["language"]):
            _question(row, place, lambda: "")

    @cache
    def guess() -> str:
        """The language of the first answers."""
        rows = chosen.rows(["question_id"], optional=[dataset.kind.answers], limit=_GUESSED_FROM)
        return guess_language(text for _, row in rows for text in row.get(dataset.kind.answers) or () if text)

    files = {file.path: number for number, file in enumerate(dataset.files)}

    def shown(part: Dataset, file: int, row_number: int, place: str, row: Mapping[str, Any]) -> Iterator[Picture]:
        """The pictures of a row."""
        question_id, lang = _question(row, place, guess)
        mode = next(iter(part.modes), row.get("mode"))
        order = dataset.modes.index(part.modes[0]) if part.modes else 0, file
        question = _words(row, lang, place)
        for view in choice.views:
            data, asked, problem = _shown(kind, row, view, lang, question)
            yield Picture(
                question_id=question_id, lang=lang, view=view, mode=mode if is_mode(mode) else None,
                data=data, question=asked, place=(*order, row_number, list(View).index(view)),
                answers=as_texts(row[kind.answers]) or () if answers else (), problem=problem,
            )  # fmt: skip

    def stream() -> Iterator[Picture]:
        for part in parts:
            for number, row_number, place, row in numbered_rows(part, columns, optional, choice.limit):
                yield from shown(part, files[part.files[number].path], row_number, place, row)

    def at(mode: str, numbers: Collection[int]) -> Iterator[Picture]:
        part, wanted = chosen.select(mode=mode), sorted(numbers)
        rows = part.rows(columns, optional=optional, positions=wanted)
        for number, (place, row) in zip(wanted, rows, strict=True):
            yield from shown(part, files[part.files[0].path], number, place, row)

    total = sum(part.count(choice.limit) for part in parts) * len(choice.views)
    return Pictures(dataset=dataset, identity=dataset.identity, total=total, stream=stream, at=at)


def _columns(dataset: Dataset, choice: Choice, *, answers: bool) -> tuple[list[str], list[str]]:
    """The columns that pictures need, and those that they use where the dataset has them."""
    columns = ["question_id", *(view.column for view in choice.views if view in IMAGE_VIEWS)]
    optional = ["language", "mode", "question"]
    kind = dataset.kind
    if View.TEXT in choice.views:
        if dataset.is_hidden or kind.words is None:
            why = "a hidden test set, whose words are in its pictures only" if dataset.is_hidden else "of another kind"
            raise DatasetError(f"{dataset} cannot be shown as text: it is {why}. Choose another --view.")
        columns += kind.words_from
        optional += kind.words_better
    if answers and kind.answers not in columns:
        columns.append(kind.answers)
    return columns, optional


def _canary_questions(dataset: Dataset) -> Pictures:
    """What is asked about the canary of a hidden set: nothing of it shows an image."""
    digits = read_canary(dataset)
    asked = [
        Picture(
            question_id=question.way, lang=guess_language([question.text]), view=View.TEXT, mode=None, data=None,
            question=question.text, place=(0, 0, number, 0),
        )
        for number, question in enumerate(canary_questions(digits))
    ]  # fmt: skip
    # Of its own, so that its replies and those about pictures are never in one file.
    identity = hashlib.sha256(f"canary {digits}".encode()).hexdigest()
    return Pictures(dataset=dataset, identity=identity, total=len(asked), stream=lambda: iter(asked))


def _shown(
    kind: DatasetKind, row: Mapping[str, Any], view: View, lang: str, question: str
) -> tuple[bytes | None, str, str]:
    """The image of a row in a view, what is asked with it, and why there is nothing to show, or an empty text."""
    if view is View.TEXT:
        assert kind.words is not None
        try:
            words = kind.words(row, lang)
        except ValueError as problem:
            return None, question, f"there are no words to show: {problem}"
        return None, LANGUAGES[lang].words.format(text=words, question=question), ""
    value = row[view.column]
    if data := image_bytes(value):
        return data, question, ""
    path = value.get("path") if isinstance(value, dict) else None
    missing = f"the file {str(path).rpartition('/')[2]} is missing or cannot be read"
    return None, question, missing if path else "the dataset holds no image"


def numbered_rows(
    part: Dataset, columns: list[str], optional: list[str], limit: int | None
) -> Iterator[tuple[int, int, str, Mapping[str, Any]]]:
    """The first rows of a part, each with the number of its file, its own number in it, and its place in words."""
    given = 0
    for number, file in enumerate(part.files):
        left = None if limit is None else limit - given
        if left == 0:
            return
        rows = replace(part, files=(file,)).rows(columns, optional=optional, limit=left)
        for row_number, (place, row) in enumerate(rows):
            given += 1
            yield number, row_number, place, row


def _words(row: Mapping[str, Any], lang: str, place: str) -> str:
    """The question that a row asks, or that of its language."""
    question = row.get("question") or LANGUAGES[lang].question
    if not isinstance(question, str) or len(question) > MAX_QUESTION:
        raise DatasetError(f"{place}: its `question` is no text of at most {MAX_QUESTION:,} characters.")
    return question


def _question(row: Mapping[str, Any], place: str, guess: Callable[[], str]) -> tuple[str, str]:
    """Id and language of a row; a language that no row names is guessed."""
    question_id, lang = row.get("question_id"), row["language"] if "language" in row else guess()
    # Half a surrogate pair, which no file of outputs could hold, is not printable.
    if not isinstance(question_id, str) or not question_id.isprintable() or not 0 < len(question_id) <= 256:
        raise DatasetError(f"{place}: no `question_id` of 1 to 256 printable characters.")
    if not isinstance(lang, str) or lang not in LANGUAGES:
        raise DatasetError(f"{place}: no `language` that is known; known: {', '.join(LANGUAGES)}.")
    return question_id, lang
