"""The pictures of a dataset that a model or a person is shown, one by one.

For example:

    selection = PictureSelection(views=(View.STACKED, View.TEI), split="test")
    pictures = open_pictures(open_dataset("data/vcr-en", VCR), selection)
    for picture in pictures.stream():
        send(picture.data)

Pictures are not decoded here and may be invalid.
"""

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
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
        """This selection certainly includes all pictures of another one."""
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


def open_pictures(dataset: Dataset, selection: PictureSelection, *, answers: bool = False) -> Pictures:
    """Select pictures of a dataset; none is read yet.

    They are streamed mode by mode, in row order. A missing language is guessed from the first answers.

    Raises:
        ConfigError: The dataset has nothing of that mode or split.
        DatasetError: A file is damaged, lacks a column, or has rows of another mode than vcrgen builds; answers are
            asked of the public part of a hidden set; or words are to be shown of a dataset that has none.
    """
    if selection.canary:
        return _canary_questions(dataset)
    if answers and dataset.is_hidden:
        raise DatasetError(f"{dataset} is the public part of a hidden test set, which has no answers.")
    selected = dataset.select(mode=selection.mode, split=selection.split)
    if not all(map(is_mode, dataset.modes)):
        raise DatasetError(f"The manifest of {dataset} names a mode that vcrgen does not build; build it again.")
    parts = [selected.select(mode=mode) for mode in selected.modes] or [selected]
    columns, optional = _columns(dataset, selection, answers=answers)
    for part in parts:
        part.check(columns)
    if dataset.is_hidden:  # in memory by now, so a fault can show before hours of work
        for place, row in selected.rows(["question_id"], optional=["language"]):
            _question_id(row, place)
            _known_language(row.get("language", ""), place)
    stream = _PictureStream(
        dataset=dataset,
        selected=selected,
        parts=parts,
        selection=selection,
        columns=columns,
        optional=optional,
        answers=answers,
    )
    total = sum(part.count(selection.limit) for part in parts) * len(selection.views)
    return Pictures(dataset=dataset, identity=dataset.identity, total=total, stream=stream.pictures)


@dataclass(frozen=True, kw_only=True)
class _PictureStream:
    """Reads the selected pictures of a dataset."""

    dataset: Dataset
    selected: Dataset  # its selected files
    parts: Sequence[Dataset]  # these by mode
    selection: PictureSelection
    columns: list[str]  # required
    optional: list[str]
    answers: bool  # pictures have the right answers

    @cached_property
    def guessed_language(self) -> str:
        """The language of rows that name none, guessed from the first answers."""
        answers = self.dataset.kind.answers
        rows = self.selected.rows(["question_id"], optional=[answers], limit=_GUESSED_FROM)
        return guess_language(text for _, row in rows for text in row.get(answers) or () if text)

    def pictures(self) -> Iterator[Picture]:
        """Yield all pictures, mode by mode, in row order."""
        file_numbers = {file.path: number for number, file in enumerate(self.dataset.files)}
        limit = self.selection.limit
        for part in self.parts:
            mode_number = self.dataset.modes.index(part.modes[0]) if part.modes else 0
            for file, row_number, place, row in numbered_rows(part, self.columns, self.optional, limit):
                row = {**row, "mode": next(iter(part.modes), row.get("mode"))}
                order = mode_number, file_numbers[part.files[file].path], row_number
                yield from self._row_pictures(row, place, order)

    def _language(self, row: Mapping[str, Any]) -> Any:
        if "language" in row:
            return row["language"]
        return self.guessed_language

    def _row_pictures(self, row: Mapping[str, Any], place: str, order: tuple[int, int, int]) -> Iterator[Picture]:
        """Yield the pictures of a row; ``order`` has the numbers of its mode, its file and itself."""
        question_id = _question_id(row, place)
        lang = _known_language(self._language(row), place)
        question = _question_text(row, lang, place)
        kind, mode = self.dataset.kind, row["mode"]
        for view in self.selection.views:
            data, prompt, problem = _view_picture(kind, row, view, lang, question)
            yield Picture(
                question_id=question_id,
                lang=lang,
                view=view,
                mode=mode if is_mode(mode) else None,
                data=data,
                question=prompt,
                place=(*order, list(View).index(view)),
                answers=as_texts(row[kind.answers]) or () if self.answers else (),
                problem=problem,
            )


def _columns(dataset: Dataset, selection: PictureSelection, *, answers: bool) -> tuple[list[str], list[str]]:
    """The required and the optional columns."""
    columns = ["question_id", *(view.column for view in selection.views if view in IMAGE_VIEWS)]
    optional = ["language", "mode", "question"]
    kind = dataset.kind
    if View.TEXT_ONLY in selection.views:
        if dataset.is_hidden or kind.text_context is None:
            why = "a hidden test set, whose words are in its pictures only" if dataset.is_hidden else "of another kind"
            raise DatasetError(f"{dataset} cannot be shown as text: it is {why}. Choose another --view.")
        columns += kind.text_columns
        optional += kind.optional_text_columns
    if answers and kind.answers not in columns:
        columns.append(kind.answers)
    return columns, optional


def _canary_questions(dataset: Dataset) -> Pictures:
    """The prompts for the canary of a hidden set as pictures without images."""
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
    """The image of a row in a view, its prompt, and the problem if there is no image, or an empty text."""
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


def _question_text(row: Mapping[str, Any], lang: str, place: str) -> str:
    """The question of a row, or that of its language."""
    question = row.get("question") or LANGUAGES[lang].question
    if not isinstance(question, str) or len(question) > MAX_QUESTION:
        raise DatasetError(f"{place}: its `question` is no text of at most {MAX_QUESTION:,} characters.")
    return question


def _question_id(row: Mapping[str, Any], place: str) -> str:
    question_id = row.get("question_id")
    # Half a surrogate pair, which no file of outputs could hold, is not printable.
    if not isinstance(question_id, str) or not question_id.isprintable() or not 0 < len(question_id) <= 256:
        raise DatasetError(f"{place}: no `question_id` of 1 to 256 printable characters.")
    return question_id


def _known_language(lang: Any, place: str) -> str:
    if not isinstance(lang, str) or lang not in LANGUAGES:
        raise DatasetError(f"{place}: no `language` that is known; known: {', '.join(LANGUAGES)}.")
    return lang
