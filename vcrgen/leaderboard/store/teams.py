"""Teams and their tokens, of which only hashes are kept."""

from collections.abc import Sequence

from sqlalchemy import Connection, func, insert, select, update

from vcrgen.leaderboard.store.log import now
from vcrgen.leaderboard.store.schema import identities, teams, tokens
from vcrgen.web.tokens import new_token, token_hash

PREFIX = "vcr_"


def key_of(team: str) -> str:
    """The key of a team: names that differ in case only have the same."""
    return team.casefold()


def make_token(connection: Connection, team: str, label: str) -> str:
    """A new token of a team; it is nowhere but in what this returns."""
    add_team(connection, team)
    token = new_token(PREFIX)
    values = {"hash": token_hash(token), "team": key_of(team), "label": label, "made": now()}
    connection.execute(insert(tokens).values(**values))
    return token


def revoke_tokens(connection: Connection, team: str) -> int:
    """Make all tokens of a team void; returns how many there were."""
    mine = (tokens.c.team == key_of(team)) & tokens.c.revoked.is_(None)
    return connection.execute(update(tokens).where(mine).values(revoked=now())).rowcount


def team_of(connection: Connection, token: str) -> str | None:
    """The name of the team that a token belongs to, or None."""
    if (stored := token_hash(token)) is None:
        return None
    valid = (tokens.c.hash == stored) & tokens.c.revoked.is_(None)
    query = select(teams.c.name).join(tokens, tokens.c.team == teams.c.key).where(valid)
    return connection.execute(query).scalar_one_or_none()


def add_identity(connection: Connection, team: str, identity: str) -> None:
    """Let somebody who signed in be of a team, given the hash of who they are."""
    connection.execute(insert(identities).values(identity=identity, team=key_of(team)))


def team_of_identity(connection: Connection, identity: str) -> str:
    """The name of the team of somebody who signed in, by the hash of who they are; empty if there is none."""
    query = select(teams.c.name).join(identities, identities.c.team == teams.c.key)
    return connection.execute(query.where(identities.c.identity == identity)).scalar_one_or_none() or ""


def add_team(connection: Connection, name: str) -> str:
    """Add a team unless it is there; returns its name as it was first written."""
    key = key_of(name)
    there = connection.execute(select(teams.c.name).where(teams.c.key == key)).scalar_one_or_none()
    if there is None:
        connection.execute(insert(teams).values(key=key, name=name))
    return there or name


def put_into_group(connection: Connection, team: str, group: str) -> None:
    """Let a team share its limits with the others of a group; an empty name takes it out of its group."""
    connection.execute(update(teams).where(teams.c.key == key_of(team)).values(group=group.casefold() or None))


def sharing(connection: Connection, team: str) -> Sequence[str]:
    """The keys of the teams that share their limits with a team, itself included."""
    group = select(teams.c.group).where(teams.c.key == key_of(team)).scalar_subquery()
    others = connection.execute(select(teams.c.key).where(teams.c.group == group).order_by(teams.c.key)).scalars().all()
    return others or [key_of(team)]


def turn_of(connection: Connection, key: str) -> str:
    """What takes turns for the team of a key: its group, or the team itself."""
    group = connection.execute(select(teams.c.group).where(teams.c.key == key)).scalar_one_or_none()
    return f"group {group}" if group else f"team {key}"


def all_teams(connection: Connection) -> Sequence[tuple[str, int]]:
    """Every team with the number of its valid tokens."""
    valid = (tokens.c.team == teams.c.key) & tokens.c.revoked.is_(None)
    query = select(teams.c.name, func.count(tokens.c.hash)).outerjoin(tokens, valid)
    rows = connection.execute(query.group_by(teams.c.key, teams.c.name).order_by(teams.c.key))
    return [(name, count) for name, count in rows]
