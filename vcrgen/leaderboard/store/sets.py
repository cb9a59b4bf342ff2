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


def add_set(connection: Connection, test_set: TestSet) -> None:
    """Add a set after those that are there."""
    number = connection.execute(select(func.count()).select_from(sets)).scalar_one()
    connection.execute(insert(sets).values(**_values(test_set), number=number))


def change_set(connection: Connection, test_set: TestSet) -> None:
    """Replace what is known of a set."""
    connection.execute(update(sets).where(sets.c.name == test_set.name).values(**_values(test_set)))


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
    test_sets = all_sets(connection)
    test_set = next((test_set for test_set in test_sets if test_set.name == name), None)
    if test_set is None:
        names = ", ".join(test_set.name for test_set in test_sets)
        raise LeaderboardError(f"There is no set {name[:40]!r} on this board; there are {names}.")
    return test_set


def _values(test_set: TestSet) -> dict[str, Any]:
    values = {column.name: getattr(test_set, column.name) for column in fields(test_set)}
    return values | {"lifecycle": _LIFECYCLE.dump_python(test_set.lifecycle, mode="json"), "task": test_set.task.name}
