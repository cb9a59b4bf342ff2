"""Taking a file of outputs: kept on disk and written down before anybody is told that it was accepted."""

import secrets
from typing import IO

from sqlalchemy import Connection

from vcrgen.core.errors import LeaderboardError
from vcrgen.core.plurals import pluralize
from vcrgen.leaderboard.board import Board
from vcrgen.leaderboard.model_facts import file_name
from vcrgen.leaderboard.records import ModelFacts, Quota, Submission, SubmissionStatus
from vcrgen.leaderboard.settings import Settings
from vcrgen.leaderboard.store import submissions
from vcrgen.leaderboard.store.log import now, record
from vcrgen.leaderboard.store.sets import get_set
from vcrgen.leaderboard.store.teams import add_team, sharing


class LimitReached(LeaderboardError):
    """A team has submitted as much as the board takes for now."""


class DuplicateSubmission(LeaderboardError):
    """The same file was submitted for the same model and set; ``id`` is that of the earlier submission."""

    def __init__(self, earlier: Submission) -> None:
        super().__init__(f"This file was submitted for {earlier.facts.model} on {earlier.set} before.")
        self.id = earlier.id


def accept(
    board: Board,
    facts: ModelFacts,
    stream: IO[bytes],
    *,
    set_name: str,
    name: str | None,
    channel: str,
    actor: str,
    limited: bool,
    private: bool = False,
) -> Submission:
    """Take a file of outputs for scoring.

    Args:
        facts: What its team says of the model.
        name: What the team calls the file.
        channel: ``api``, ``page`` or `BY_MAINTAINERS`.
        actor: Who submits it, for the log.
        limited: Whether the team's limits hold; not for maintainers.
        private: Whether only those who know its id see it. Its team can choose it later, and then it is shown.

    Returns:
        The submission: on disk, and sure to be scored or rejected with a reason.

    Raises:
        LeaderboardError: There is no such set, it takes no files now, or the file is none of outputs.
        LimitReached: The team has to wait.
        DuplicateSubmission: The same file was submitted before.
    """
    with board.reading() as connection:  # before the file is stored: who is over a limit fills no disk
        _check(connection, board.settings, facts.team, set_name, limited=limited, private=private)
    stored = board.vault.store(stream, most=board.settings.file_mb << 20)
    with board.writing() as connection:
        submission = Submission(
            id=secrets.token_hex(16),
            set=set_name,
            facts=facts,
            file=stored.sha256,
            file_name=file_name(name),
            bytes=stored.bytes,
            channel=channel,
            received=submissions.moment(connection),
            private=private,
            status=SubmissionStatus.HELD if limited and board.settings.approval else SubmissionStatus.QUEUED,
        )
        if earlier := submissions.find_duplicate(connection, submission):
            raise DuplicateSubmission(earlier)
        # Once more, now that no other file can come between: two at a time would both pass the look above.
        _check(connection, board.settings, facts.team, set_name, limited=limited, private=private)
        add_team(connection, facts.team)
        submissions.add(connection, submission)
        record(connection, actor=actor, what="accepted", subject=submission.subject, facts=submission.log_details)
    return submission


def _check(
    connection: Connection, settings: Settings, team: str, set_name: str, *, limited: bool, private: bool
) -> None:
    test_set = get_set(connection, set_name)
    if refusal := test_set.lifecycle.refusal(test_set.name, now()):
        raise LeaderboardError(refusal)
    if private and not test_set.lifecycle.private:
        raise LeaderboardError(no_private_files(test_set.name))
    if not limited:
        return
    at = submissions.moment(connection)
    teams = sharing(connection, team)
    failed = submissions.count(connection, statuses=[SubmissionStatus.FAILED], teams=teams, since=at - submissions.DAY)
    if failed >= settings.failed_files_per_day:
        raise LimitReached(
            f"{pluralize(failed, 'file of your team was', 'files of your team were')} rejected in the last 24 hours; "
            "check what you submit, and come back."
        )
    quota = submissions.quota(connection, settings, teams, test_set, at=at)
    check_quota(quota, test_set.name, hidden=test_set.hidden)


def no_private_files(set_name: str) -> str:
    """The sentence that refuses a private file."""
    return f"The set {set_name!r} takes no private files; submit this one without `private`."


def check_quota(quota: Quota, set_name: str, *, hidden: bool) -> None:
    """Refuse a file, with a LimitReached, where nothing is left of a team's quota on a set."""
    if quota.left_today <= 0:
        raise LimitReached(
            f"Your team has {_counted(quota.daily_limit, set_name, hidden=hidden)} in 24 hours, the most it may; "
            "files that wait count, rejected ones do not."
        )
    if quota.lifetime_limit is not None and quota.left <= 0:
        raise LimitReached(
            f"Your team has {_counted(quota.lifetime_limit, set_name, hidden=hidden)}, the most it ever may."
        )


def _counted(number: int, set_name: str, *, hidden: bool) -> str:
    """What a limit counts: of a hidden set scores that its key gave, else files."""
    if hidden:
        return f"used {pluralize(number, 'score')} of {set_name}"
    return f"submitted {pluralize(number, 'file')} for {set_name}"
