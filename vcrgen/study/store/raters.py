"""The raters of a study: their links, their states, and the texts that they agreed to."""

from __future__ import annotations

from datetime import UTC, datetime

from sqlalchemy import Connection, func, insert, select, update
from sqlalchemy.dialects.sqlite import insert as insert_or

from vcrgen.study.records import Rater, RaterState
from vcrgen.study.store.tables import consents, raters

_RATER = select(
    *(raters.c[name] for name in ("number", "lang", "state", "code", "tab", "consent", "languages", "began", "ended"))
)


def now() -> str:
    """Return the time in UTC, to the second."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def add_rater(
    connection: Connection, number: int, lang: str, *, token: str | None, code: str, shared_link: str | None
) -> None:
    """Add a rater, known by the hash of a token, or of the shared link by which a visitor takes the place later."""
    values = dict.fromkeys(("tab", "consent", "languages", "began", "ended"), "")
    known = {"token": token, "code": code, "shared_link": shared_link, "state": RaterState.INVITED}
    connection.execute(insert(raters).values({"number": number, "lang": lang} | known | values))


def next_rater_number(connection: Connection) -> int:
    """Return the number of the next rater."""
    return int(connection.execute(select(func.coalesce(func.max(raters.c.number), 0) + 1)).scalar_one())


def read_raters(connection: Connection) -> list[Rater]:
    """Return all raters, in the order of their invitations."""
    rows = connection.execute(_RATER.order_by(raters.c.number)).mappings()
    return [Rater(**{**row, "state": RaterState(row["state"])}) for row in rows]


def find_rater(connection: Connection, token: str | None) -> Rater | None:
    """Return the rater with a token of that hash, or None."""
    row = connection.execute(_RATER.where(raters.c.token == token)).mappings().first()
    return None if row is None else Rater(**{**row, "state": RaterState(row["state"])})


def is_shared_link(connection: Connection, shared_link: str) -> bool:
    """Return true if the hash is that of a shared link."""
    return connection.execute(_RATER.where(raters.c.shared_link == shared_link)).first() is not None


def admit_visitor(connection: Connection, shared_link: str, visitor: str, token: str) -> bool:
    """Give a visitor of a shared link a place, the same one each time; False where none is free.

    Args:
        connection: Of a transaction that writes.
        shared_link: The hash of the link.
        visitor: A hash that stands for the visitor.
        token: The hash of the visitor's own token.
    """
    of_link = _RATER.where(raters.c.shared_link == shared_link)
    if connection.execute(of_link.where(raters.c.visitor == visitor)).first():
        return True
    free = of_link.where(raters.c.visitor.is_(None), raters.c.state == RaterState.INVITED)
    number = connection.execute(free.order_by(raters.c.number)).scalar()
    if number is None:
        return False
    update_rater(connection, number, visitor=visitor, token=token)
    return True


def update_rater(connection: Connection, number: int, **values: str | None) -> None:
    """Set columns of a rater."""
    connection.execute(update(raters).where(raters.c.number == number).values(values))


def save_consent(connection: Connection, version: str, text: str) -> None:
    """Store the text that a rater agreed to."""
    connection.execute(insert_or(consents).values(version=version, text=text).on_conflict_do_nothing())
