"""Digests of everything that a board shows. Each line of the log has them, so that a change without a line shows."""

from __future__ import annotations

import hashlib
import json
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from operator import itemgetter
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, Table, case, select

from vcrgen.data.key import FINAL
from vcrgen.leaderboard.records import Feedback, SubmissionStatus
from vcrgen.leaderboard.store.schema import (
    cells,
    events,
    means,
    metadata,
    pair_statistics,
    rankings,
    runs,
    sets,
    sign_flips,
    submissions,
)

NONCE = "nonce"  # key of the random word beside the digests
DIGITS = 32  # of each digest
DERIVED = (pair_statistics, rankings)  # what follows from sign flips: `ranks.changed_rankings` compares it
_ELSEWHERE = (events, means, sign_flips, *DERIVED)  # means and sign flips are in the digests of their runs
# The queue changes without a line of the log: no page shows how often scoring broke off, nor whether it goes on now.
UNLOGGED = (submissions.c.attempts,)
_QUEUE = case(
    (submissions.c.status == SubmissionStatus.SCORING.value, SubmissionStatus.QUEUED.value), else_=submissions.c.status
)


def state_digests(connection: Connection, nonce: str) -> Mapping[str, str]:
    """A digest of every table by its name, and the nonce, which keeps anybody from finding rows by trying."""
    queries = _queries(connection)
    return {NONCE: nonce} | {
        table.name: _digest([nonce, _rows(connection, table, query)]) for table, query in queries.items()
    }


def run_digest(connection: Connection, run: int) -> str:
    """The digest of all scores of a run, and of what ranks it."""
    parts = {
        runs: select(*_without(runs, runs.c.digest)).where(runs.c.id == run),
        cells: select(*_without(cells, cells.c.ranked)).where(cells.c.run == run),
        means: select(means).where(means.c.run == run),
        sign_flips: select(sign_flips).where(sign_flips.c.run == run),
    }
    return _digest([_rows(connection, table, query) for table, query in parts.items()])


def changed_runs(connection: Connection) -> Iterator[int]:
    """Numbers of the runs whose scores are not those of their digest."""
    for row in connection.execute(select(runs.c.id, runs.c.digest).order_by(runs.c.id)).all():
        if run_digest(connection, row.id) != row.digest:
            yield row.id


def as_json_value(value: Any) -> Any:
    """A value of a row as JSON has it."""
    if isinstance(value, bytes):
        return b64encode(value).decode()
    return value.isoformat() if isinstance(value, date) else value


_ENCODER = json.JSONEncoder(separators=(",", ":"), sort_keys=True, default=as_json_value)


def _queries(connection: Connection) -> Mapping[Table, Select[Any]]:
    """What is digested of each table: every column but those that this module names."""
    queries = {table: select(table) for table in metadata.sorted_tables if table not in _ELSEWHERE}
    queries[submissions] = select(*_without(submissions, submissions.c.status, *UNLOGGED), _QUEUE)
    queries[runs] = select(runs.c.id, runs.c.digest).where(~_sealed(connection))
    queries[cells] = select(*cells.primary_key.columns).where(cells.c.ranked)
    return queries


def _sealed(connection: Connection) -> ColumnElement[bool]:
    """Runs of final splits that nobody may see yet: a set that is being closed gets them without a line of the log."""
    names = [
        row.name
        for row in connection.execute(select(sets.c.name, sets.c.lifecycle)).all()
        if isinstance(row.lifecycle, dict)  # not so in a damaged backup
        and (row.lifecycle.get("feedback"), row.lifecycle.get("closed")) == (Feedback.LADDER, None)
    ]
    files = select(submissions.c.id).where(submissions.c.set.in_(names))
    return (runs.c.split == FINAL) & runs.c.submission.in_(files)


def _without(table: Table, *columns: Any) -> Sequence[Any]:
    names = {column.name for column in columns}
    return [column for column in table.columns if column.name not in names]


def _rows(connection: Connection, table: Table, query: Select[Any]) -> list[tuple[Any, ...]]:
    """The rows of a query on a table by their primary key: databases sort text in different ways."""
    result = connection.execute(query)
    names = list(result.keys())
    by_key = itemgetter(*(names.index(column.name) for column in table.primary_key.columns))
    return sorted((tuple(row) for row in result.all()), key=by_key)


def _digest(value: Any) -> str:
    return hashlib.sha256(_ENCODER.encode(value).encode()).hexdigest()[:DIGITS]
