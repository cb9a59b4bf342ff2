"""The pictures of a dataset that a model or a person is shown, one by one.

For example:

    selection = PictureSelection(views=(View.STACKED, View.TEI), split="test")
    pictures = open_pictures(open_dataset("data/vcr-en", VCR), selection)
    for picture in pictures.stream():
        send(picture.data)

Pictures are not decoded here and may be invalid.
"""

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import Any, Self

from vcrgen.core.errors import DatasetError
from vcrgen.core.reading import as_texts
from vcrgen.core.records import is_mode
from vcrgen.data.canary import canary_questions, read_canary
from vcrgen.data.reader import Dataset
from vcrgen.data.schema import DatasetKind
from vcrgen.data.tables import image_bytes
from vcrgen.data.views import IMAGE_VIEWS, View
from vcrgen.text.languages import LANGUAGES, guess_language

_GUESSED_FROM = 100  # rows
MAX_QUESTION = 10_000  # characters


@dataclass(frozen=True, slots=True, kw_only=True)
class PictureSelection:
    """A selection of the pictures of a dataset."""

    views: tuple[View, ...] = (View.STACKED,)  # each is a picture of its own
    mode: str | None = None  # only this mode
    split: str | None = None  # only this split
    limit: int | None = None  # questions at most, the first ones; each in all modes and views
    canary: bool = False  # instead, the prompts for the canary of a hidden set

    def includes(self, other: Self) -> bool:
        """Return True if this selection certainly includes all pictures of another one."""
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
    view: View  # the input condition
    mode: str | None  # such as ``"easy"``, or None where the dataset does not say
    data: bytes | None  # the encoded image, or None
    # The prompt: the dataset's question or that of its language, in the text-only view after the caption with gaps.
    question: str
    # Sort key: number of the mode, the file, the row and the view.
    place: tuple[int, int, int, int] = field(compare=False)
    answers: tuple[str, ...] = ()  # the right answers, if requested
    problem: str = ""  # the reason for a missing image, or empty


@dataclass(frozen=True, slots=True, kw_only=True)
class Pictures:
    """The selected pictures of a dataset, streamed in a fixed order."""

    dataset: Dataset  # their dataset
    identity: str  # of the dataset's content: equal for equal pictures
    total: int  # number of pictures
    stream: Callable[[], Iterator[Picture]]  # streams all pictures


