"""What a study gives to other programs: outputs as of models, verdicts of an audit, and the design."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from vcrgen.errors import StudyError
from vcrgen.scorer.records import UNSTATED
from vcrgen.study import store as db
from vcrgen.study.audit import answer_lines
from vcrgen.study.design import Kind
from vcrgen.study.label_studio import as_tasks
from vcrgen.study.marks import answered
from vcrgen.study.people import find
from vcrgen.study.records import Condition, Frozen, joined
from vcrgen.study.store import Store

Line = dict[str, Any]
LABEL_STUDIO = "label-studio"


def export(store: Store, form: str | None = None, rater: str | None = None) -> str:
    """What people did, as JSON Lines, or as one JSON list for Label Studio.

    Args:
        store: The study.
        form: ``outputs``, as `vcrgen score` reads them, a rater being a model; ``audit``, as `vcrgen bloom audit
            report` reads them; ``design``: who is asked what; or ``label-studio``: tasks with annotations. None for
            ``audit`` of an audit, and else ``outputs``.
        rater: Only this one's, such as ``r3``; a file that is to be scored holds one model.

    Raises:
        StudyError: The form or the rater is unknown, or the form is not for this study.
    """
    with store.reading() as connection:
        draw = db.read_frozen(connection).draw
    form = form or ("audit" if draw else "outputs")
    if draw and form == "outputs":
        raise StudyError(f"{store.folder} is an audit, which has no outputs; choose --to audit.")
    if not draw and form == "audit":
        raise StudyError(f"{store.folder} is no audit; choose another form than --to audit.")
    if form == LABEL_STUDIO:
        if rater is not None:
            raise StudyError(f"{LABEL_STUDIO} holds all raters; leave out --rater.")
        return json.dumps(list(as_tasks(store)), ensure_ascii=False) + "\n"
    if form not in FORMS:
        raise StudyError(f"Unknown form {form!r}; known: {', '.join((*FORMS, LABEL_STUDIO))}.")
    number = None
    if rater is not None:
        with store.reading() as connection:
            number = find(db.raters_of(connection), rater).number
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in FORMS[form](store, number))


def _outputs(store: Store, rater: int | None) -> Iterator[Line]:
    """A line for each finished item."""
    with store.reading() as connection:
        frozen, items = db.read_frozen(connection), db.items_of(connection)
        places = db.places_of(connection, rater)
    for place in answered(places):
        condition, response = frozen.conditions[place.step.condition], place.response
        assert response is not None
        yield {
            "question_id": items[place.step.item].question_id,
            "output": joined(response.texts),
            "view": condition.view.value,
            **_axis(frozen, condition),
            "model": f"r{place.rater}",
            "fields": response.texts,
            "unread": response.unread,
            "seconds": response.seconds,
        }


def _audit(store: Store, rater: int | None) -> Iterator[Line]:
    """A line for each finished item of an audit."""
    with store.reading() as connection:
        frozen, items = db.read_frozen(connection), db.items_of(connection)
        places = db.places_of(connection, rater)
    assert frozen.draw is not None
    return answer_lines(frozen.draw, items, places)


def _axis(frozen: Frozen, condition: Condition) -> Line:
    """In which language or mode an item was shown, where files of outputs say so."""
    if frozen.choosing:
        return {"lang": condition.mode}
    return {} if condition.mode == UNSTATED or frozen.hidden else {"mode": condition.mode}


def _design(store: Store, rater: int | None) -> Iterator[Line]:
    """A line for each step of each rater."""
    with store.reading() as connection:
        frozen, items = db.read_frozen(connection), db.items_of(connection)
        places = db.places_of(connection, rater)
    for place in places:
        line: Line = {"rater": f"r{place.rater}", "step": place.number, "kind": place.step.kind.value}
        if place.step.kind is not Kind.CHECK:
            condition = frozen.conditions[place.step.condition]
            line["question_id"] = items[place.step.item].question_id
            line |= {"lang" if frozen.choosing else "mode": condition.mode}
            line["view"] = condition.view.value
        if place.step.kind is Kind.ITEM:
            line["pass"] = place.step.turn
        yield line | {"done": place.done}


FORMS: Mapping[str, Callable[[Store, int | None], Iterator[Line]]] = {
    "outputs": _outputs, "audit": _audit, "design": _design,
}  # fmt: skip
