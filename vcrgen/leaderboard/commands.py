"""The maintainers' commands, without a terminal."""

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from sqlalchemy import Connection

from vcrgen.core.errors import LeaderboardError, PredictionError
from vcrgen.core.plurals import pluralize
from vcrgen.leaderboard.board import Board
from vcrgen.leaderboard.intake import accept
from vcrgen.leaderboard.model_facts import near_team
from vcrgen.leaderboard.pixel_scores import score_pixels
from vcrgen.leaderboard.records import (
    BY_MAINTAINERS,
    NO_MODE,
    Feedback,
    ModelFacts,
    Submission,
    SubmissionStatus,
    TestSet,
)
from vcrgen.leaderboard.scoring import POLL_SECONDS, open_session
from vcrgen.leaderboard.store import results, submissions
from vcrgen.leaderboard.store.log import maintainer, record
from vcrgen.leaderboard.store.sets import all_sets, get_set
from vcrgen.leaderboard.store.teams import all_teams, key_of, make_token, put_into_group, revoke_tokens, sharing
from vcrgen.leaderboard.worker import Worker, refresh_ranking
from vcrgen.report.escape import check_name
from vcrgen.report.published.human_baseline import HumanBaseline, read_human_baseline
from vcrgen.report.published.results import read_reported
from vcrgen.scorer.records import UNSTATED

MAX_REASON = 300


def add(board: Board, file: Path, facts: ModelFacts, *, set_name: str | None) -> Submission:
    """Submit a file as a maintainer, and wait until it is scored: by a service that runs, or else here.

    Without a set's name the set is found by the ids in the file.

    Returns:
        The submission, scored or failed.

    Raises:
        LeaderboardError: The file fits no set or several, or was submitted before; or its set cannot be read, and the
            submission waits until it can be.
    """
    try:
        stream = file.open("rb")
    except OSError as problem:
        raise LeaderboardError(f"{file} cannot be read: {problem.strerror or problem}.") from None
    with stream:
        submission = accept(
            board,
            facts,
            stream,
            set_name=set_name or find_set(board, file),
            name=file.name,
            channel=BY_MAINTAINERS,
            actor=maintainer(),
            limited=False,
        )
    while submission.status in (SubmissionStatus.QUEUED, SubmissionStatus.SCORING):
        ours = score_or_wait(board)
        with board.reading() as connection:
            stored = submissions.find(connection, submission.id)
        assert stored is not None
        submission = stored
        if ours and submission.status is SubmissionStatus.QUEUED:
            raise LeaderboardError(
                f"The file is accepted and waits, as the set {submission.set!r} cannot be read; see that its data is "
                "there, then start the service or add another file."
            )
    return submission


def find_set(board: Board, file: Path) -> str:
    """The one set of a board that a file's ids fit.

    Raises:
        LeaderboardError: There is none, or there are several.
    """
    fitting, reasons = [], []
    for test_set in board.sets:
        try:
            open_session(test_set.name, Path(test_set.path)).validate(file)
            fitting.append(test_set.name)
        except PredictionError as problem:
            reasons.append(str(problem))
    if len(fitting) > 1:
        raise LeaderboardError(f"{file} fits the sets {' and '.join(fitting)}; name one with --set.")
    if not fitting:
        raise LeaderboardError(reasons[0] if reasons else "The board has no set.")
    return fitting[0]


def score_or_wait(board: Board) -> bool:
    """Score what waits, or wait a moment if a service does; returns whether it was done here."""
    try:
        score_waiting(board)
    except LeaderboardError:  # a service scores
        time.sleep(POLL_SECONDS)
        return False
    return True


def score_waiting(board: Board) -> int:
    """Score everything that waits; returns how many there were.

    Raises:
        LeaderboardError: Another process scores for the board.
    """
    worker = Worker(board, say=lambda what, **facts: None)
    with worker.exclusive(wait=1):
        scored = sum(1 for _ in iter(worker.score_next, False))
    refresh_ranks(board)
    return scored


def refresh_ranks(board: Board) -> None:
    """Compute the ranks anew where models have gone, as the worker of a service does when nothing waits."""
    while refresh_ranking(board):
        pass