def open_pictures(dataset: Dataset, choice: PictureSelection, *, answers: bool = False) -> Pictures:
    """Select pictures of a dataset; none is read yet.

    They are streamed mode by mode, in row order. A missing language is guessed from the first answers.

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

    guess = cache(partial(_guess_language, chosen))
    files = {file.path: number for number, file in enumerate(dataset.files)}

    def shown(part: Dataset, file: int, row_number: int, place: str, row: Mapping[str, Any]) -> Iterator[Picture]:
        """Yield the pictures of a row."""
        question_id, lang = _question(row, place, guess)
        mode = next(iter(part.modes), row.get("mode"))
        order = dataset.modes.index(part.modes[0]) if part.modes else 0, file
        question = _words(row, lang, place)
        for view in choice.views:
            data, prompt, problem = _view_picture(kind, row, view, lang, question)
            yield Picture(
                question_id=question_id,
                lang=lang,
                view=view,
                mode=mode if is_mode(mode) else None,
                data=data,
                question=prompt,
                place=(*order, row_number, list(View).index(view)),
                answers=as_texts(row[kind.answers]) or () if answers else (),
                problem=problem,
            )

    def stream() -> Iterator[Picture]:
        for part in parts:
            for number, row_number, place, row in numbered_rows(part, columns, optional, choice.limit):
                yield from shown(part, files[part.files[number].path], row_number, place, row)

    total = sum(part.count(choice.limit) for part in parts) * len(choice.views)
    return Pictures(dataset=dataset, identity=dataset.identity, total=total, stream=stream)


def _guess_language(dataset: Dataset) -> str:
    """Guess the language from the first answers."""
    rows = dataset.rows(["question_id"], optional=[dataset.kind.answers], limit=_GUESSED_FROM)
    return guess_language(text for _, row in rows for text in row.get(dataset.kind.answers) or () if text)


def _columns(dataset: Dataset, choice: PictureSelection, *, answers: bool) -> tuple[list[str], list[str]]:
    """Return the required and the optional columns."""
    columns = ["question_id", *(view.column for view in choice.views if view in IMAGE_VIEWS)]
    optional = ["language", "mode", "question"]
    kind = dataset.kind
    if View.TEXT_ONLY in choice.views:
        if dataset.is_hidden or kind.text_context is None:
            why = "a hidden test set, whose words are in its pictures only" if dataset.is_hidden else "of another kind"
            raise DatasetError(f"{dataset} cannot be shown as text: it is {why}. Choose another --view.")
        columns += kind.text_columns
        optional += kind.optional_text_columns
    if answers and kind.answers not in columns:
        columns.append(kind.answers)
    return columns, optional


def _canary_questions(dataset: Dataset) -> Pictures:
    """Return the prompts for the canary of a hidden set as pictures without images."""
    digits = read_canary(dataset)
    pictures = [
        Picture(
            question_id=question.way,
            lang=guess_language([question.text]),
            view=View.TEXT_ONLY,
            mode=None,
            data=None,
            question=question.text,
            place=(0, 0, number, 0),
        )
        for number, question in enumerate(canary_questions(digits))
    ]
    # Its own identity, so that its replies and those about pictures are never in one file.
    identity = hashlib.sha256(f"canary {digits}".encode()).hexdigest()
    return Pictures(dataset=dataset, identity=identity, total=len(pictures), stream=lambda: iter(pictures))


def _view_picture(
    kind: DatasetKind, row: Mapping[str, Any], view: View, lang: str, question: str
) -> tuple[bytes | None, str, str]:
    """Return the image of a row in a view, its prompt, and the problem if there is no image, or an empty text."""
    if view is View.TEXT_ONLY:
        assert kind.text_context is not None
        try:
            words = kind.text_context(row, lang)
        except ValueError as problem:
            return None, question, f"there are no words to show: {problem}"
        return None, LANGUAGES[lang].text_only_prompt.format(text=words, question=question), ""
    value = row[view.column]
    if data := image_bytes(value):
        return data, question, ""
    path = value.get("path") if isinstance(value, dict) else None
    missing = f"the file {str(path).rpartition('/')[2]} is missing or cannot be read"
    return None, question, missing if path else "the dataset holds no image"


def numbered_rows(
    part: Dataset, columns: list[str], optional: list[str], limit: int | None
) -> Iterator[tuple[int, int, str, Mapping[str, Any]]]:
    """Stream the first rows of a part with the number of the file, of the row, and the place for messages."""
    count = 0
    for number, file in enumerate(part.files):
        remaining = None if limit is None else limit - count
        if remaining == 0:
            return
        rows = replace(part, files=(file,)).rows(columns, optional=optional, limit=remaining)
        for row_number, (place, row) in enumerate(rows):
            count += 1
            yield number, row_number, place, row


def _words(row: Mapping[str, Any], lang: str, place: str) -> str:
    """Return the question of a row, or that of its language."""
    question = row.get("question") or LANGUAGES[lang].question
    if not isinstance(question, str) or len(question) > MAX_QUESTION:
        raise DatasetError(f"{place}: its `question` is no text of at most {MAX_QUESTION:,} characters.")
    return question


def _question(row: Mapping[str, Any], place: str, guess: Callable[[], str]) -> tuple[str, str]:
    """Return the id and the language of a row; a missing language is guessed."""
    question_id, lang = row.get("question_id"), row["language"] if "language" in row else guess()
    # Half a surrogate pair, which no file of outputs could hold, is not printable.
    if not isinstance(question_id, str) or not question_id.isprintable() or not 0 < len(question_id) <= 256:
        raise DatasetError(f"{place}: no `question_id` of 1 to 256 printable characters.")
    if not isinstance(lang, str) or lang not in LANGUAGES:
        raise DatasetError(f"{place}: no `language` that is known; known: {', '.join(LANGUAGES)}.")
    return question_id, lang
