"""Label Studio's JSON, both ways: tasks with what raters typed, and annotations as raters of a study.

A task is an item in a condition, with its picture inside. Its annotations hold one text area, ``texts``, with a text
for each covered part in the order of reading. ``?`` stands for a part that cannot be read, as Label Studio takes no
empty text. The labelling configuration for such tasks stands in ``docs/study.md``.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from vcrgen.errors import StudyError
from vcrgen.media import data_uri
from vcrgen.plurals import counted
from vcrgen.reading import as_texts, encodable, read_json
from vcrgen.study import store as db
from vcrgen.study.design import Kind, Step, Viewing
from vcrgen.study.marks import answered
from vcrgen.study.records import Frozen, RaterState, RaterStep, Response, StudyItem
from vcrgen.study.store import Store

CONTROL, UNREAD = "texts", "?"
MAX_TEXT = 10_000  # characters


def as_tasks(store: Store) -> Iterator[dict[str, Any]]:
    """A task for each item in each condition, with an annotation for each rater who finished it."""
    with store.reading() as connection:
        frozen, items = _typing(db.read_frozen(connection)), db.items_of(connection)
        done: dict[tuple[int, int], list[RaterStep]] = {}
        for one in answered(db.places_of(connection)):
            done.setdefault((one.step.item, one.step.condition), []).append(one)
        for item in items[: frozen.items]:
            for number, condition in enumerate(frozen.conditions):
                image = data_uri(db.picture_of(connection, item.number, number))
                data = {"question_id": item.question_id, "mode": condition.mode, "view": condition.view.value}
                yield {
                    "data": data | {"fields": item.fields, "image": image},
                    "annotations": [_annotation(one) for one in done.get((item.number, number), [])],
                }


def take_tasks(store: Store, file: Path) -> int:
    """Take in what Label Studio exported as JSON: each annotator becomes a new rater who has sent everything.

    Returns:
        How many raters there were.

    Raises:
        StudyError: It is no such file, a task is none of this study, a text is missing, an annotator saw an item twice,
            or an item has been answered by as many people as the study wants. Nothing is taken then.
    """
    tasks = read_json(file, StudyError)
    if not isinstance(tasks, list):
        raise StudyError(f"{file} is not what Label Studio exports as JSON: a list of tasks.")
    with store.writing() as connection:
        frozen = _typing(db.read_frozen(connection))
        items = {item.question_id: item for item in db.items_of(connection) if item.answers is None}
        conditions = {(each.mode, each.view.value): number for number, each in enumerate(frozen.conditions)}
        wanted = set(db.wanted_slots(connection, frozen))
        raters: dict[str, list[tuple[Viewing, Response]]] = {}
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
                    raise StudyError(f"{place}: as many people as the study wants have seen it already.")
                if any(slot.item == item.number for slot, _ in mine):
                    raise StudyError(f"{place}: annotator {who[:80]!r} has seen the item in another mode or view.")
                wanted.remove(turn)
                mine.append((turn, response))
        for rater, given in enumerate(raters.values(), start=db.next_rater(connection)):
            db.add_rater(connection, rater, "en", token=None, code="", door=None)
            db.add_steps(connection, rater, [Step(Kind.ITEM, *slot) for slot, _ in given])
            for number, (_, response) in enumerate(given):
                db.save(connection, rater, number, response)
            db.change_rater(connection, rater, phase=RaterState.SENT, ended=db.now())
    return len(raters)


def _typing(frozen: Frozen) -> Frozen:
    """What was decided of a study in which people type.

    Raises:
        StudyError: They choose options, or audit, instead.
    """
    if frozen.choosing or frozen.draw:
        raise StudyError("Label Studio's tasks are of covered texts, and this study has none; export it without --to.")
    return frozen


def _annotation(one: RaterStep) -> dict[str, Any]:
    assert one.response is not None
    texts = [UNREAD if unread else text for text, unread in zip(one.response.texts, one.response.unread, strict=True)]
    result = {"from_name": CONTROL, "to_name": "image", "type": "textarea", "value": {"text": texts}}
    return {"completed_by": one.rater, "lead_time": one.response.seconds, "result": [result]}


def _responses(task: dict[str, Any], item: StudyItem, place: str) -> Iterator[tuple[str, Response]]:
    """Who annotated a task, and what they typed; annotations that were skipped are left out."""
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
                f"{place}: {counted(len(texts), 'text')} in `{CONTROL}`; the item has "
                f"{counted(item.fields, 'covered part')}, and a text at most {MAX_TEXT:,} characters."
            )
        unread = tuple(text.strip() == UNREAD for text in texts)
        typed = tuple("" if gone else encodable(text) for text, gone in zip(texts, unread, strict=True))
        seconds = annotation.get("lead_time")
        spent = float(seconds) if isinstance(seconds, int | float) and 0 <= seconds <= 86_400 else 0.0
        yield str(annotation.get("completed_by")), Response(typed, unread, spent, True, 1)