def remove(board: Board, submission_id: str, reason: str, *, actor: str = "") -> Submission:
    """Take a submission off the board; its trace stays, and an earlier file of the model takes its place.

    ``submission_id`` may be the beginning of an id that no other one has. Everybody can read the reason. The log says
    that ``actor`` did it, or else who works on the command line.

    Raises:
        LeaderboardError: There is none, there are several, or no reason.
    """
    if not (reason := " ".join(reason.split())[:MAX_REASON]):
        raise LeaderboardError("Say why (on the command line with --reason); the board shows it.")
    with board.writing() as connection:
        submission = _by_id_prefix(submissions.list_submissions(connection), submission_id)
        if submission.status is not SubmissionStatus.SCORED:
            raise LeaderboardError(
                f"The submission {submission.id} is {submission.status}; only what is scored can be removed."
            )
        submissions.change(connection, submission.id, status=SubmissionStatus.REMOVED.value, removed=reason)
        results.update_shown_file(connection, submission.facts.entry, get_set(connection, submission.set))
        details = submission.log_details | {"reason": reason}
        record(connection, actor=actor or maintainer(), what="removed", subject=submission.subject, facts=details)
    return submission


def choose(board: Board, submission_id: str, *, team: str | None, actor: str) -> Submission:
    """Make a file the one that counts for its model on its set; a private file can be seen from then on.

    While a ladder is open, a team or group chooses at most so many models as are ranked when the set is closed.

    Args:
        submission_id: Its id, or the beginning of an id that no other one of the team has.
        team: Whose file it has to be; None for a maintainer.
        actor: Who chooses, for the log.

    Raises:
        LeaderboardError: There is none, there are several, it was not scored, its set is closed, or the team has chosen
            all models that it may.
    """
    with board.writing() as connection:
        submission = _open_file(connection, submission_id, team)
        if submission.status is not SubmissionStatus.SCORED:
            raise LeaderboardError(
                f"The submission {submission.id} is {submission.status}; only what is scored can count."
            )
        if get_set(connection, submission.set).lifecycle.ladder_open and submission.channel != BY_MAINTAINERS:
            _check_choice(connection, submission, board.settings.closing_models)
        submissions.choose(connection, submission)
        submission = replace(submission, chosen=True, private=False)
        results.update_shown_file(connection, submission.facts.entry, get_set(connection, submission.set))
        record(connection, actor=actor, what="chosen", subject=submission.subject, facts=submission.log_details)
    return submission


def take_back(board: Board, submission_id: str, *, team: str | None, actor: str) -> Submission:
    """Leave a model to the rule again: its last file counts, and at closing those with the best feedback.

    Args:
        submission_id: As of `choose`.
        team: As of `choose`.
        actor: Who takes it back, for the log.

    Raises:
        LeaderboardError: There is none, there are several, it was not chosen, or its set is closed.
    """
    with board.writing() as connection:
        submission = _open_file(connection, submission_id, team)
        if not submission.chosen:
            raise LeaderboardError(f"The submission {submission.id} was not chosen; there is nothing to take back.")
        submissions.change(connection, submission.id, chosen=False)
        results.update_shown_file(connection, submission.facts.entry, get_set(connection, submission.set))
        record(connection, actor=actor, what="taken back", subject=submission.subject, facts=submission.log_details)
    return replace(submission, chosen=False)


def _open_file(connection: Connection, submission_id: str, team: str | None) -> Submission:
    """The file of an id on a set whose files can be chosen; a LeaderboardError if there is none."""
    files = submissions.list_submissions(connection) if team is None else submissions.team_files(connection, team)
    submission = _by_id_prefix(files, submission_id)
    lifecycle = get_set(connection, submission.set).lifecycle
    if lifecycle.closing or lifecycle.retired:
        raise LeaderboardError(f"The set {submission.set!r} is closed; what counts on it cannot be changed.")
    return submission


def _check_choice(connection: Connection, submission: Submission, number: int) -> None:
    """Refuse, with a LeaderboardError, a choice of more models than a team or group has at closing."""
    teams = sharing(connection, submission.facts.team)
    others = [
        other
        for other in submissions.counted(connection, submission.set)
        if other.chosen
        and other.channel != BY_MAINTAINERS
        and other.facts.entry != submission.facts.entry
        and key_of(other.facts.team) in teams
    ]
    if len(others) >= number:
        raise LeaderboardError(
            f"The team has chosen {pluralize(len(others), 'model')} for {submission.set}, the most that are ranked "
            "at its closing; take one back first."
        )


def _by_id_prefix(files: Sequence[Submission], submission_id: str) -> Submission:
    matches = [file for file in files if file.id.startswith(submission_id)]
    if len(matches) != 1:
        raise LeaderboardError(f"{len(matches)} submissions have an id that begins with {submission_id[:40]!r}.")
    return matches[0]


