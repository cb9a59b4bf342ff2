"""Scores and ranks. A rank is counted, not stored: how many models are better beyond doubt, how many worse."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, and_, bindparam, func, insert, select, update

from vcrgen.leaderboard.outcome import ScoringOutcome
from vcrgen.leaderboard.store.log import now
from vcrgen.leaderboard.store.schema import AnyRow, cells, runs, submissions
from vcrgen.signature import Signature
from vcrgen.stats.ranking import better_and_worse

if TYPE_CHECKING:
    from vcrgen.stats.arrays import Floats


class CellKey(NamedTuple):
    """Models with the same four are ranked together."""

    set: str
    mode: str
    view: str
    short: str


def add_run(
    connection: Connection, submission_id: str, set_name: str, outcome: ScoringOutcome, *, part: str = ""
) -> None:
    """Store the scores of a submission, not ranked yet; ``part`` is that of the key, or empty for the whole."""
    short = Signature.parse(outcome.signature).short
    values = {"submission": submission_id, "scored": now(), "short": short, "signature": outcome.signature}
    values |= {"result": outcome.result, "part": part or None}
    inserted = connection.execute(insert(runs).values(**values)).inserted_primary_key
    assert inserted is not None
    for cell in outcome.cells:
        connection.execute(insert(cells).values(run=inserted[0], set=set_name, short=short, **asdict(cell)))


def ranked_run(connection: Connection, submission_id: str) -> int | None:
    """The run of a submission that is ranked, or None."""
    mine = select(cells.c.run).join(runs, runs.c.id == cells.c.run)
    mine = mine.where((runs.c.submission == submission_id) & cells.c.better.is_not(None)).limit(1)
    return connection.execute(mine).scalar_one_or_none()


def last_run(connection: Connection, submission_id: str, *, part: str = "") -> AnyRow | None:
    """Number and signature of the newest run of a submission on a part of the key, or on the whole; None for none."""
    mine = select(runs.c.id, runs.c.signature).where(runs.c.submission == submission_id)
    mine = mine.where(func.coalesce(runs.c.part, "") == part)
    return connection.execute(mine.order_by(runs.c.id.desc()).limit(1)).one_or_none()


def enter(connection: Connection, run: int) -> None:
    """Rank a run among the others of its signature, and count it in theirs."""
    for key, means in _cells_of(connection, run):
        better, worse = _count_in_others(connection, key, means, 1)
        _set_counts(connection, run, key, better, worse)


def leave(connection: Connection, run: int) -> None:
    """Take a run out of the ranks."""
    for key, means in _cells_of(connection, run):
        _set_counts(connection, run, key, None, None)
        _count_in_others(connection, key, means, -1)


def board_rows(connection: Connection, *, set_name: str | None = None) -> Sequence[AnyRow]:
    """Every ranked cell with its model, of one set or all; without what is large."""
    of_cells = ("run", "set", "mode", "view", "short", "better", "worse", "figures", "difference")
    of_submissions = ("entry", "team", "model", "link", "access", "size", "released", "received")
    columns = [cells.c[name] for name in of_cells] + [submissions.c[name] for name in of_submissions]
    joined = cells.join(runs, runs.c.id == cells.c.run).join(submissions, submissions.c.id == runs.c.submission)
    wanted = select(*columns).select_from(joined).where(cells.c.better.is_not(None))
    if set_name is not None:
        wanted = wanted.where(cells.c.set == set_name)
    return connection.execute(wanted.order_by(cells.c.run, cells.c.mode, cells.c.view)).all()


def signatures(connection: Connection) -> dict[str, tuple[str, Any]]:
    """Short form of each signature to the whole one and the time it was last used."""
    wanted = select(runs.c.short, runs.c.signature, runs.c.scored).order_by(runs.c.id)
    return {row.short: (row.signature, row.scored) for row in connection.execute(wanted)}


def runs_of(connection: Connection, entry: str) -> Sequence[AnyRow]:
    """Every run of a model with its submission, the newest first; not those of private files."""
    wanted = select(submissions, runs.c.id.label("run"), runs.c.signature, runs.c.result, runs.c.part)
    wanted = wanted.select_from(submissions.join(runs, runs.c.submission == submissions.c.id))
    mine = (submissions.c.entry == entry) & submissions.c.private.is_not(True)
    return connection.execute(wanted.where(mine).order_by(runs.c.id.desc())).all()


def evidence(connection: Connection, run: int) -> dict[CellKey, AnyRow]:
    """What comparisons need of a run, by cell."""
    wanted = select(cells, runs.c.result).join(runs, runs.c.id == cells.c.run)
    rows = connection.execute(wanted.where(cells.c.run == run))
    return {CellKey(row.set, row.mode, row.view, row.short): row for row in rows}


def _cells_of(connection: Connection, run: int) -> list[tuple[CellKey, bytes]]:
    rows = connection.execute(select(cells).where(cells.c.run == run).order_by(cells.c.mode, cells.c.view))
    return [(CellKey(row.set, row.mode, row.view, row.short), row.exact_means) for row in rows]


def _count_in_others(connection: Connection, key: CellKey, means: bytes, by: int) -> tuple[int, int]:
    """Add ``by`` to the counts of the ranked models that a model with these means differs from beyond doubt.

    Returns:
        How many of them are better, and how many are worse.
    """
    same = and_(*(cells.c[name] == value for name, value in key._asdict().items()), cells.c.better.is_not(None))
    others = connection.execute(select(cells.c.run, cells.c.exact_means).where(same).order_by(cells.c.run)).all()
    better, worse = better_and_worse(_means(means), [_means(other.exact_means) for other in others])
    for found, column in ((better, cells.c.worse), (worse, cells.c.better)):
        if found:
            changed = update(cells).where(_cell(key, bindparam("other"))).values({column: column + by})
            connection.execute(changed, [{"other": others[i].run} for i in found])
    return len(better), len(worse)


def _set_counts(connection: Connection, run: int, key: CellKey, better: int | None, worse: int | None) -> None:
    connection.execute(update(cells).where(_cell(key, run)).values(better=better, worse=worse))


def _cell(key: CellKey, run: Any) -> ColumnElement[bool]:
    return and_(cells.c.run == run, cells.c.mode == key.mode, cells.c.view == key.view)


def _means(stored: bytes) -> Floats:
    import numpy as np

    return np.frombuffer(stored, "<f8")
