"""The life of a submission: queued, scoring, scored or failed, perhaps removed."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime

from sqlalchemy import Connection, func, insert, select, update

from vcrgen.leaderboard.facts import ModelFacts
from vcrgen.leaderboard.records import State, Submission
from vcrgen.leaderboard.store.log import now
from vcrgen.leaderboard.store.schema import AnyRow
from vcrgen.leaderboard.store.schema import submissions as table
from vcrgen.published.facts import Access

# States in which a file counts as one that is scored.
TAKEN = (State.QUEUED, State.SCORING, State.SCORED, State.REMOVED)


def add(connection: Connection, submission: Submission) -> None:
    """Store an accepted submission."""
    facts = submission.facts
    values = {
        "id": submission.id, "set": submission.set, "entry": facts.entry, "team_key": facts.team.casefold(),
        "team": facts.team, "model": facts.model, "link": facts.link, "access": facts.access.value,
        "size": facts.size, "released": facts.released, "file": submission.file, "file_name": submission.file_name,
        "bytes": submission.bytes, "channel": submission.channel, "received": submission.received,
        "state": submission.state.value, "attempts": submission.attempts, "problems": list(submission.problems),
        "removed": submission.removed, "current": False,
    }  # fmt: skip
    connection.execute(insert(table).values(**values))


def find(connection: Connection, submission_id: str) -> Submission | None:
    """The submission of an id, or None."""
    row = connection.execute(select(table).where(table.c.id == submission_id)).one_or_none()
    return None if row is None else as_submission(row)


def find_same(connection: Connection, submission: Submission) -> Submission | None:
    """An earlier submission of the same file for the same model and set that did not fail."""
    same = (table.c.entry == submission.facts.entry) & (table.c.set == submission.set)
    same &= (table.c.file == submission.file) & (table.c.state != State.FAILED.value)
    row = connection.execute(select(table).where(same).order_by(table.c.received)).first()
    return None if row is None else as_submission(row)


def listed(connection: Connection, state: State | None = None) -> Sequence[Submission]:
    """All submissions, or those in one state; in the order in which they came."""
    wanted = select(table).order_by(table.c.received, table.c.id)
    if state is not None:
        wanted = wanted.where(table.c.state == state.value)
    return [as_submission(row) for row in connection.execute(wanted)]


def count(
    connection: Connection, *, states: Collection[State], team: str | None = None, set_name: str | None = None,
    since: datetime | None = None, before: datetime | None = None,
) -> int:  # fmt: skip
    """How many submissions are in one of some states, of a team, of a set, received within a time."""
    wanted = select(func.count()).select_from(table).where(table.c.state.in_([state.value for state in states]))
    if team is not None:
        wanted = wanted.where(table.c.team_key == team.casefold())
    if set_name is not None:
        wanted = wanted.where(table.c.set == set_name)
    if since is not None:
        wanted = wanted.where(table.c.received >= since)
    if before is not None:
        wanted = wanted.where(table.c.received < before)
    return connection.execute(wanted).scalar_one()


def claim(connection: Connection, *, skip: Collection[str] = ()) -> Submission | None:
    """Take the oldest submission that waits, unless its set is one to skip; None if there is none."""
    waits = (table.c.state == State.QUEUED.value) & table.c.set.not_in(list(skip))
    row = connection.execute(select(table).where(waits).order_by(table.c.received, table.c.id).limit(1)).one_or_none()
    if row is None:
        return None
    values = {"state": State.SCORING.value, "attempts": row.attempts + 1}
    connection.execute(update(table).where(table.c.id == row.id).values(**values))
    return as_submission(row)


def put_back(connection: Connection, submission_id: str | None = None, *, tried: bool) -> int:
    """Let a submission that was being scored wait again, or all of them.

    Args:
        connection: A writing one.
        submission_id: Which; None for all.
        tried: Whether the attempt counts.

    Returns:
        How many there were.
    """
    interrupted = table.c.state == State.SCORING.value
    if submission_id is not None:
        interrupted &= table.c.id == submission_id
    attempts = table.c.attempts if tried else table.c.attempts - 1
    changed = update(table).where(interrupted).values(state=State.QUEUED.value, attempts=attempts)
    return connection.execute(changed).rowcount


def queue_again(connection: Connection) -> int:
    """Let all scored submissions be scored once more; returns how many there are."""
    scored = update(table).where(table.c.state == State.SCORED.value)
    return connection.execute(scored.values(state=State.QUEUED.value, attempts=0)).rowcount


def set_scored(connection: Connection, submission_id: str, outputs: bytes | None) -> None:
    """Its scores are stored."""
    values = {"state": State.SCORED.value, "finished": now(), "problems": [], "outputs": outputs}
    connection.execute(update(table).where(table.c.id == submission_id).values(**values))


def set_failed(connection: Connection, submission_id: str, problems: Sequence[str]) -> None:
    """It cannot be scored, and why."""
    values = {"state": State.FAILED.value, "finished": now(), "problems": list(problems)}
    connection.execute(update(table).where(table.c.id == submission_id).values(**values))


def set_removed(connection: Connection, submission_id: str, reason: str) -> None:
    """A maintainer took it off the board; the caller sees to it that it is no longer ranked."""
    values = {"state": State.REMOVED.value, "removed": reason}
    connection.execute(update(table).where(table.c.id == submission_id).values(**values))


def set_current(connection: Connection, submission_id: str, current: bool) -> None:
    """Whether the board shows it."""
    connection.execute(update(table).where(table.c.id == submission_id).values(current=current))


def current_of(connection: Connection, entry: str, set_name: str) -> Sequence[Submission]:
    """What the board shows of a model on a set: one submission or none."""
    shown = (table.c.entry == entry) & (table.c.set == set_name) & table.c.current
    return [as_submission(row) for row in connection.execute(select(table).where(shown))]


def latest_scored(connection: Connection, entry: str, set_name: str) -> Submission | None:
    """The last file of a model on a set that was scored and not removed."""
    scored = (table.c.entry == entry) & (table.c.set == set_name) & (table.c.state == State.SCORED.value)
    row = connection.execute(select(table).where(scored).order_by(table.c.received.desc(), table.c.id.desc())).first()
    return None if row is None else as_submission(row)


def earlier_outputs(connection: Connection, submission: Submission) -> Sequence[bytes]:
    """What the other scored files of a team on a set held, as fingerprints."""
    mine = (table.c.team_key == submission.facts.team.casefold()) & (table.c.set == submission.set)
    mine &= (table.c.id != submission.id) & table.c.outputs.is_not(None)
    return list(connection.execute(select(table.c.outputs).where(mine)).scalars())


def as_submission(row: AnyRow) -> Submission:
    """The record of a row of the table."""
    return Submission(
        id=row.id,
        set=row.set,
        facts=as_facts(row),
        file=row.file,
        file_name=row.file_name,
        bytes=row.bytes,
        channel=row.channel,
        received=row.received,
        state=State(row.state),
        attempts=row.attempts,
        finished=row.finished,
        problems=tuple(row.problems),
        removed=row.removed,
    )


def as_facts(row: AnyRow) -> ModelFacts:
    """The model that a row of the table is about."""
    return ModelFacts(
        team=row.team,
        model=row.model,
        link=row.link,
        access=Access(row.access),
        size=row.size,
        released=row.released,
    )
