"""The life of a submission: queued, scoring, scored or failed, perhaps removed."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, fields
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Any

from sqlalchemy import ColumnElement, Connection, func, insert, select, update

from vcrgen.leaderboard.records import BY_MAINTAINERS, ModelFacts, Quota, Submission, SubmissionStatus, TestSet
from vcrgen.leaderboard.settings import Settings
from vcrgen.leaderboard.store.log import now
from vcrgen.leaderboard.store.schema import runs
from vcrgen.leaderboard.store.schema import submissions as table
from vcrgen.leaderboard.store.teams import key_of, sharing, turn_of
from vcrgen.report.published.fields import Access
from vcrgen.web.database.schema import AnyRow

DAY = timedelta(hours=24)  # over which the limits of teams are counted
# States in which a file counts as one that is scored.
COUNTED_STATUSES = (
    SubmissionStatus.HELD,
    SubmissionStatus.QUEUED,
    SubmissionStatus.SCORING,
    SubmissionStatus.SCORED,
    SubmissionStatus.REMOVED,
)
_FACTS = [field.name for field in fields(ModelFacts)]
_OWN = [field.name for field in fields(Submission) if field.name != "facts"]
_SHOWN = [table.c[name] for name in (*_OWN, *_FACTS)]  # without the outputs, which may be megabytes


def add(connection: Connection, submission: Submission) -> None:
    """Store an accepted submission."""
    facts, values = submission.facts, asdict(submission)
    values |= {**values.pop("facts"), "access": facts.access.value, "entry": facts.entry}
    values |= {"status": submission.status.value, "team_key": key_of(facts.team), "current": False}
    connection.execute(insert(table).values(**values))


def moment(connection: Connection) -> datetime:
    """When a submission comes that comes now: after all others, also where the clock was set back.

    Limits count by these times, and a clock that is set back must not free them.
    """
    newest: datetime | None = connection.execute(select(func.max(table.c.received))).scalar_one()
    return now() if newest is None else max(now(), newest + timedelta(microseconds=1))


def change(connection: Connection, submission_id: str, **values: Any) -> None:
    """Write some columns of a submission anew."""
    connection.execute(update(table).where(table.c.id == submission_id).values(**values))


def describe(connection: Connection, facts: ModelFacts) -> None:
    """Say anew of a model, in all of its submissions, what its team said of it."""
    values = {"link": facts.link, "access": facts.access.value, "size": facts.size, "released": facts.released}
    connection.execute(update(table).where(table.c.entry == facts.entry).values(**values))


def find(connection: Connection, submission_id: str) -> Submission | None:
    """The submission of an id, or None."""
    return next(iter(_select(connection, table.c.id == submission_id)), None)


def find_duplicate(connection: Connection, submission: Submission) -> Submission | None:
    """An earlier submission of the same file for the same model and set that did not fail."""
    same = _of_model(submission.facts.entry, submission.set) & (table.c.file == submission.file)
    return next(iter(_select(connection, same & (table.c.status != SubmissionStatus.FAILED.value))), None)


def list_submissions(connection: Connection, status: SubmissionStatus | None = None) -> Sequence[Submission]:
    """All submissions, or those in one state; in the order in which they came."""
    return _select(connection, *() if status is None else (table.c.status == status.value,))


def count(
    connection: Connection,
    *,
    statuses: Collection[SubmissionStatus],
    teams: Collection[str] | None = None,
    set_name: str | None = None,
    since: datetime | None = None,
    before: datetime | None = None,
    disclosed: bool = False,
) -> int:
    """Count the submissions of some statuses, teams (by key) and a set that were received within a time.

    With ``disclosed`` each counts as many times as it asked the key for a figure.
    """
    what = func.coalesce(func.sum(table.c.scores_disclosed), 0) if disclosed else func.count()
    query = select(what).select_from(table).where(table.c.status.in_([status.value for status in statuses]))
    if teams is not None:
        query = query.where(table.c.team_key.in_(list(teams)))
    if set_name is not None:
        query = query.where(table.c.set == set_name)
    if since is not None:
        query = query.where(table.c.received >= since)
    if before is not None:
        query = query.where(table.c.received < before)
    return int(connection.execute(query).scalar_one())


def claim(
    connection: Connection, *, skip: Collection[str] = (), served: Mapping[str, int] = MappingProxyType({})
) -> Submission | None:
    """Take a submission that waits, unless its set is one to skip; None if there is none.

    Teams take turns: the oldest submission of the team whose last turn, by ``served`` (keys of teams and of groups), is
    longest ago.
    """
    waits = (table.c.status == SubmissionStatus.QUEUED.value) & table.c.set.not_in(list(skip))
    oldest = select(table.c.team_key, func.min(table.c.received).label("since")).where(waits).group_by(table.c.team_key)
    waiting = connection.execute(oldest).all()
    turns = [(served.get(turn_of(connection, row.team_key), -1), row.since, row.team_key) for row in waiting]
    if not turns:
        return None
    mine = waits & (table.c.team_key == min(turns)[2])
    row = connection.execute(select(*_SHOWN).where(mine).order_by(table.c.received, table.c.id).limit(1)).one()
    change(connection, row.id, status=SubmissionStatus.SCORING.value)
    return as_submission(row)


def requeue(connection: Connection, submission_id: str | None = None) -> int:
    """Let a submission that was being scored wait again, or all of them if no id is given; returns how many."""
    interrupted = table.c.status == SubmissionStatus.SCORING.value
    if submission_id is not None:
        interrupted &= table.c.id == submission_id
    changed = update(table).where(interrupted).values(status=SubmissionStatus.QUEUED.value)
    return connection.execute(changed).rowcount


def requeue_scored(connection: Connection, *, skip: Collection[str]) -> int:
    """Let all scored submissions be scored once more, but for those of some sets; returns how many there are."""
    scored = update(table).where((table.c.status == SubmissionStatus.SCORED.value) & table.c.set.not_in(list(skip)))
    return connection.execute(scored.values(status=SubmissionStatus.QUEUED.value, attempts=0)).rowcount


def show_file(connection: Connection, entry: str, set_name: str, submission_id: str) -> None:
    """Let the board show this submission of a model on a set and none of its others; none at all if it is empty."""
    mine = _of_model(entry, set_name)
    connection.execute(update(table).where(mine).values(current=table.c.id == submission_id))


def shown_files(connection: Connection, entry: str, set_name: str) -> Sequence[Submission]:
    """The submission of a model on a set that the board shows: one or none."""
    return _select(connection, _of_model(entry, set_name), table.c.current)


def counted(connection: Connection, set_name: str, entry: str | None = None) -> Sequence[Submission]:
    """The file of each model on a set that counts, or of one model: the one its team chose, or else the last one.

    Only files that were scored are asked, and none that was removed or is private.
    """
    scored = sorted(public_files(connection, set_name, entry), key=lambda file: file.chosen)
    return list({file.facts.entry: file for file in scored}.values())  # of a model the last one stays


def public_files(connection: Connection, set_name: str, entry: str | None = None) -> Sequence[Submission]:
    """The scored files on a set, or those of one model; not those that were removed, nor private ones."""
    of_set = (table.c.set == set_name) if entry is None else _of_model(entry, set_name)
    return _select(connection, of_set, table.c.status == SubmissionStatus.SCORED.value, table.c.private.is_(False))


def choose(connection: Connection, submission: Submission) -> None:
    """Make a submission the one that counts for its model on its set."""
    mine = _of_model(submission.facts.entry, submission.set)
    connection.execute(update(table).where(mine).values(chosen=table.c.id == submission.id))
    change(connection, submission.id, private=False)


def best_step(connection: Connection, submission: Submission) -> float | None:
    """The highest step that a submission's team or group was shown on its set, or None; removed files count."""
    mine = table.c.team_key.in_(sharing(connection, submission.facts.team)) & (table.c.set == submission.set)
    best: float | None = connection.execute(select(func.max(table.c.best)).where(mine)).scalar_one()
    return best


