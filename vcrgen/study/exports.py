"""Exports of a study: outputs as of models, verdicts of an audit, the assignment, payments, and errors."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from vcrgen.core.errors import StudyError
from vcrgen.scorer.records import UNSTATED
from vcrgen.study.assignment import StepKind
from vcrgen.study.audit_study import verdict_lines
from vcrgen.study.causes import list_errors
from vcrgen.study.grading import finished_steps
from vcrgen.study.raters import rater_by_name
from vcrgen.study.records import Condition, RaterStep, StudyDesign, StudyItem, join_fields
from vcrgen.study.store.database import StudyStore
from vcrgen.study.store.designs import read_design
from vcrgen.study.store.items import read_items
from vcrgen.study.store.raters import read_raters
from vcrgen.study.store.steps import read_steps
from vcrgen.study.visitors import payment_lines

Line = dict[str, Any]
PAYMENTS, ERRORS = "payments", "errors"


def export(store: StudyStore, form: str | None = None, rater: str | None = None, *, data: str | None = None) -> str:
    """Export a study as JSON Lines, or as a CSV file of payments or errors.

    Args:
        form: ``outputs``, as `vcrgen score` reads them, a rater being a model; ``audit``, as `vcrgen bloom audit
            report` reads them; ``design``: the steps of raters; ``payments``: whose submission to approve; or
            ``errors``: for the causes of errors. None for ``audit`` of an audit, and else ``outputs``.
        rater: Only this one's, such as ``r3``; a file that is to be scored holds one model.

        data: Where the dataset is now, if it was moved; only ``errors`` needs it.

    Raises:
        StudyError: The form or the rater is unknown, or the form is not for this study.
    """
    with store.reading() as connection:
        design, items, raters = read_design(connection), read_items(connection), read_raters(connection)
    draw = design.draw
    form = form or ("audit" if draw else "outputs")
    if draw and form == "outputs":
        raise StudyError(f"{store.folder} is an audit, which has no outputs; choose --to audit.")
    if not draw and form == "audit":
        raise StudyError(f"{store.folder} is no audit; choose another form than --to audit.")
    if form in (PAYMENTS, ERRORS) and rater is not None:
        raise StudyError(f"{form} holds all raters; leave out --rater.")
    if form == ERRORS:
        return list_errors(store, data)
    if form == PAYMENTS:
        return "".join(payment_lines(store))
    if form not in FORMS:
        raise StudyError(f"Unknown form {form!r}; known: {', '.join((*FORMS, PAYMENTS, ERRORS))}.")
    number = None if rater is None else rater_by_name(raters, rater).number
    with store.reading() as connection:
        steps = read_steps(connection, number)
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in FORMS[form](design, items, steps))


def _outputs(design: StudyDesign, items: Sequence[StudyItem], steps: Sequence[RaterStep]) -> Iterator[Line]:
    """Yield a line for each finished item."""
    for place in finished_steps(steps):
        condition, response = design.conditions[place.step.condition], place.response
        assert response is not None
        yield {
            "question_id": items[place.step.item].question_id,
            "output": join_fields(response.texts),
            "view": condition.view.value,
            **_axis(design, condition),
            "model": f"r{place.rater}",
            "fields": response.texts,
            "unread": response.unread,
            "seconds": place.took,
        }


def _audit(design: StudyDesign, items: Sequence[StudyItem], steps: Sequence[RaterStep]) -> Iterator[Line]:
    assert design.draw is not None
    return verdict_lines(design.draw, items, steps)


def _axis(design: StudyDesign, condition: Condition) -> Line:
    """The language or mode of an item, as files of outputs have it."""
    if design.is_mcq:
        return {"lang": condition.mode}
    return {} if condition.mode == UNSTATED or design.hidden else {"mode": condition.mode}


def _design(design: StudyDesign, items: Sequence[StudyItem], steps: Sequence[RaterStep]) -> Iterator[Line]:
    for place in steps:
        line: Line = {"rater": f"r{place.rater}", "step": place.number, "kind": place.step.kind.value}
        if place.step.kind is not StepKind.CHECK:
            condition = design.conditions[place.step.condition]
            line["question_id"] = items[place.step.item].question_id
            line |= {"lang" if design.is_mcq else "mode": condition.mode}
            line["view"] = condition.view.value
        if place.step.kind is StepKind.ITEM:
            line["pass"] = place.step.turn
        yield line | {"done": place.done}


FORMS: Mapping[str, Callable[[StudyDesign, Sequence[StudyItem], Sequence[RaterStep]], Iterator[Line]]] = {
    "outputs": _outputs,
    "audit": _audit,
    "design": _design,
}
