"""An audit as a study: a step has three fields, the rater's own answer, the verdict and the note.

The draw of the audit decides which rater judges which item. The key of an item is shown when the rater's own answer is
stored, which then cannot be changed any more.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from vcrgen.bloom.audit.draw import FILE, Draw, read_draw
from vcrgen.bloom.audit.rejected_items import question_views
from vcrgen.bloom.audit.verdicts import MAX_NOTE, AuditVerdict, AuditVerdicts, collect_verdicts
from vcrgen.core.errors import StudyError
from vcrgen.core.media import data_uri
from vcrgen.data.tasks.bloom import LETTERS, ChoiceQuestion
from vcrgen.data.tasks.opening import open_task_dataset
from vcrgen.scorer.mcq.key import KeyItem
from vcrgen.study.audit_texts import ITEM
from vcrgen.study.grading import finished_steps
from vcrgen.study.options import StudyOptions
from vcrgen.study.records import RaterStep, Response, StudyItem
from vcrgen.study.source import StudyQuestion, StudySource
from vcrgen.study.store.database import StudyStore
from vcrgen.study.store.items import read_picture, read_questions

FIELDS = 3
NOTE = 2  # the field that may stay empty
FREE_OPTIONS = {"audit", "pause", "seed"}  # that the draw does not decide


def open_draw(data: str, options: StudyOptions) -> tuple[Draw | None, StudyOptions]:
    """The draw of the audit that a study is made for, if it is, and the options that go with it.

    Raises:
        StudyError: An option is given that a draw decides.
        DatasetError: There is no draw, or it is of another benchmark.
    """
    if options.audit is None:
        return None, options
    for name in sorted(options.model_fields_set - FREE_OPTIONS):
        option = name.replace("_", "-")
        raise StudyError(f"--{option} has no meaning beside --audit, whose draw assigns the items; leave it out.")
    draw = read_draw(Path(options.audit) / FILE, open_task_dataset(data))
    decided = {"split": "all", "raters": draw.raters, "training": 0, "checks": 0, "repeats": 0}
    return draw, options.model_copy(update=decided)


def audit_items(source: StudySource, draw: Draw) -> list[StudyQuestion]:
    """The items of an audit, in the order of its draw.

    Raises:
        StudyError: The benchmark lacks one.
    """
    rows = [source.key.row_of(item.question_id) for item in draw.items]
    questions = [source.key.question(row) for row in rows if row is not None]
    if len(questions) < len(rows):
        raise StudyError(f"{source.place} lacks items of the draw; draw again.")
    return questions


def audit_study_item(number: int, item: StudyQuestion, *, lang: str) -> StudyItem:
    """Return an item of an audit as the study stores it."""
    assert isinstance(item, KeyItem)
    letters = tuple(LETTERS[option] for option in (item.answer, item.trap) if option is not None)
    return StudyItem(number=number, question_id=item.question_id, fields=FIELDS, answers=letters)


def audit_page_data(
    draw: Draw, questions: Mapping[tuple[int, str], ChoiceQuestion], steps: Sequence[RaterStep], lang: str
) -> dict[str, Any]:
    """The items of a rater for the page; no key is among them."""
    by_item = _by_item(questions)
    items = [
        {"path": draw.items[step.step.item].path, "questions": question_views(by_item.get(step.step.item, {}))}
        for step in steps
    ]
    audit = {"texts": ITEM[lang], "verdicts": list(AuditVerdict), "longest": MAX_NOTE, "items": items}
    return {"optional": NOTE, "audit": audit}


def is_answered(response: Response) -> bool:
    """Whether a rater has answered the question of an item: with a letter, or with "I cannot tell"."""
    return bool(response.texts[0]) or response.unread[0]


def audit_response_error(
    texts: Sequence[str], unread: Sequence[bool], done: bool, stored: Response | None, letters: str
) -> str:
    """The problem of a response, given the stored one; empty for none."""
    answer, verdict, note = texts
    cannot = unread[0]
    if answer not in ("", *letters) or (answer and cannot) or any(unread[1:]):
        return f"An answer is one of {len(letters)} options, or none."
    if verdict not in ("", *AuditVerdict) or len(note) > MAX_NOTE:
        return f"A verdict is one of {len(AuditVerdict)}, and a note has at most {MAX_NOTE} characters."
    answered = stored is not None and is_answered(stored)
    if stored is not None and answered and (answer, cannot) != (stored.texts[0], stored.unread[0]):
        return "An answer cannot be changed after the key was shown."
    if (verdict or note) and not answered:
        return "The verdict comes after the answer."
    return "There is no verdict yet." if done and not verdict else ""


def verdict_lines(draw: Draw, items: Sequence[StudyItem], steps: Sequence[RaterStep]) -> Iterator[dict[str, Any]]:
    """Yield a line for each finished item, as `vcrgen bloom audit report` reads it; raters are those of the draw."""
    for step in finished_steps(steps):
        assert step.response is not None
        answer, verdict, note = step.response.texts
        yield {
            "audit": draw.name,
            "rater": step.step.turn + 1,
            "question_id": items[step.step.item].question_id,
            "answer": answer,
            "verdict": verdict,
            "note": note,
        }


def study_verdicts(draw: Draw, items: Sequence[StudyItem], steps: Sequence[RaterStep]) -> AuditVerdicts:
    """The verdicts of raters on the items that they have finished."""
    return collect_verdicts(verdict_lines(draw, items, steps), draw)


def rejected_item_views(
    store: StudyStore, draw: Draw, items: Sequence[StudyItem], verdicts: AuditVerdicts, question_ids: Sequence[str]
) -> Iterator[dict[str, Any]]:
    """Yield items with their verdicts, as `vcrgen.bloom.audit.rejected_items.read_rejected_items` does."""
    paths = {item.question_id: item.path for item in draw.items}
    with store.reading() as connection:
        questions = _by_item(read_questions(connection))
        for item in items:
            if item.question_id in question_ids:
                yield {
                    "id": item.question_id,
                    "path": paths[item.question_id],
                    "verdicts": verdicts.by_item[item.question_id],
                    "key": (item.answers or ("",))[0],
                    "picture": data_uri(read_picture(connection, item.number, 0)),
                    "questions": question_views(questions.get(item.number, {})),
                }


def _by_item(questions: Mapping[tuple[int, str], ChoiceQuestion]) -> dict[int, dict[str, ChoiceQuestion]]:
    by_item: dict[int, dict[str, ChoiceQuestion]] = {}
    for (number, lang), question in questions.items():
        by_item.setdefault(number, {})[lang] = question
    return by_item
