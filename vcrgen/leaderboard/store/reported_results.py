"""Results reported in publications."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, fields

from sqlalchemy import Connection, insert, select

from vcrgen.data.views import View
from vcrgen.leaderboard.store.schema import reported as table
from vcrgen.report.published.fields import Access
from vcrgen.report.published.results import ReportedResult


def add(connection: Connection, rows: Sequence[ReportedResult]) -> int:
    """Add rows that are not there yet; returns how many were new.

    A row that is there with other figures stays as it is, and the new one is added beside it: nothing is replaced.
    """
    there = set(all_reported(connection))
    new = [asdict(row) | {"view": row.view.value, "access": row.access.value} for row in rows if row not in there]
    if new:
        connection.execute(insert(table), new)
    return len(new)


def all_reported(connection: Connection) -> Sequence[ReportedResult]:
    """All rows, in the order in which they were added."""
    columns = [table.c[field.name] for field in fields(ReportedResult)]
    rows = connection.execute(select(*columns).order_by(table.c.number))
    return [ReportedResult(**{**row._mapping, "view": View(row.view), "access": Access(row.access)}) for row in rows]
