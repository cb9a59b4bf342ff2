"""Scores on the sets of a board that are no model's: those of people in studies, and of the template baseline."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, fields
from typing import TypeVar

from pydantic import TypeAdapter
from sqlalchemy import Connection, Table, delete, insert, select

from vcrgen.leaderboard.records import PixelScore
from vcrgen.leaderboard.store.schema import human_baselines as people
from vcrgen.leaderboard.store.schema import pixel_baselines as pixels
from vcrgen.report.published.human_baseline import HumanBaseline, HumanScore

Score = TypeVar("Score", HumanScore, PixelScore)


def put_human(connection: Connection, test_set: str, found: HumanBaseline) -> None:
    """Keep the scores of a study on a set, in place of what an earlier file of the same study said."""
    connection.execute(delete(people).where(people.c.study == found.study, people.c.set == test_set))
    about = {"study": found.study, "set": test_set, "data": found.data}
    rows = [about | asdict(score) | {"view": score.view.value} for score in found.scores]
    connection.execute(insert(people), rows)


def put_pixels(connection: Connection, test_set: str, data: str, scores: Sequence[PixelScore]) -> None:
    """Keep the template baseline's scores on a set, in place of earlier ones in the same modes."""
    modes = [score.mode for score in scores]
    connection.execute(delete(pixels).where(pixels.c.set == test_set, pixels.c.mode.in_(modes)))
    connection.execute(insert(pixels), [{"set": test_set, "data": data} | asdict(score) for score in scores])


def human_scores(connection: Connection) -> Iterator[tuple[str, str, HumanScore]]:
    """Yield the name of a set, what signatures call its data, and a score on it: study by study."""
    return _read(connection, people, HumanScore, "study", "mode", "view")


def pixel_scores(connection: Connection) -> Iterator[tuple[str, str, PixelScore]]:
    """Yield the name of a set, what signatures call its data, and the template baseline's score on it."""
    return _read(connection, pixels, PixelScore, "set", "mode")


def _read(connection: Connection, table: Table, kind: type[Score], *order: str) -> Iterator[tuple[str, str, Score]]:
    read, names = TypeAdapter(kind).validate_python, [field.name for field in fields(kind)]
    for row in connection.execute(select(table).order_by(*(table.c[name] for name in order))):
        yield row.set, row.data, read({name: row._mapping[name] for name in names})