def earlier_outputs(connection: Connection, submission: Submission, teams: Collection[str]) -> Sequence[bytes]:
    """Fingerprints of the other scored files of some teams (by key) on a submission's set."""
    mine = table.c.team_key.in_(list(teams)) & (table.c.set == submission.set)
    mine &= (table.c.id != submission.id) & table.c.outputs.is_not(None)
    return list(connection.execute(select(table.c.outputs).where(mine)).scalars())


def scored_files(connection: Connection, set_name: str) -> Mapping[str, int]:
    """How many files of each team, by its key, were ever scored on a set: private and removed ones, too."""
    query = select(table.c.team_key, func.count(table.c.id.distinct())).join(runs, runs.c.submission == table.c.id)
    rows = connection.execute(query.where(table.c.set == set_name).group_by(table.c.team_key))
    return {team: int(count) for team, count in rows}


def team_files(connection: Connection, team: str) -> Sequence[Submission]:
    """Everything that a team has submitted, in the order in which it came."""
    return _select(connection, table.c.team_key == key_of(team))


def as_submission(row: AnyRow) -> Submission:
    """The record of a row of the table."""
    values = {name: getattr(row, name) for name in _OWN}
    values |= {"status": SubmissionStatus(row.status), "problems": tuple(row.problems), "facts": as_facts(row)}
    return Submission(**values)


