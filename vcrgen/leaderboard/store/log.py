"""The log: every change of a board, in order. Lines are added and never changed, and a chain of hashes shows it.

Each line also has digests of what the board shows after it. So a change of the database that has no line is noticed: by
`check_board`, and by the next line, before which there is one that says so.
"""

import getpass
import hashlib
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime

from sqlalchemy import Connection, insert, select

from vcrgen.core.errors import LeaderboardError
from vcrgen.core.files import canonical_json
from vcrgen.leaderboard.records import Event, LogEntry
from vcrgen.leaderboard.store.ranks import changed_rankings
from vcrgen.leaderboard.store.schema import events
from vcrgen.leaderboard.store.state import (
    MODULUS,
    NONCE,
    SUMMED,
    Sums,
    changed_runs,
    counted_sums,
    state_digests,
    store_sums,
    stored_sums,
)
from vcrgen.leaderboard.store.tracking import take_changes
from vcrgen.web.database.engine import as_written

START = "0" * 64
MAINTAINER = "maintainer"  # how those are called who work on the command line, before the name of their account
MAX_DIGITS = 9  # of the number of a line
FOREIGN_CHANGE = "changed without the log"


def maintainer() -> str:
    """Who uses the command line, by the name of the account, for the log."""
    try:
        return f"{MAINTAINER} {getpass.getuser()}"[:100]
    except (OSError, KeyError):
        return MAINTAINER


def now() -> datetime:
    """This moment, with its zone."""
    return datetime.now(UTC)


def record(connection: Connection, *, actor: str, what: str, subject: str, facts: Mapping[str, str]) -> None:
    """Add a line: the last thing that the transaction does which does what it says."""
    record_all(connection, [LogEntry(actor=actor, what=what, subject=subject, facts=facts)])


def record_all(connection: Connection, entries: Sequence[LogEntry]) -> None:
    """Add the lines of one transaction, at its end."""
    last = _last_line(connection)
    first, chain = (1, START) if last is None else (last.number + 1, last.chain)
    sums = _with_changes(connection)
    state = state_digests(sums, secrets.token_hex(16))
    for number, entry in enumerate(entries, start=first):
        line = Event(number=number, at=now(), **asdict(entry), state=state, chain="")
        chain = _link(chain, line)
        connection.execute(insert(events).values(**asdict(replace(line, chain=chain))))


def note_foreign_change(connection: Connection, *, in_rows: bool = False) -> None:
    """Add a line that says so if the board is not what the last line says, before anything else is changed.

    Without ``in_rows`` the sums of rows are looked at and not the rows, of which there are many: an edit of a row is
    noticed by the next one with it, and by `check_board`.
    """
    if _changed_table(connection, in_rows=in_rows):
        take_changes(connection)
        store_sums(connection, counted_sums(connection), {})
        record(connection, actor="board", what=FOREIGN_CHANGE, subject="board", facts={})


def _with_changes(connection: Connection) -> Sums:
    """The sums of rows with what this transaction has changed, stored."""
    before, changes = stored_sums(connection), take_changes(connection)
    names = {table.name for table in SUMMED} | before.keys()
    sums = {name: (before.get(name, 0) + changes.get(name, 0)) % MODULUS for name in sorted(names)}
    store_sums(connection, sums, before)
    return sums


def read_log(connection: Connection, *, after: int = 0, most: int | None = None) -> Iterator[Event]:
    """The lines after a number, in order; at most so many."""
    query = select(events).where(events.c.number > after).order_by(events.c.number).limit(most)
    for row in connection.execute(query):
        yield Event(**row._mapping)


def last_event(connection: Connection) -> tuple[int, datetime | None]:
    """Number and time of the last line; 0 and None for an empty log."""
    row = connection.execute(select(events.c.number, events.c.at).order_by(events.c.number.desc()).limit(1)).first()
    return (0, None) if row is None else (row.number, row.at)


def log_head(connection: Connection) -> str:
    """Number and chain of the last line, such as ``57:3f2a...``; empty for an empty log."""
    last = _last_line(connection)
    return "" if last is None else last.head


def check_head(connection: Connection, copy: str) -> None:
    """Compare a copy of an earlier head with the line of its number.

    Raises:
        LeaderboardError: The copy is none, or the line is another one now.
    """
    number, _, chain = copy.partition(":")
    if not number.isascii() or not number.isdecimal() or len(number) > MAX_DIGITS or not chain:
        raise LeaderboardError(f"A head of the log is NUMBER:CHAIN, as pages and `log` print it, not {copy[:80]!r}.")
    line = next(read_log(connection, after=int(number) - 1, most=1), None)
    if line is None or line.head != copy:
        raise LeaderboardError(f"Line {number} of the log is not the one of this head: the log was written anew.")


def check_board(connection: Connection) -> int:
    """Check the chain of the log, and that the board shows what its last line says.

    Returns:
        The number of lines.

    Raises:
        LeaderboardError: A line was changed or is missing, or the database was changed without the log.
        DatabaseError: A value is none that vcrgen writes.
    """
    with as_written(connection.engine):
        return _check_board(connection)


def _check_board(connection: Connection) -> int:
    count = check_log(read_log(connection))
    if table := _changed_table(connection, in_rows=True):
        raise LeaderboardError(
            f"The table {table} is not what line {count} of the log says: the database was changed without the log."
        )
    for run in changed_runs(connection):
        raise LeaderboardError(f"The scores of run {run} are not those that the log tells of.")
    for key in changed_rankings(connection):
        raise LeaderboardError(f"The ranks of {key.set}, {key.mode}, {key.view} do not follow from its scores.")
    return count


def check_unchanged(lines: Iterable[Event]) -> None:
    """Refuse, with a LeaderboardError, a log that tells of a change without it, whatever the change was."""
    for line in lines:
        if line.what == FOREIGN_CHANGE:
            raise LeaderboardError(f"Before line {line.number} of the log, the database was changed without the log.")


def check_log(lines: Iterator[Event]) -> int:
    """Read a whole log and check its chain.

    Returns:
        The number of lines.

    Raises:
        LeaderboardError: A line was changed, or lines are missing.
    """
    before, number = START, 0
    for number, line in enumerate(lines, start=1):
        if line.number != number or line.chain != _link(before, line):
            raise LeaderboardError(f"Line {number} of the log was changed, or lines before it are missing.")
        before = line.chain
    return number


def _last_line(connection: Connection) -> Event | None:
    row = connection.execute(select(events).order_by(events.c.number.desc()).limit(1)).one_or_none()
    return None if row is None else Event(**row._mapping)


def _changed_table(connection: Connection, *, in_rows: bool) -> str:
    """The first table that is not what the last line of the log says; empty if all are, or if there is no line."""
    if (last := _last_line(connection)) is None:
        return ""
    stored = stored_sums(connection)
    counted = counted_sums(connection) if in_rows else stored
    if names := sorted(name for name in stored.keys() | counted.keys() if stored.get(name) != counted.get(name)):
        return names[0]
    state = state_digests(stored, last.state.get(NONCE, ""))
    names = sorted(state.keys() | last.state.keys())
    return next((name for name in names if last.state.get(name) != state.get(name)), "")


def _link(before: str, line: Event) -> str:
    at = line.at.astimezone(UTC).isoformat()
    says = [line.actor, line.what, line.subject, dict(line.facts), dict(line.state)]
    return hashlib.sha256(canonical_json([before, line.number, at, *says]).encode()).hexdigest()
