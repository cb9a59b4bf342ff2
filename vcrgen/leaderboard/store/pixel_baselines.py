"""Scores of the template baseline on the sets of a board."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, fields

from pydantic import TypeAdapter
from sqlalchemy import Connection, delete, insert, select

from vcrgen.leaderboard.records import PixelScore
from vcrgen.leaderboard.store.schema import pixel_baselines as table

_SCORES = TypeAdapter(PixelScore)


def put(connection: Connection, test_set: str, data: str, scores: Sequence[PixelScore]) -> None:
    """Keep the baseline's scores on a set, in place of earlier ones in the same modes."""
    modes = [score.mode for score in scores]
    connection.execute(delete(table).where(table.c.set == test_set, table.c.mode.in_(modes)))
    connection.execute(insert(table), [{"set": test_set, "data": data} | asdict(score) for score in scores])


def all_pixel_scores(connection: Connection) -> Sequence[tuple[str, str, PixelScore]]:
    """The name of a set, what signatures call its data, and a score on it."""
    columns = [table.c[field.name] for field in fields(PixelScore)]
    rows = connection.execute(select(table.c.set, table.c.data, *columns).order_by(table.c.set, table.c.mode))
    return [(row[0], row[1], _SCORES.validate_python(dict(list(row._mapping.items())[2:]))) for row in rows]
