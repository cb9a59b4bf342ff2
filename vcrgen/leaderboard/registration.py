"""Self-registration of teams, where ``board.yaml`` allows it: by a link in a mail, or by a maintainer."""

from __future__ import annotations

import hashlib
import secrets
from datetime import timedelta

from sqlalchemy import Connection

from vcrgen.database.schema import AnyRow
from vcrgen.errors import LeaderboardError, ServiceError
from vcrgen.leaderboard.board import Board
from vcrgen.leaderboard.settings import Registration, Settings, absolute_url
from vcrgen.leaderboard.site import names
from vcrgen.leaderboard.store import registrations, teams
from vcrgen.leaderboard.store.log import now, record
from vcrgen.reported_results.fields import check_name
from vcrgen.text.lookalikes import skeleton
from vcrgen.web.mail import MailRefused, MailServer, is_address
from vcrgen.web.tokens import new_token, token_hash

MAX_WAITING = 200
PATIENCE = timedelta(days=7)  # after which a registration that nobody confirmed is forgotten
LINK_PREFIX = "vcr_link_"


def check_registration(settings: Settings) -> None:
    """Refuse, with a ServiceError, settings by which no mail with a link can be sent."""
    if settings.registration is not Registration.MAIL:
        return
    if not settings.url:  # a link below what a request calls the board could lead anywhere
        raise ServiceError("Registration by mail needs `url` in board.yaml: links in mails lead there.")
    MailServer(settings.smtp, settings.mail_from)


def register(board: Board, team: str, mail: str) -> str:
    """Take a registration, and send the link that confirms it if the board does so.

    Args:
        board: The board.
        team: A name that no other team has, nor one that looks the same.
        mail: An address for mail.

    Returns:
        The token, which is void until the registration is confirmed; it is shown once and kept nowhere.

    Raises:
        LeaderboardError: The name or the address is none, the name is taken, or too many wait.
        OSError: The mail could not be sent; nothing is kept then.
        ServiceError: The settings are none by which one can be sent.
    """
    check_registration(board.settings)
    kind = board.settings.registration
    if kind is Registration.CLOSED:
        raise LeaderboardError("This board gives tokens by its maintainers only.")
    name = check_name(team, "team")
    if not is_address(mail):
        raise LeaderboardError("The address for mail is written like name@example.org.")
    token, word, id = new_token(teams.PREFIX), new_token(LINK_PREFIX), secrets.token_hex(16)
    with board.writing() as connection:
        registrations.drop_older(connection, now() - PATIENCE)
        _check_free(connection, name)
        if len(registrations.waiting(connection)) >= MAX_WAITING:
            raise LeaderboardError("Too many registrations wait just now; come back tomorrow.")
        link_hash = token_hash(word) if kind is Registration.MAIL else ""
        registrations.add(
            connection, id=id, team=name, mail=mail, token_hash=str(token_hash(token)), link_hash=str(link_hash)
        )
    if kind is Registration.MAIL:
        link = absolute_url(board.settings, "", f"{names.CONFIRM}?word={word}")
        text = (
            "Somebody registered a team with this address on a leaderboard. If it was you, open this page and confirm "
            f"it within a week:\n\n{link}\n\nIf not, do nothing: without that no team is made."
        )
        try:
            MailServer(board.settings.smtp, board.settings.mail_from).send(mail, "Confirm your team", text)
        except (OSError, MailRefused) as problem:
            with board.writing() as connection:
                registrations.drop(connection, id)
            if isinstance(problem, OSError):
                raise
            raise LeaderboardError("The mail server does not take this address.") from None
    return token


def _check_free(connection: Connection, name: str) -> None:
    known = [each for each, _ in teams.all_teams(connection)]
    taken = {skeleton(each.casefold()) for each in (*known, *(row.name for row in registrations.waiting(connection)))}
    if skeleton(name.casefold()) in taken:
        raise LeaderboardError("A team has this name, or one that looks the same; choose another one.")


def token_of_identity(board: Board, identity: str) -> tuple[str, str]:
    """Return the team of somebody who signed in, and a new token of it; both empty if there is none."""
    with board.writing() as connection:
        team = registrations.team_of_identity(connection, _hashed(identity))
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
    name, id = check_name(team, "team"), secrets.token_hex(16)
    with board.writing() as connection:
        _check_free(connection, name)
        if registrations.team_of_identity(connection, _hashed(identity)):
            raise LeaderboardError("You have a team on this board; sign in again for a token of it.")
        token = teams.make_token(connection, name, "signed in")
        registrations.add_identity(
            connection, id=id, team=name, identity=_hashed(identity), token_hash=str(token_hash(token))
        )
        record(connection, actor=f"team {name}", what="token given", subject=name, facts={"by": "sign-in"})
    return token


def _hashed(identity: str) -> str:
    return hashlib.sha256(identity.encode()).hexdigest()


def confirm_by_link(board: Board, word: str) -> str:
    """Confirm the registration of the word in a mail; returns the name of the team.

    Raises:
        LeaderboardError: There is none, as it is confirmed already or too old.
    """
    with board.writing() as connection:
        registrations.drop_older(connection, now() - PATIENCE)
        hashed = token_hash(word) or ""
        found = registrations.find(connection, link_hash=hashed) if word.startswith(LINK_PREFIX) else None
        if found is None:
            raise LeaderboardError("No team waits for this link: it was used already, or is more than a week old.")
        _confirm(connection, found, actor=f"team {found.name}")
    return str(found.name)


def decide(board: Board, id: str, *, accept: bool, actor: str) -> str:
    """Confirm a registration as a maintainer, or forget it; returns the name of the team.

    Raises:
        LeaderboardError: There is none.
    """
    with board.writing() as connection:
        found = registrations.find(connection, id=id)
        if found is None:
            raise LeaderboardError("No team waits with this id.")
        if accept:
            _confirm(connection, found, actor=actor)
        else:
            registrations.drop(connection, found.id)
    return str(found.name)


def _confirm(connection: Connection, found: AnyRow, *, actor: str) -> None:
    """Let the token be valid. Teams with one address are one group: they share their limits."""
    teams.add_team(connection, found.name)
    teams.add_token(connection, found.name, found.token, "registered")
    teams.put_into_group(connection, found.name, f"mail {hashlib.sha256(found.mail.casefold().encode()).hexdigest()}")
    registrations.confirm(connection, found.id)
    record(connection, actor=actor, what="token given", subject=found.name, facts={"by": "registration"})