def rescore(board: Board) -> int:
    """Let everything be scored once more, after an update of vcrgen or of a set; returns how many there are.

    Sets with a ladder are left out: what a team was told of a file stays, and the final split is scored once.
    """
    with board.writing() as connection:
        ladders = [test_set.name for test_set in all_sets(connection) if test_set.lifecycle.feedback is Feedback.LADDER]
        count = submissions.requeue_scored(connection, skip=ladders)
        record(connection, actor=maintainer(), what="rescoring", subject="board", facts={"submissions": str(count)})
    return count


def give_token(board: Board, team: str, label: str, *, group: str | None = None) -> str:
    """A new token for a team; it is shown once and kept nowhere.

    Args:
        group: The group whose teams share their limits; empty takes the team out of its group, None leaves it.
    """
    name = check_name(team, "team")
    with board.writing() as connection:
        token = make_token(connection, name, " ".join(label.split())[:80])
        if group is not None:
            put_into_group(connection, name, check_name(group, "group") if group else "")
        record(connection, actor=maintainer(), what="token given", subject=name, facts={})
    return token


def revoke(board: Board, team: str) -> int:
    """Make all tokens of a team void; returns how many there were.

    Raises:
        LeaderboardError: The team has none.
    """
    name = check_name(team, "team")
    with board.writing() as connection:
        count = revoke_tokens(connection, name)
        if not count:
            near = near_team(name, [team for team, valid in all_teams(connection) if valid])
            hint = f"; did you mean {near!r}?" if near else "."
            raise LeaderboardError(f"The team {name!r} has no valid token{hint}")
        record(connection, actor=maintainer(), what="tokens revoked", subject=name, facts={})
    return count


def quote(board: Board, files: Sequence[Path]) -> int:
    """Add rows from publications, scores of people (``.json``), and outputs of the template baseline (``.jsonl``).

    Returns:
        How many rows were new or put in the place of others.

    Raises:
        LeaderboardError: A file is none, or is of other data than the sets of the board.
    """
    outputs = [(file, find_set(board, file)) for file in files if file.suffix == ".jsonl"]
    by_name = {test_set.name: test_set for test_set in board.sets}
    scored = [(file, by_name[name], score_pixels(by_name[name], file)) for file, name in outputs]
    studies = [(file, read_human_baseline(file)) for file in files if file.suffix == ".json"]
    tables = [file for file in files if file.suffix not in (".json", ".jsonl")]
    rows = [row for file in tables for row in read_reported(file)]
    with board.writing() as connection:
        count = results.add_reported(connection, rows)
        if count:
            details = {"rows": str(count), "files": ", ".join(file.name for file in tables)[:300]}
            record(connection, actor=maintainer(), what="reported results", subject="board", facts=details)
        for file, baseline in studies:
            test_set = _set_of(baseline, all_sets(connection), file)
            results.put_human(connection, test_set.name, baseline)
            details = {"study": baseline.study, "rows": str(len(baseline.scores)), "file": file.name[:300]}
            record(connection, actor=maintainer(), what="human baseline", subject=test_set.name, facts=details)
        for file, test_set, scores in scored:
            results.put_pixels(connection, test_set.name, test_set.data, scores)
            details = {"rows": str(len(scores)), "file": file.name[:300]}
            record(connection, actor=maintainer(), what="template baseline", subject=test_set.name, facts=details)
    return count + sum(len(baseline.scores) for _, baseline in studies) + sum(len(scores) for _, _, scores in scored)


def _set_of(baseline: HumanBaseline, sets: Sequence[TestSet], file: Path) -> TestSet:
    """The set of a board whose data the people of a study saw; a LeaderboardError if there is none."""
    data = baseline.data, baseline.language
    test_set = next((candidate for candidate in sets if (candidate.data, candidate.language) == data), None)
    if test_set is None:
        listing = (f"{candidate.name} ({candidate.data}, {candidate.language})" for candidate in sets)
        have = ", ".join(listing) or "none"
        raise LeaderboardError(
            f"{file} is of people who saw other data ({baseline.data}, {baseline.language}) than the sets of this "
            f"board: {have}. Make the study with the data of a set."
        )
    modes = test_set.modes or (NO_MODE,)
    for number, score in enumerate(baseline.scores, start=1):
        mode = NO_MODE if score.mode == UNSTATED else score.mode
        if mode not in modes or score.view not in test_set.task.board_views or score.items > test_set.questions:
            raise LeaderboardError(
                f"{file}, score {number}: the set {test_set.name!r} has no {score.mode}, {score.view.label} with "
                f"{pluralize(score.items, test_set.task.cluster)}."
            )
    return test_set
