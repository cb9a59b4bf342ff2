"""Teams of people who signed in with a provider; of an identity only the hash is kept."""

import hashlib

from vcrgen.core.errors import LeaderboardError
from vcrgen.leaderboard.board import Board
from vcrgen.leaderboard.store import teams
from vcrgen.leaderboard.store.log import record
from vcrgen.report.escape import check_name
from vcrgen.text.lookalikes import skeleton


def token_of_identity(board: Board, identity: str) -> tuple[str, str]:
    """The team of somebody who signed in, and a new token of it; both empty if there is none."""
    with board.writing() as connection:
        team = teams.team_of_identity(connection, _hashed(identity))
        if not team:
            return "", ""
        token = teams.make_token(connection, team, "signed in")
        record(connection, actor=f"team {team}", what="token given", subject=team, facts={"by": "sign-in"})
    return team, token


def register_identity(board: Board, team: str, identity: str) -> str:
    """Make the team of somebody who signed in and has none; returns its token.

    Raises:
        LeaderboardError: The name is none, or taken, or they have a team.
    """
    name = check_name(team, "team")
    with board.writing() as connection:  # one at a time, so that two cannot take one name
        looks = {skeleton(other.casefold()) for other, _ in teams.all_teams(connection)}
        if skeleton(name.casefold()) in looks:
            raise LeaderboardError("A team has this name, or one that looks the same; choose another one.")
        if teams.team_of_identity(connection, _hashed(identity)):
            raise LeaderboardError("You have a team on this board; sign in again for a token of it.")
        token = teams.make_token(connection, name, "signed in")
        teams.add_identity(connection, name, _hashed(identity))
        record(connection, actor=f"team {name}", what="token given", subject=name, facts={"by": "sign-in"})
    return token


def _hashed(identity: str) -> str:
    return hashlib.sha256(identity.encode()).hexdigest()
