"""Work of maintainers from a page: their names, and approving, declining and editing submissions."""

import json

from vcrgen.core.errors import LeaderboardError
from vcrgen.core.files import canonical_json, write_text
from vcrgen.leaderboard.board import Board
from vcrgen.leaderboard.commands import MAX_REASON
from vcrgen.leaderboard.model_facts import check_facts
from vcrgen.leaderboard.records import ModelFacts, Submission, SubmissionStatus
from vcrgen.leaderboard.store import submissions
from vcrgen.leaderboard.store.log import maintainer, now, record
from vcrgen.leaderboard.store.sets import get_set
from vcrgen.report.escape import check_name
from vcrgen.report.published.fields import show_size
from vcrgen.web.tokens import new_token, token_hash

FILE = "maintainers.json"  # in the board's folder: hashes of tokens to the names of maintainers
PREFIX = "vcr_maintainer_"


def give_token(board: Board, name: str) -> str:
    """A new token for a maintainer, by which the page for maintainers knows them; it is shown once and kept nowhere."""
    name = check_name(name, "maintainer")
    token = new_token(PREFIX)
    _write(board, _read_names(board) | {str(token_hash(token)): name})
    with board.writing() as connection:
        record(connection, actor=maintainer(), what="maintainer added", subject="board", facts={})
    return token


def revoke(board: Board, name: str) -> int:
    """Make all tokens of a maintainer void; returns how many there were.

    Raises:
        LeaderboardError: There are none.
    """
    names = _read_names(board)
    others = {hashed: who for hashed, who in names.items() if who != name}
    if len(others) == len(names):
        raise LeaderboardError(f"There is no maintainer {name[:80]!r} with a token.")
    _write(board, others)
    with board.writing() as connection:
        record(connection, actor=maintainer(), what="maintainer removed", subject="board", facts={})
    return len(names) - len(others)


def maintainer_of(board: Board, token: str) -> str | None:
    """The name of the maintainer that a token belongs to, or None."""
    return _read_names(board).get(token_hash(token) or "")


def approve(board: Board, submission_id: str, *, actor: str) -> Submission:
    """Let a file be scored that waits for a maintainer.

    Raises:
        LeaderboardError: It does not wait for one, or its set takes no more files.
    """
    with board.writing() as connection:
        submission = _require_held(submissions.find(connection, submission_id), submission_id)
        lifecycle = get_set(connection, submission.set).lifecycle
        if lifecycle.closing or lifecycle.retired:
            raise LeaderboardError(f"The set {submission.set!r} is closed; the file can only be declined.")
        submissions.change(connection, submission.id, status=SubmissionStatus.QUEUED.value)
        record(connection, actor=actor, what="approved", subject=submission.subject, facts=submission.log_details)
    return submission


def decline(board: Board, submission_id: str, reason: str, *, actor: str) -> Submission:
    """Refuse a file that waits for a maintainer; its team reads the reason, and it takes nothing of the team's tries.

    Raises:
        LeaderboardError: It does not wait for one, or no reason is given.
    """
    if not (reason := " ".join(reason.split())[:MAX_REASON]):
        raise LeaderboardError("Say why; the team reads it.")
    with board.writing() as connection:
        submission = _require_held(submissions.find(connection, submission_id), submission_id)
        problems = [f"A maintainer declined it: {reason}"]
        submissions.change(
            connection, submission.id, status=SubmissionStatus.FAILED.value, finished=now(), problems=problems
        )
        record(connection, actor=actor, what="declined", subject=submission.subject, facts=submission.log_details)
    return submission


def edit(board: Board, submission_id: str, *, actor: str, **facts: str) -> Submission:
    """Correct what is said of a model, in all of its files: ``link``, ``access``, ``size`` and ``released``.

    Raises:
        LeaderboardError: There is no such file, or one of them is not of its form.
    """
    with board.writing() as connection:
        submission = submissions.find(connection, submission_id)
        if submission is None:
            raise LeaderboardError("There is no such submission.")
        checked = check_facts(team=submission.facts.team, model=submission.facts.model, **facts)
        submissions.describe(connection, checked)
        details = {name: text or "nothing" for name, text in _changes(submission.facts, checked).items()}
        record(
            connection, actor=actor, what="edited", subject=submission.subject, facts=submission.log_details | details
        )
    return submission


def _changes(old: ModelFacts, new: ModelFacts) -> dict[str, str]:
    def texts(facts: ModelFacts) -> dict[str, str]:
        released = facts.released.isoformat() if facts.released else ""
        return {"link": facts.link, "access": facts.access.value, "size": show_size(facts.size), "released": released}

    before = texts(old)
    return {name: text for name, text in texts(new).items() if text != before[name]}


def _require_held(submission: Submission | None, submission_id: str) -> Submission:
    if submission is None or submission.status is not SubmissionStatus.HELD:
        raise LeaderboardError(f"The submission {submission_id[:40]!r} does not wait for a maintainer.")
    return submission


def _read_names(board: Board) -> dict[str, str]:
    file = board.folder / FILE
    return dict(json.loads(file.read_text("utf-8"))) if file.is_file() else {}


def _write(board: Board, names: dict[str, str]) -> None:
    write_text(board.folder / FILE, canonical_json(names))
    (board.folder / FILE).chmod(0o600)
