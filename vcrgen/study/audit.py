"""An audit of a question set as a study: a step has three fields, the rater's own answer, the verdict and the note.

Who looks at which item is what the audit drew. The key of an item is shown when the rater's own answer is kept, which
then cannot be changed any more. What comes of it are the lines that the audit's offline pages save.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from vcrgen.bloom.audit.answers import MAX_NOTE, AuditVerdict, RaterAnswers, take_answers
from vcrgen.bloom.audit.draw import FILE, Draw, read_draw
from vcrgen.bloom.audit.figures import audit_figures
from vcrgen.bloom.audit.page import asked_of
from vcrgen.bloom.audit.report import audit_tables, faults_table
from vcrgen.bloom.audit.texts import TEXTS
from vcrgen.config import StudyOptions
from vcrgen.errors import StudyError
from vcrgen.media import data_uri
from vcrgen.report.table import Table
from vcrgen.scorer.choices.key import KeyItem
from vcrgen.study import store as db
from vcrgen.study.marks import answered
from vcrgen.study.records import RaterStep, Response, StudyItem
from vcrgen.study.source import AnyQuestion, StudySource
from vcrgen.study.store import Store
from vcrgen.tasks.bloom import LETTERS, ChoiceQuestion
from vcrgen.tasks.opening import open_any

FIELDS = 3
NOTE = 2  # the field that may stay empty
CHOSEN = {"audit", "pause", "seed"}  # options that are left where a draw decides the rest


def drawn_for(data: str, options: StudyOptions) -> tuple[Draw | None, StudyOptions]:
    """The draw of the audit that a study is made for, if it is, and the options that go with it.

    Raises:
        StudyError: An option is given that a draw decides.
        DatasetError: There is no draw, or it is of another set.
    """
    if options.audit is None:
        return None, options
    for name in sorted(options.model_fields_set - CHOSEN):
        shown = name.replace("_", "-")
        raise StudyError(f"--{shown} has no meaning beside --audit, whose draw says who looks at what; leave it out.")
    draw = read_draw(Path(options.audit) / FILE, open_any(data))
    decided = {"split": "all", "raters": draw.raters, "training": 0, "checks": 0, "repeats": 0}
    return draw, options.model_copy(update=decided)


def audited(source: StudySource, draw: Draw) -> list[AnyQuestion]:
    """The items of an audit, in the order of its draw.

    Raises:
        StudyError: The set lacks one.
    """
    rows = [source.key.row_of(item.question_id) for item in draw.items]
    found = [source.key.question(row) for row in rows if row is not None]
    if len(found) < len(rows):
        raise StudyError(f"{source.place} lacks items of the draw; draw again.")
    return found


def audit_item(number: int, item: AnyQuestion) -> StudyItem:
    """An item of an audit as the study keeps it."""
    assert isinstance(item, KeyItem)
    letters = tuple(LETTERS[option] for option in (item.answer, item.trap) if option is not None)
    return StudyItem(number=number, question_id=item.question_id, fields=FIELDS, answers=letters)


def asked_in_audit(
    draw: Draw, questions: Mapping[tuple[int, str], ChoiceQuestion], places: Sequence[RaterStep], lang: str
) -> dict[str, Any]:
    """What the page of a rater needs to show the items: none of it is a key."""
    of_item = by_item(questions)
    items = [
        {"path": draw.items[place.step.item].path, "questions": asked_of(of_item.get(place.step.item, {}))}
        for place in places
    ]
    return {"optional": NOTE, "audit": {"texts": TEXTS[lang], "longest": MAX_NOTE, "items": items}}


def by_item(questions: Mapping[tuple[int, str], ChoiceQuestion]) -> dict[int, dict[str, ChoiceQuestion]]:
    """Questions by the number of their item, and then by language."""
    found: dict[int, dict[str, ChoiceQuestion]] = {}
    for (number, lang), question in questions.items():
        found.setdefault(number, {})[lang] = question
    return found


def has_answered(response: Response) -> bool:
    """Whether a rater has answered the question of an item: with a letter, or with "I cannot tell"."""
    return bool(response.texts[0]) or response.unread[0]


def audit_problem(texts: Sequence[str], unread: Sequence[bool], done: bool, before: Response | None) -> str:
    """What is wrong with what is sent for a step, given what is kept of it; empty for nothing."""
    answer, verdict, note = texts
    cannot = unread[0]
    if answer not in ("", *LETTERS) or (answer and cannot) or any(unread[1:]):
        return "An answer is one of four options, or none."
    if verdict not in ("", *AuditVerdict) or len(note) > MAX_NOTE:
        return f"A verdict is one of {len(AuditVerdict)}, and a note has at most {MAX_NOTE} characters."
    kept = before is not None and has_answered(before)
    if before is not None and kept and (answer, cannot) != (before.texts[0], before.unread[0]):
        return "An answer cannot be changed after the key was shown."
    if (verdict or note) and not kept:
        return "The verdict comes after the answer."
    return "There is no verdict yet." if done and not verdict else ""


def answer_lines(draw: Draw, items: Sequence[StudyItem], places: Sequence[RaterStep]) -> Iterator[dict[str, Any]]:
    """A line for each finished item, as `vcrgen bloom audit report` reads it; a rater is the one of the draw."""
    for place in answered(places):
        assert place.response is not None
        answer, verdict, note = place.response.texts
        yield {
            "audit": draw.name, "rater": place.step.turn + 1, "question_id": items[place.step.item].question_id,
            "answer": answer, "verdict": verdict, "note": note,
        }  # fmt: skip


def answers_of(draw: Draw, items: Sequence[StudyItem], places: Sequence[RaterStep]) -> RaterAnswers:
    """What raters say of the items that they have finished."""
    return take_answers(answer_lines(draw, items, places), draw)


def report_tables(draw: Draw, items: Sequence[StudyItem], answers: RaterAnswers) -> list[Table]:
    """The tables of `vcrgen bloom audit report`, and the items that a rater did not approve."""
    keys = {item.question_id: item.answers[0] for item in items if item.answers}
    return [*audit_tables(audit_figures(draw, answers, keys)), faults_table(draw, answers)]


def shown_faults(
    store: Store, draw: Draw, items: Sequence[StudyItem], answers: RaterAnswers, wanted: Collection[str]
) -> Iterator[dict[str, Any]]:
    """Some items with what raters say of them, as the template ``asked.html`` takes them."""
    paths = {item.question_id: item.path for item in draw.items}
    with store.reading() as connection:
        questions = by_item(db.questions_of(connection))
        for item in items:
            if item.question_id in wanted:
                png = db.picture_of(connection, item.number, 0)
                yield {
                    "id": item.question_id, "path": paths[item.question_id], "said": answers.said[item.question_id],
                    "picture": data_uri(png),
                    "questions": asked_of(questions.get(item.number, {})), "right": (item.answers or ("",))[0],
                }  # fmt: skip
