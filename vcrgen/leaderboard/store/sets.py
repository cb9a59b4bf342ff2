"""The test sets of a board."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from sqlalchemy import Connection, func, insert, select, update

from vcrgen.leaderboard.records import TestSet
from vcrgen.leaderboard.store.schema import sets


def add_set(connection: Connection, found: TestSet) -> None:
    """Add a set after those that are there."""
    number = connection.execute(select(func.count()).select_from(sets)).scalar_one()
    connection.execute(insert(sets).values(**asdict(found), number=number))


def change_set(connection: Connection, found: TestSet) -> None:
    """Replace what is known of a set."""
    connection.execute(update(sets).where(sets.c.name == found.name).values(**asdict(found)))


def all_sets(connection: Connection) -> Sequence[TestSet]:
    """The sets, in the order in which they were added."""
    columns = [column for column in sets.c if column.name != "number"]
    rows = connection.execute(select(*columns).order_by(sets.c.number))
    return [TestSet(**{**row._mapping, "modes": tuple(row.modes)}) for row in rows]
