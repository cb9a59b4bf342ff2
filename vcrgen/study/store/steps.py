"""The steps of raters, their responses, and the slots that nobody has."""

from collections.abc import Sequence

from sqlalchemy import Connection, delete, false, func, insert, select, update

from vcrgen.study.assignment import Slot, Step, StepKind
from vcrgen.study.records import RaterStep, Response, StudyDesign
from vcrgen.study.store.tables import returned, steps
from vcrgen.web.database.schema import AnyRow

_SLOT = (steps.c.item, steps.c.condition, steps.c.turn)


def append_steps(connection: Connection, rater: int, added: Sequence[Step]) -> None:
    """Store new steps of a rater, after those that the rater has."""
    last = select(func.coalesce(func.max(steps.c.number), -1)).where(steps.c.rater == rater)
    unanswered = {"seconds": 0.0, "done": False, "revision": 0}
    start = connection.execute(last).scalar_one() + 1
    rows = [
        {"rater": rater, "number": number, **step._asdict(), **unanswered}
        for number, step in enumerate(added, start=start)
    ]
    if rows:
        connection.execute(insert(steps), rows)
    for step in added:
        if step.kind is StepKind.ITEM:
            slot = (returned.c.item == step.item, returned.c.condition == step.condition, returned.c.turn == step.turn)
            connection.execute(delete(returned).where(*slot))


def read_step(connection: Connection, rater: int, number: int) -> RaterStep | None:
    """Return a step of a rater with its response, or None if there is no such step."""
    row = connection.execute(select(steps).where(steps.c.rater == rater, steps.c.number == number)).first()
    return None if row is None else _rater_step(row)


def read_steps(connection: Connection, rater: int | None = None) -> list[RaterStep]:
    """The steps of a rater, or of all raters, in their order."""
    query = select(steps).order_by(steps.c.rater, steps.c.number)
    return [
        _rater_step(row) for row in connection.execute(query if rater is None else query.where(steps.c.rater == rater))
    ]


def mark_served(connection: Connection, rater: int, number: int, at: float) -> None:
    """Store when a step was shown, in seconds since 1970, if it was not shown before."""
    first = (steps.c.rater == rater, steps.c.number == number, steps.c.served.is_(None))
    connection.execute(update(steps).where(*first).values(served=at))


def save_response(
    connection: Connection, rater: int, number: int, response: Response, took: float | None = None
) -> bool:
    """Store the response to a step, and the seconds that it took if they are given.

    Returns:
        False where the same or a newer response is there already.
    """
    older = (steps.c.rater == rater, steps.c.number == number, steps.c.revision < response.revision)
    values = response._asdict() | ({} if took is None else {"took": took})
    return connection.execute(update(steps).where(*older).values(values)).rowcount > 0


def open_slots(connection: Connection, design: StudyDesign) -> list[Slot]:
    """The slots of the design that no rater has."""
    held = {Slot(*row) for row in connection.execute(select(*_SLOT).where(steps.c.kind == StepKind.ITEM))}
    return [slot for slot in design.slots() if slot not in held]


def returned_slots(connection: Connection) -> list[Slot]:
    """The slots that drop-outs left and nobody has taken over."""
    return [Slot(*row) for row in connection.execute(select(returned).order_by(*returned.primary_key.columns))]


def release_steps(connection: Connection, rater: int, *, everything: bool) -> int:
    """Take steps from a rater, so that their slots are open again: unfinished ones, or all. Return their number."""
    released = [steps.c.rater == rater, *([] if everything else [steps.c.done == false()])]
    slots = select(*_SLOT).where(*released, steps.c.kind == StepKind.ITEM)
    connection.execute(insert(returned).from_select(["item", "condition", "turn"], slots))
    return connection.execute(delete(steps).where(*released)).rowcount


def _rater_step(row: AnyRow) -> RaterStep:
    step = Step(StepKind(row.kind), row.item, row.condition, row.turn, row.word)
    response = None
    if row.texts is not None:
        response = Response(tuple(row.texts), tuple(row.unread), row.seconds, row.done, row.revision)
    return RaterStep(row.rater, row.number, step, response, row.served, row.took)
