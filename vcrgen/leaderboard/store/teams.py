"""Teams and their tokens. Of a token only a hash is kept: it is 256 random bits, so no salt is needed."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Sequence

from sqlalchemy import Connection, insert, select, update

from vcrgen.leaderboard.store.log import now
from vcrgen.leaderboard.store.schema import teams, tokens

PREFIX = "vcr_"
MAX_TOKEN = 100


def make_token(connection: Connection, team: str, label: str) -> str:
    """A new token of a team; it is nowhere but in what this returns."""
    add_team(connection, team)
    token = PREFIX + secrets.token_urlsafe(32)
    values = {"hash": _hash(token), "team": team.casefold(), "label": label, "made": now()}
    connection.execute(insert(tokens).values(**values))
    return token


def revoke_tokens(connection: Connection, team: str) -> int:
    """Make all tokens of a team void; returns how many there were."""
    mine = (tokens.c.team == team.casefold()) & tokens.c.revoked.is_(None)
    return connection.execute(update(tokens).where(mine).values(revoked=now())).rowcount


def team_of(connection: Connection, token: str) -> str | None:
    """The name of the team that a token belongs to, or None."""
    if len(token) > MAX_TOKEN:
        return None
    valid = (tokens.c.hash == _hash(token)) & tokens.c.revoked.is_(None)
    found = connection.execute(select(teams.c.name).join(tokens, tokens.c.team == teams.c.key).where(valid))
    return found.scalar_one_or_none()


def add_team(connection: Connection, name: str) -> str:
    """Add a team unless it is there; returns its name as it was first written."""
    key = name.casefold()
    there = connection.execute(select(teams.c.name).where(teams.c.key == key)).scalar_one_or_none()
    if there is None:
        connection.execute(insert(teams).values(key=key, name=name))
    return there or name


def all_teams(connection: Connection) -> Sequence[tuple[str, int]]:
    """Every team with the number of its valid tokens."""
    valid = dict.fromkeys(connection.execute(select(teams.c.key).order_by(teams.c.key)).scalars(), 0)
    for key in connection.execute(select(tokens.c.team).where(tokens.c.revoked.is_(None))).scalars():
        valid[key] += 1
    names = {row.key: row.name for row in connection.execute(select(teams))}
    return [(names[key], count) for key, count in valid.items()]


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
