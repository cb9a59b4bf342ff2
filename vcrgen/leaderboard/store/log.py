"""The log: every change of a board, in order. Lines are added and never changed, and a chain of hashes shows it."""

from __future__ import annotations

import getpass
import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from datetime import UTC, datetime

from sqlalchemy import Connection, insert, select

from vcrgen.core.errors import LeaderboardError
from vcrgen.core.files import canonical_json
from vcrgen.leaderboard.records import Event
from vcrgen.leaderboard.store.schema import events

START = "0" * 64
MAINTAINER = "maintainer"  # how those are called who work on the command line, before the name of their account


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
    """Add a line, inside the transaction that does what it says."""
    last = connection.execute(select(events).order_by(events.c.number.desc()).limit(1)).one_or_none()
    number = 1 if last is None else last.number + 1
    before = START if last is None else last.chain
    line = Event(number=number, at=now(), actor=actor, what=what, subject=subject, facts=dict(facts), chain="")
    connection.execute(insert(events).values(**asdict(replace(line, chain=_link(before, line)))))


def read_log(connection: Connection, *, after: int = 0, most: int | None = None) -> Iterator[Event]:
    """The lines after a number, in order; at most so many."""
    query = select(events).where(events.c.number > after).order_by(events.c.number).limit(most)
    for row in connection.execute(query):
        yield Event(**row._mapping)


def last_event(connection: Connection) -> tuple[int, datetime | None]:
    """Number and time of the last line; 0 and None for an empty log."""
    row = connection.execute(select(events.c.number, events.c.at).order_by(events.c.number.desc()).limit(1)).first()
    return (0, None) if row is None else (row.number, row.at)


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


def _link(before: str, line: Event) -> str:
    at = line.at.astimezone(UTC).isoformat()
    text = canonical_json([before, line.number, at, line.actor, line.what, line.subject, dict(line.facts)])
    return hashlib.sha256(text.encode()).hexdigest()
