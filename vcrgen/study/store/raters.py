"""The raters of a study: their links, their states, and the texts that they agreed to."""

from datetime import UTC, datetime

from sqlalchemy import Connection, RowMapping, func, insert, select, update
from sqlalchemy.dialects.sqlite import insert as insert_or

from vcrgen.study.records import Rater, RaterState
from vcrgen.study.store.tables import consents, raters

SELECT_RATER = select(
    *(raters.c[name] for name in ("number", "lang", "state", "token", "shared_link", "tab", "consent")),
    *(raters.c[name] for name in ("languages", "answered", "began", "ended")),
)


def now() -> str:
    """The time in UTC, to the second."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def add_rater(connection: Connection, number: int, lang: str, *, token: str | None, shared_link: str | None) -> None:
    """Add a rater, known by the hash of a token, or of the shared link by which a visitor takes the place later."""
    values = dict.fromkeys(("tab", "consent", "languages", "began", "ended"), "")
    identity = {"token": token, "shared_link": shared_link, "state": RaterState.INVITED}
    connection.execute(insert(raters).values({"number": number, "lang": lang} | identity | values))


def next_rater_number(connection: Connection) -> int:
    """One more than the highest number of a rater, from 1."""
    return int(connection.execute(select(func.coalesce(func.max(raters.c.number), 0) + 1)).scalar_one())


def read_raters(connection: Connection) -> list[Rater]:
    """All raters, in the order of their invitations."""
    rows = connection.execute(SELECT_RATER.order_by(raters.c.number)).mappings()
    return [as_rater(row) for row in rows]


def find_rater(connection: Connection, token: str | None) -> Rater | None:
    """The rater with a token of that hash, or None."""
    row = connection.execute(SELECT_RATER.where(raters.c.token == token)).mappings().first()
    return None if row is None else as_rater(row)


def as_rater(row: RowMapping) -> Rater:
    """The rater of a row of `SELECT_RATER`."""
    return Rater(**{**row, "state": RaterState(row["state"])})


def update_rater(connection: Connection, number: int, **values: str | float | None) -> None:
    """Set columns of a rater."""
    connection.execute(update(raters).where(raters.c.number == number).values(values))


def save_consent(connection: Connection, version: str, text: str) -> None:
    """Store the text that a rater agreed to."""
    connection.execute(insert_or(consents).values(version=version, text=text).on_conflict_do_nothing())
