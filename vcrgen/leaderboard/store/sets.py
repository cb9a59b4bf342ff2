"""The test sets of a board."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from pydantic import TypeAdapter
from sqlalchemy import Connection, func, insert, select, update

from vcrgen.core.errors import LeaderboardError
from vcrgen.data.tasks.task import TASKS
from vcrgen.leaderboard.records import SetLifecycle, TestSet
from vcrgen.leaderboard.store.schema import sets

_LIFECYCLE = TypeAdapter(SetLifecycle)


def add_set(connection: Connection, found: TestSet) -> None:
    """Add a set after those that are there."""
    number = connection.execute(select(func.count()).select_from(sets)).scalar_one()
    connection.execute(insert(sets).values(**_values(found), number=number))


def change_set(connection: Connection, found: TestSet) -> None:
    """Replace what is known of a set."""
    connection.execute(update(sets).where(sets.c.name == found.name).values(**_values(found)))


def all_sets(connection: Connection) -> Sequence[TestSet]:
    """The sets, in the order in which they were added."""
    columns = [column for column in sets.c if column.name != "number"]
    rows = connection.execute(select(*columns).order_by(sets.c.number))
    return [
        TestSet(
            **{
                **row._mapping,
                "modes": tuple(row.modes),
                "lifecycle": _LIFECYCLE.validate_python(row.lifecycle),
                "task": TASKS[row.task],
            }
        )
        for row in rows
    ]


def get_set(connection: Connection, name: str) -> TestSet:
    """The set of a name; a LeaderboardError that names the sets if there is none."""
    known = all_sets(connection)
    found = next((one for one in known if one.name == name), None)
    if found is None:
        names = ", ".join(one.name for one in known)
        raise LeaderboardError(f"There is no set {name[:40]!r} on this board; there are {names}.")
    return found


def _values(found: TestSet) -> dict[str, Any]:
    values = {each.name: getattr(found, each.name) for each in fields(found)}
    return values | {"lifecycle": _LIFECYCLE.dump_python(found.lifecycle, mode="json"), "task": found.task.name}
