"""Taking a file of outputs: kept on disk and written down before anybody is told that it was accepted."""

from __future__ import annotations

import secrets
from datetime import timedelta
from functools import partial
from typing import IO

from sqlalchemy import Connection

from vcrgen.errors import LeaderboardError
from vcrgen.leaderboard.board import Board
from vcrgen.leaderboard.facts import ModelFacts, file_name
from vcrgen.leaderboard.records import State, Submission, TestSet
from vcrgen.leaderboard.settings import Settings
from vcrgen.leaderboard.store import submissions
from vcrgen.leaderboard.store.log import now, record
from vcrgen.leaderboard.store.sets import all_sets
from vcrgen.leaderboard.store.teams import add_team

DAY = timedelta(hours=24)


class LimitReached(LeaderboardError):
    """A team has handed in as much as the board takes for now."""


class AlreadyThere(LeaderboardError):
    """The same file was handed in for the same model and set; ``id`` is that of the earlier submission."""

    def __init__(self, earlier: Submission) -> None:
        super().__init__(f"This file was handed in for {earlier.facts.model} on {earlier.set} before.")
        self.id = earlier.id


def accept(
    board: Board, facts: ModelFacts, stream: IO[bytes], *, set_name: str, name: str | None, channel: str, actor: str,
    limited: bool,
) -> Submission:  # fmt: skip
    """Take a file of outputs for scoring.

    Args:
        board: The board that takes it.
        facts: What its team says of the model.
        stream: The file's bytes.
        set_name: The test set.
        name: What the team calls the file.
        channel: ``api``, ``page`` or ``command line``.
        actor: Who hands it in, for the log.
        limited: Whether the team's limits hold; not for maintainers.

    Returns:
        The submission: on disk, and sure to be scored or refused with a reason.

    Raises:
        LeaderboardError: There is no such set, or the file is none of outputs.
        LimitReached: The team has to wait.
        AlreadyThere: The same file was handed in before.
    """
    with board.reading() as connection:  # before the file is stored: who is over a limit fills no disk
        sets = {one.name: one for one in all_sets(connection)}
        if set_name not in sets:
            raise LeaderboardError(f"There is no set {set_name[:40]!r} on this board; there are {', '.join(sets)}.")
        test_set = sets[set_name]
        if limited:
            _check_limits(connection, board.settings, facts.team, test_set)
    kept = board.vault.keep(stream, most=board.settings.file_mb << 20)
    with board.writing() as connection:
        submission = Submission(
            id=secrets.token_hex(16), set=set_name, facts=facts, file=kept.sha256, file_name=file_name(name),
            bytes=kept.bytes, channel=channel, received=now(),
        )  # fmt: skip
        if earlier := submissions.find_same(connection, submission):
            raise AlreadyThere(earlier)
        if limited:
            _check_limits(connection, board.settings, facts.team, test_set)
        add_team(connection, facts.team)
        submissions.add(connection, submission)
        record(connection, actor=actor, what="accepted", subject=facts.entry, facts=submission.told)
    return submission


def _check_limits(connection: Connection, settings: Settings, team: str, test_set: TestSet) -> None:
    since = now() - DAY
    failed = submissions.count(connection, states=[State.FAILED], team=team, since=since)
    if failed >= settings.failed_a_day:
        raise LimitReached(f"{failed} files of your team were refused in the last 24 hours; check them, and come back.")
    of_set = partial(submissions.count, connection, states=submissions.TAKEN, team=team, set_name=test_set.name)
    a_day = settings.scored_hidden_a_day if test_set.hidden else settings.scored_a_day
    if of_set(since=since) >= a_day:
        raise LimitReached(f"Your team has handed in {a_day} files for {test_set.name} in 24 hours, the most it may.")
    in_all = settings.scored_hidden_in_all
    if test_set.hidden and of_set() >= in_all:
        raise LimitReached(f"Your team has handed in {in_all} files for {test_set.name}, the most it ever may.")
