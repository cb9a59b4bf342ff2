"""Selection of multiple-choice questions: language, view, and order of the options.

For example, all questions in English, each in four orders of its options:

    choice = QuestionSelection(lang="en", rotations=4)
    for picture in open_questions(open_task_dataset("data/my-bloom"), choice).stream():
        ask(picture.question, picture.options, picture.data)
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Self

from vcrgen.core.errors import ConfigError, DatasetError
from vcrgen.data.pictures import MAX_QUESTION, Picture, Pictures, PictureSelection, numbered_rows, open_pictures
from vcrgen.data.reader import Dataset
from vcrgen.data.tables import image_bytes
from vcrgen.data.tasks.bloom import MAX_OPTIONS, ChoiceItem, item_of, languages_of
from vcrgen.data.views import QUESTION_VIEWS, View

_VIEWS = QUESTION_VIEWS["both"]


@dataclass(frozen=True, kw_only=True)
class QuestionSelection(PictureSelection):
    """A selection of multiple-choice questions."""

    views: tuple[View, ...] = (View.IMAGE,)
    lang: str | None = None  # only this language
    rotations: int = (
        1  # orders of the options, each a question of its own: 1 for the dataset's own, else all of an item
    )

    def includes(self, other: Self) -> bool:
        """Return whether this selection surely includes all questions of another."""
        wider = self.lang in (None, other.lang) and self.rotations >= other.rotations
        return super().includes(other) and (wider or self.canary)


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionPicture(Picture):
    """One question with its picture, and its options."""

    options: tuple[str, ...]  # in the dataset's order
    rotation: int  # the order in which they are shown, as of :func:`vcrgen.data.tasks.bloom.shown_option`


def open_selection(dataset: Dataset, choice: PictureSelection, *, answers: bool = False) -> Pictures:
    """Open the pictures or questions of a selection."""
    if isinstance(choice, QuestionSelection):
        return open_questions(dataset, choice)
    return open_pictures(dataset, choice, answers=answers)


def open_questions(dataset: Dataset, choice: QuestionSelection) -> Pictures:
    """Open the selected questions, ordered by row, language, view and rotation.

    Items that are incomplete in a language are skipped in it.

    Raises:
        ConfigError: The dataset has nothing of that split, language, mode or view, or items with more options than
            the orders that are asked for.
        DatasetError: A file is damaged, or holds a question that is none.
    """
    if choice.canary:
        return open_pictures(dataset, choice)
    languages = languages_of(dataset)
    if choice.lang not in (None, *languages):
        raise ConfigError(f"{dataset} has no questions in {choice.lang!r}; it has {', '.join(languages)}.")
    asked = [lang for lang in languages if choice.lang in (None, lang)]
    selected = dataset.select(mode=choice.mode, split=choice.split)
    texts = ["question_id", *(f"{name}_{lang}" for lang in languages for name in ("question", "options"))]
    files = {file.path: number for number, file in enumerate(dataset.files)}
    shows_images = View.IMAGE in choice.views

    def items(*, images: bool) -> Iterator[tuple[int, int, bytes | None, ChoiceItem]]:
        columns = [*texts, *(["image"] if images else [])]
        for number, row_number, place, row in numbered_rows(selected, columns, [], choice.limit):
            try:
                item = item_of({name: row[name] for name in texts}, languages)
                _check_length(item)
            except (TypeError, ValueError) as problem:
                raise DatasetError(f"{place}: {problem}; build or import the MCQ benchmark again.") from None
            yield files[selected.files[number].path], row_number, image_bytes(row.get("image")), item

    def stream() -> Iterator[Picture]:
        for file, row, data, item in items(images=shows_images):
            for lang, view, rotation in product(asked, choice.views, range(min(choice.rotations, item.options))):
                if lang in item.questions:
                    order = (languages.index(lang) * len(_VIEWS) + _VIEWS.index(view)) * MAX_OPTIONS + rotation
                    yield _picture(item, lang, view, rotation, data, (0, file, row, order))

    orders = Counter(item.options for *_, item in items(images=False) for lang in asked if lang in item.questions)
    if 1 < choice.rotations < (most := max(orders, default=0)):
        raise ConfigError(
            f"{dataset} has items with {most} options, and --rotations is {choice.rotations}: a question in some of "
            f"its orders says little; give {most}, or 1."
        )
    total = sum(min(choice.rotations, options) * count for options, count in orders.items()) * len(choice.views)
    return Pictures(dataset=dataset, identity=dataset.identity, total=total, stream=stream)


def _picture(
    item: ChoiceItem, lang: str, view: View, rotation: int, data: bytes | None, place: tuple[int, int, int, int]
) -> QuestionPicture:
    question, picture = item.questions[lang], data if view == View.IMAGE else None
    return QuestionPicture(
        question_id=item.question_id,
        lang=lang,
        view=view,
        mode=None,
        data=picture,
        question=question.text,
        place=place,
        options=question.options,
        rotation=rotation,
        problem="the dataset holds no image" if view == View.IMAGE and not picture else "",
    )


def _check_length(item: ChoiceItem) -> None:
    """Raise a ValueError for a question that no model should be sent."""
    for lang, question in item.questions.items():
        if len(question.text) + sum(map(len, question.options)) > MAX_QUESTION:
            raise ValueError(f"its question in {lang!r} has more than {MAX_QUESTION:,} characters")
