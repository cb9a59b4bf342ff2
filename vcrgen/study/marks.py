"""What raters typed, against the answers: right or wrong for each covered text, in two ways.

``strict`` is what a model would get for the same output, by the scorer: what was typed into the fields of an item, one
field a line. ``tolerant`` compares each field with its own answer and takes no notice of slips that say nothing of
reading: case, full width, kind of quotes, spaces. It has a name of its own, ``typed``, and never stands for a score.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from vcrgen.errors import StudyError
from vcrgen.scorer.choices.key import KeyItem
from vcrgen.scorer.scorer import make_scorer
from vcrgen.study.design import Kind
from vcrgen.study.records import Mark, RaterStep, StudyItem, Wrong, joined
from vcrgen.study.source import AnyQuestion, ChoiceSource, StudySource

NAME, SLIP, UNREADABLE, FAULT = "name", "slip", "unreadable", "item"
CAUSES = {
    NAME: "name or date", SLIP: "slip of the fingers", UNREADABLE: "cannot be read", FAULT: "fault of the item",
}  # fmt: skip
_QUOTES = dict.fromkeys(map(ord, "\"'`´‘’‚‛“”„‟«»‹›「」『』〝〞′″"), "'")


def typed_form(text: str) -> str:
    """What two typed texts are compared by: NFKC, no case, one kind of quotes, no spaces.

    Example: ``typed_form("“Ａ  Cat”") == typed_form("'a cat'")``.
    """
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return "".join(folded.translate(_QUOTES).split())


def answered(places: Iterable[RaterStep], kind: Kind = Kind.ITEM) -> list[RaterStep]:
    """The steps of a kind that raters have finished."""
    return [place for place in places if place.step.kind is kind and place.done]


def typed_texts(places: Iterable[RaterStep]) -> set[Wrong]:
    """All texts that were typed for items."""
    return {
        (place.step.item, number, text)
        for place in answered(places)
        for number, text in enumerate(place.response.texts if place.response else ())
    }


def mark(
    source: StudySource,
    items: Sequence[StudyItem],
    places: Iterable[RaterStep],
    causes: Mapping[Wrong, str] | None = None,
    blind: Collection[int] = (),
) -> list[Mark]:
    """Score what was typed.

    Args:
        source: The dataset.
        items: The items of the study.
        places: What raters did; only finished items count.
        causes: Of wrong texts, why they are; those with :data:`NAME` are excused.
        blind: Conditions without the picture. Causes are of what people saw, so nothing is excused there.

    Raises:
        StudyError: The dataset lacks an item.
    """
    right = _right_of(source)
    pictures: dict[str, int] = {}
    questions = {item.number: question_of(source, item) for item in items if item.answers is None}
    marks = []
    for place in answered(places):
        step, response = place.step, place.response
        assert response is not None
        question = questions[step.item]
        picture = pictures.setdefault(question.picture, len(pictures)) if isinstance(question, KeyItem) else None
        answers = question.answers
        for number, (answer, exact) in enumerate(zip(answers, right(answers, response.texts), strict=True)):
            text = response.texts[number]
            cause = None if step.condition in blind else (causes or {}).get((step.item, number, text))
            marks.append(
                Mark(
                    rater=place.rater, item=step.item, condition=step.condition, turn=step.turn, place=number,
                    typed=text, unread=response.unread[number], strict=exact,
                    tolerant=typed_form(text) == typed_form(answer), excused=not exact and cause == NAME,
                    picture=picture,
                )
            )  # fmt: skip
    return marks


def _right_of(source: StudySource) -> Callable[[tuple[str, ...], tuple[str, ...]], list[bool]]:
    """Tells of each answer of an item whether the texts of a rater have it, as the scorer does for models."""
    if isinstance(source, ChoiceSource):
        return lambda answers, texts: [text == answer for answer, text in zip(answers, texts, strict=True)]
    scorer = make_scorer(source.key.lang)
    return lambda answers, texts: [match.exact for match in scorer(answers, joined(texts)).matches]


def question_of(source: StudySource, item: StudyItem) -> AnyQuestion:
    """The question of an item.

    Raises:
        StudyError: The dataset lacks it.
    """
    row = source.key.row_of(item.question_id)
    if row is None:
        raise StudyError(f"{source.place} has no item {item.question_id!r} any more; bring back the study's dataset.")
    return source.key.question(row)


def agreed(causes: Mapping[str, Mapping[Wrong, str]]) -> dict[Wrong, str]:
    """The causes that stand: those on which all agree who named one."""
    said: dict[Wrong, set[str]] = {}
    for of_one in causes.values():
        for about, cause in of_one.items():
            said.setdefault(about, set()).add(cause)
    return {about: next(iter(found)) for about, found in said.items() if len(found) == 1}
