"""Label Studio's JSON, both ways: tasks with the texts of raters, and annotations as raters of a study.

A task is an item in a condition, with its picture inside. Its annotations hold one text area, ``texts``, with a text
for each masked span in the order of reading. ``?`` stands for a span that cannot be read, as Label Studio takes no
empty text. The labelling configuration for such tasks stands in ``docs/study-report.md``.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from vcrgen.errors import StudyError
from vcrgen.media import data_uri
from vcrgen.plurals import pluralize
from vcrgen.reading import as_texts, encodable, read_json
from vcrgen.study.assignment import Slot, Step, StepKind
from vcrgen.study.grading import finished_steps
from vcrgen.study.records import RaterState, RaterStep, Response, StudyDesign, StudyItem
from vcrgen.study.store.database import StudyStore
from vcrgen.study.store.designs import read_design
from vcrgen.study.store.items import read_items, read_picture
from vcrgen.study.store.raters import add_rater, next_rater_number, now, update_rater
from vcrgen.study.store.steps import append_steps, open_slots, read_steps, save_response

CONTROL, UNREAD = "texts", "?"
MAX_TEXT = 10_000  # characters


def export_tasks(store: StudyStore) -> Iterator[dict[str, Any]]:
    """Yield a task for each item in each condition, with an annotation for each rater who finished it."""
    with store.reading() as connection:
        design, items = _vcr_design(read_design(connection)), read_items(connection)
        done: dict[tuple[int, int], list[RaterStep]] = {}
        for one in finished_steps(read_steps(connection)):
            done.setdefault((one.step.item, one.step.condition), []).append(one)
        for item in items[: design.items]:
            for number, condition in enumerate(design.conditions):
                image = data_uri(read_picture(connection, item.number, number))
                data = {"question_id": item.question_id, "mode": condition.mode, "view": condition.view.value}
                yield {
                    "data": data | {"fields": item.fields, "image": image},
                    "annotations": [_annotation(one) for one in done.get((item.number, number), [])],
                }


def import_tasks(store: StudyStore, file: Path) -> int:
    """Import annotations that Label Studio exported as JSON: each annotator becomes a rater who has sent everything.

    Returns:
        The number of raters.

    Raises:
        StudyError: It is no such file, a task is none of this study, a text is missing, an annotator saw an item twice,
            or an item has all the responses that the study needs. Nothing is imported then.
    """
    tasks = read_json(file, StudyError)
    if not isinstance(tasks, list):
        raise StudyError(f"{file} is not what Label Studio exports as JSON: a list of tasks.")
    with store.writing() as connection:
        design = _vcr_design(read_design(connection))
        items = {item.question_id: item for item in read_items(connection) if item.answers is None}
        conditions = {(each.mode, each.view.value): number for number, each in enumerate(design.conditions)}
        wanted = set(open_slots(connection, design))
        raters: dict[str, list[tuple[Slot, Response]]] = {}
        for number, task in enumerate(tasks, start=1):
            place = f"{file}, task {number}"
            data = task.get("data") if isinstance(task, dict) else None
            known = data if isinstance(data, dict) else {}
            item = items.get(str(known.get("question_id")))
            condition = conditions.get((str(known.get("mode")), str(known.get("view"))))
            if item is None or condition is None:
                raise StudyError(f"{place}: no item of this study (`question_id`, `mode` and `view` of its data).")
            for who, response in _responses(task, item, place):
                turn = next((slot for slot in sorted(wanted) if slot[:2] == (item.number, condition)), None)
                mine = raters.setdefault(who, [])
                if turn is None:
                    raise StudyError(f"{place}: the study has all responses to it already.")
                if any(slot.item == item.number for slot, _ in mine):
                    raise StudyError(f"{place}: annotator {who[:80]!r} has seen the item in another mode or view.")
                wanted.remove(turn)
                mine.append((turn, response))
        for rater, given in enumerate(raters.values(), start=next_rater_number(connection)):
            add_rater(connection, rater, "en", token=None, shared_link=None)
            append_steps(connection, rater, [Step(StepKind.ITEM, *slot) for slot, _ in given])
            for number, (_, response) in enumerate(given):
                save_response(connection, rater, number, response)
            update_rater(connection, rater, state=RaterState.SENT, ended=now())
    return len(raters)


def _vcr_design(design: StudyDesign) -> StudyDesign:
    """Return the design of a study in which people type.

    Raises:
        StudyError: They choose options, or audit, instead.
    """
    if design.is_mcq or design.draw:
        raise StudyError("Label Studio's tasks are of masked spans, and this study has none; export it without --to.")
    return design


def _annotation(one: RaterStep) -> dict[str, Any]:
    assert one.response is not None
    texts = [UNREAD if unread else text for text, unread in zip(one.response.texts, one.response.unread, strict=True)]
    result = {"from_name": CONTROL, "to_name": "image", "type": "textarea", "value": {"text": texts}}
    return {"completed_by": one.rater, "lead_time": one.response.seconds, "result": [result]}


def _responses(task: dict[str, Any], item: StudyItem, place: str) -> Iterator[tuple[str, Response]]:
    """Yield the annotators of a task with their responses; skipped annotations are left out."""
    annotations = task.get("annotations")
    for annotation in annotations if isinstance(annotations, list) else []:
        if not isinstance(annotation, dict) or annotation.get("was_cancelled"):
            continue
        results = annotation.get("result")
        texts: tuple[str, ...] = ()
        for result in results if isinstance(results, list) else []:
            if (
                isinstance(result, dict)
                and result.get("from_name") == CONTROL
                and isinstance(result.get("value"), dict)
            ):
                texts = as_texts(result["value"].get("text")) or ()
        if len(texts) != item.fields or any(len(text) > MAX_TEXT for text in texts):
            raise StudyError(
                f"{place}: {pluralize(len(texts), 'text')} in `{CONTROL}`; the item has "
                f"{pluralize(item.fields, 'masked span')}, and a text at most {MAX_TEXT:,} characters."
            )
        unread = tuple(text.strip() == UNREAD for text in texts)
        typed = tuple("" if gone else encodable(text) for text, gone in zip(texts, unread, strict=True))
        seconds = annotation.get("lead_time")
        spent = float(seconds) if isinstance(seconds, int | float) and 0 <= seconds <= 86_400 else 0.0
        yield str(annotation.get("completed_by")), Response(typed, unread, spent, True, 1)
