"""Grading of typed texts against the answers, in two ways.

``exact_match`` is that of a model with the same output, by the scorer: the fields of an item, one a line.
``lenient_match`` compares each field with its own answer and ignores slips that say nothing of reading: case, full
width, kind of quotes, spaces. It never stands for a score.
"""

import unicodedata
from collections.abc import Callable, Iterable, Sequence

from vcrgen.core.errors import StudyError
from vcrgen.scorer.mcq.key import KeyItem
from vcrgen.scorer.scorer import make_scorer
from vcrgen.study.assignment import StepKind
from vcrgen.study.records import GradedResponse, RaterStep, StudyItem, join_fields
from vcrgen.study.source import McqSource, StudyQuestion, StudySource

_QUOTES = dict.fromkeys(map(ord, "\"'`´‘’‚‛“”„‟«»‹›「」『』〝〞′″"), "'")


def typed_form(text: str) -> str:
    """The form in which typed texts are compared: NFKC, no case, one kind of quotes, no spaces.

    Example: ``typed_form("“Ａ  Cat”") == typed_form("'a cat'")``.
    """
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return "".join(folded.translate(_QUOTES).split())


def finished_steps(steps: Iterable[RaterStep], kind: StepKind = StepKind.ITEM) -> list[RaterStep]:
    """The steps of a kind that raters have finished."""
    return [step for step in steps if step.step.kind is kind and step.done]


def grade(source: StudySource, items: Sequence[StudyItem], steps: Iterable[RaterStep]) -> list[GradedResponse]:
    """Grade the texts of finished items.

    Raises:
        StudyError: The dataset lacks an item.
    """
    match_texts = _matcher(source)
    pictures: dict[str, int] = {}
    questions = {item.number: question_of(source, item) for item in items if item.answers is None}
    graded = []
    for finished in finished_steps(steps):
        step, response = finished.step, finished.response
        assert response is not None
        question = questions[step.item]
        picture = pictures.setdefault(question.picture, len(pictures)) if isinstance(question, KeyItem) else None
        answers = question.answers
        for number, (answer, exact) in enumerate(zip(answers, match_texts(answers, response.texts), strict=True)):
            text = response.texts[number]
            graded.append(
                GradedResponse(
                    rater=finished.rater,
                    item=step.item,
                    condition=step.condition,
                    turn=step.turn,
                    place=number,
                    typed=text,
                    unread=response.unread[number],
                    exact_match=exact,
                    lenient_match=typed_form(text) == typed_form(answer),
                    picture=picture,
                )
            )
    return graded


def _matcher(source: StudySource) -> Callable[[tuple[str, ...], tuple[str, ...]], list[bool]]:
    """The function that matches the texts of a rater with the answers of an item, as the scorer does."""
    if isinstance(source, McqSource):
        return lambda answers, texts: [text == answer for answer, text in zip(answers, texts, strict=True)]
    scorer = make_scorer(source.key.lang)
    return lambda answers, texts: [match.exact for match in scorer(answers, join_fields(texts)).matches]


def question_of(source: StudySource, item: StudyItem) -> StudyQuestion:
    """The question of an item.

    Raises:
        StudyError: The dataset lacks it.
    """
    row = source.key.row_of(item.question_id)
    if row is None:
        raise StudyError(f"{source.place} has no item {item.question_id!r} any more; bring back the study's dataset.")
    return source.key.question(row)
