"""Scores of people, as studies report them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, fields

from pydantic import TypeAdapter
from sqlalchemy import Connection, delete, insert, select

from vcrgen.leaderboard.store.schema import human_baselines as table
from vcrgen.reported_results.human_baseline import HumanBaseline, HumanScore

_SCORES = TypeAdapter(HumanScore)


def put(connection: Connection, test_set: str, found: HumanBaseline) -> None:
    """Keep the scores of a study on a set, in place of what an earlier file of the same study said."""
    connection.execute(delete(table).where(table.c.study == found.study, table.c.set == test_set))
    about = {"study": found.study, "set": test_set, "data": found.data}
    rows = [about | asdict(score) | {"view": score.view.value} for score in found.scores]
    connection.execute(insert(table), rows)


def all_human_scores(connection: Connection) -> Sequence[tuple[str, str, HumanScore]]:
    """The name of a set, what signatures call its data, and a score on it: study by study."""
    columns = [table.c[field.name] for field in fields(HumanScore)]
    rows = connection.execute(
        select(table.c.set, table.c.data, *columns).order_by(*(table.c[name] for name in ("study", "mode", "view")))
    )
    return [(row[0], row[1], _SCORES.validate_python(dict(list(row._mapping.items())[2:]))) for row in rows]