def as_facts(row: AnyRow) -> ModelFacts:
    """The model that a row of the table is about."""
    return ModelFacts(**{**{name: getattr(row, name) for name in _FACTS}, "access": Access(row.access)})


def _of_model(entry: str, set_name: str) -> ColumnElement[bool]:
    return (table.c.entry == entry) & (table.c.set == set_name)


def _select(connection: Connection, *conditions: ColumnElement[bool]) -> Sequence[Submission]:
    """The submissions that meet all conditions, in the order in which they came."""
    rows = connection.execute(select(*_SHOWN).where(*conditions).order_by(table.c.received, table.c.id))
    return [as_submission(row) for row in rows]


def quota(
    connection: Connection, settings: Settings, teams: Collection[str], test_set: TestSet, *, at: datetime
) -> Quota:
    """The quota that is left on a set at a moment to teams that share their limits, by key; later files do not count.

    A file that waits counts as one figure. When it is scored, it counts as many as its key gave: one on a ladder, and
    else one for each view and mode in it.
    """
    hidden = test_set.hidden

    def used(since: datetime | None) -> int:
        return count(
            connection,
            statuses=COUNTED_STATUSES,
            teams=teams,
            set_name=test_set.name,
            since=since,
            before=at,
            disclosed=hidden,
        )

    daily_limit = settings.hidden_scores_per_day if hidden else settings.files_per_day
    lifetime_limit = settings.hidden_scores_lifetime if hidden else None
    return Quota(
        daily_limit=daily_limit,
        left_today=max(daily_limit - used(at - DAY), 0),
        lifetime_limit=lifetime_limit,
        left_lifetime=None if lifetime_limit is None else max(lifetime_limit - used(None), 0),
    )


def selected_for_closing(connection: Connection, set_name: str, number: int) -> Sequence[Submission]:
    """The files that are ranked when a set is closed: of each team or group so many models.

    Those that it chose come first, then those with the best feedback, then the last ones. Files that maintainers added
    are not limited.
    """
    by_turn: dict[str, list[Submission]] = {}
    for file in counted(connection, set_name):
        free = file.channel == BY_MAINTAINERS
        turn = file.id if free else turn_of(connection, key_of(file.facts.team))
        by_turn.setdefault(turn, []).append(file)
    selected: list[Submission] = []
    for files in by_turn.values():
        files.sort(
            key=lambda file: (file.chosen, -1.0 if file.best is None else file.best, file.received), reverse=True
        )
        selected += files[:number]
    return sorted(selected, key=lambda file: (file.received, file.id))
