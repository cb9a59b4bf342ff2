"""What each line of the log says of the board's rows: digests of sums that every change of a row keeps up to date.

A table's sum is the sum of a hash of each of its rows, modulo 2 to the 4,096. A row that comes in adds its hash, one
that goes subtracts it, and one that changes does both. So a line costs what its own changes cost, however many rows
there are; and sums do not depend on the order of rows, which databases give in different ways.

Why an edit that is not vcrgen's is noticed: `RowTracker` changes sums only by what vcrgen's own statements change. Rows
that were edited otherwise have another sum than the stored one, and keep having it: whatever vcrgen does to such a row
later subtracts the hash of the edited row, so the difference stays. `log.check_board` computes all sums anew and
compares. The stored sums themselves are bound to the log, as each line has their digests, with a random word that keeps
anybody from finding rows by trying.

Why no other rows with the same sum can be found: the hashes are SHAKE-256 of 4,096 bits. Sums of fewer bits than those
of a plain hash would do where rows are only read, but somebody who can choose many rows can look for a set of them that
sums to a given value; the best known way (Wagner's generalised birthdays) takes about 2 to the 2·√4096 = 2^128 steps.
"""

import hashlib
import json
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from operator import itemgetter
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, Table, case, delete, insert, select

from vcrgen.data.key import FINAL
from vcrgen.leaderboard.records import Feedback, SubmissionStatus
from vcrgen.leaderboard.store.schema import (
    cells,
    events,
    means,
    metadata,
    pair_statistics,
    rankings,
    row_sums,
    runs,
    sets,
    sign_flips,
    submissions,
)

NONCE = "nonce"  # key of the random word beside the digests
DIGITS = 32  # of each digest
SUM_BYTES = 512
MODULUS = 1 << 8 * SUM_BYTES
DERIVED = (pair_statistics, rankings)  # what follows from sign flips: `ranks.changed_rankings` compares it
_ELSEWHERE = (events, row_sums, means, sign_flips, *DERIVED)  # means and sign flips are in the digests of their runs
# The queue changes without a line of the log: no page shows how often scoring broke off, nor whether it goes on now.
UNLOGGED = (submissions.c.attempts,)
_QUEUE = case(
    (submissions.c.status == SubmissionStatus.SCORING.value, SubmissionStatus.QUEUED.value), else_=submissions.c.status
)
SUMMED = tuple(table for table in metadata.sorted_tables if table not in _ELSEWHERE)
Sums = Mapping[str, int]  # by table


def state_digests(sums: Sums, nonce: str) -> Mapping[str, str]:
    """A digest of the sum of every table by its name, and the nonce."""
    digests = {name: hashlib.sha256(f"{nonce} {name} {total:x}".encode()).hexdigest() for name, total in sums.items()}
    return {NONCE: nonce} | {name: digest[:DIGITS] for name, digest in digests.items()}


def stored_sums(connection: Connection) -> Sums:
    """The sums of all tables, as they were kept."""
    return {row.name: int.from_bytes(row.sum) for row in connection.execute(select(row_sums).order_by("name"))}


def store_sums(connection: Connection, sums: Sums, before: Sums) -> None:
    """Store those sums that are not what is stored."""
    changed = [name for name, total in sums.items() if before.get(name) != total]
    if changed:
        connection.execute(delete(row_sums).where(row_sums.c.name.in_(changed)))
        values = [{"name": name, "sum": sums[name].to_bytes(SUM_BYTES)} for name in changed]
        connection.execute(insert(row_sums), values)


def counted_sums(connection: Connection) -> Sums:
    """The sums of all tables, computed from all of their rows."""
    return {table.name: sum_of(connection, table, summed_rows(connection, table)) % MODULUS for table in SUMMED}


def sum_of(connection: Connection, table: Table, query: Select[Any]) -> int:
    """The sum of the hashes of the rows of a query on a table, not reduced."""
    return sum(_row_hash(table, row) for row in connection.execute(query))


def _row_hash(table: Table, row: Sequence[Any]) -> int:
    text = _ENCODER.encode([table.name, tuple(row)])
    return int.from_bytes(hashlib.shake_256(text.encode()).digest(SUM_BYTES))


def summed_rows(connection: Connection, table: Table) -> Select[Any]:
    """What is summed of a table: every column but those that this module names."""
    if table is submissions:
        return select(*_without(submissions, submissions.c.status, *UNLOGGED), _QUEUE)
    if table is runs:
        return select(runs.c.id, runs.c.digest).where(~_sealed(connection))
    if table is cells:
        return select(*cells.primary_key.columns).where(cells.c.ranked)
    return select(table)


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
