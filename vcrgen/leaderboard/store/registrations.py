"""Teams that registered themselves: an address for mail, and a token that is void until it is confirmed."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Connection, delete, insert, select, update

from vcrgen.database.schema import AnyRow
from vcrgen.leaderboard.store.log import now
from vcrgen.leaderboard.store.schema import registrations as table
from vcrgen.leaderboard.store.teams import key_of


def add(connection: Connection, *, id: str, team: str, mail: str, token_hash: str, link_hash: str) -> None:
    """Keep a registration that waits; ``link_hash`` is of the word in the mail, or empty if a maintainer confirms."""
    values = {"id": id, "team": key_of(team), "name": team, "mail": mail, "token": token_hash, "link": link_hash}
    connection.execute(insert(table).values(**values, made=now()))


def add_identity(connection: Connection, *, id: str, team: str, identity: str, token_hash: str) -> None:
    """Keep a team of somebody who signed in, which is confirmed by that."""
    values = {"id": id, "team": key_of(team), "name": team, "mail": "", "identity": identity, "link": ""}
    connection.execute(insert(table).values(**values, token=token_hash, made=now(), confirmed=now()))


def team_of_identity(connection: Connection, identity: str) -> str:
    """Return the name of the team of somebody who signed in; empty if there is none."""
    wanted = select(table.c.name).where(table.c.identity == identity).order_by(table.c.made)
    return connection.execute(wanted).scalars().first() or ""


def waiting(connection: Connection) -> Sequence[AnyRow]:
    """Registrations that nobody has confirmed, in the order in which they came."""
    found = select(table).where(table.c.confirmed.is_(None)).order_by(table.c.made, table.c.id)
    return connection.execute(found).all()


def find(connection: Connection, *, id: str = "", link_hash: str = "") -> AnyRow | None:
    """Return the waiting registration of an id, or of the word in its mail; None if there is none."""
    wanted = (table.c.link == link_hash) if link_hash else (table.c.id == id)
    return connection.execute(select(table).where(wanted, table.c.confirmed.is_(None))).first()


def confirm(connection: Connection, id: str) -> None:
    """Write down that a registration is confirmed."""
    connection.execute(update(table).where(table.c.id == id).values(confirmed=now(), link=""))


def drop(connection: Connection, id: str) -> None:
    """Forget a registration."""
    connection.execute(delete(table).where(table.c.id == id))


def drop_older(connection: Connection, moment: datetime) -> None:
    """Forget those that waited since before a moment."""
    connection.execute(delete(table).where(table.c.confirmed.is_(None), table.c.made < moment))


def mail_of(connection: Connection, team: str) -> str:
    """Return the address of a team that registered itself; empty if it did not."""
    wanted = select(table.c.mail).where(table.c.team == key_of(team), table.c.confirmed.is_not(None))
    return connection.execute(wanted.order_by(table.c.made)).scalars().first() or ""
