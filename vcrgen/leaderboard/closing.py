"""The end of a set's phase: the final split is scored of the files that count, and all of it is shown at once."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from vcrgen.core.errors import LeaderboardError
from vcrgen.core.lock import locked
from vcrgen.core.progress import ProgressListener
from vcrgen.data.key import FEEDBACK, FINAL
from vcrgen.leaderboard.board import Board
from vcrgen.leaderboard.commands import score_or_wait
from vcrgen.leaderboard.records import Feedback, LogEntry, Submission, SubmissionStatus
from vcrgen.leaderboard.scoring import LONG_RATIO, MAX_ATTEMPTS, ScoringTask, score_in_subprocess, session_of
from vcrgen.leaderboard.settings import FILE
from vcrgen.leaderboard.store import results, submissions
from vcrgen.leaderboard.store.log import maintainer, now, record, record_all
from vcrgen.leaderboard.store.sets import change_set, get_set
from vcrgen.leaderboard.times import minute

LOCK = ".closing.lock"
# The time at closing over that at intake, where the same file was read in both splits: it does not fail for its length.
CLOSING_TIMES = 3


def close(
    board: Board, set_name: str, listener: ProgressListener, *, early: bool = False, leave_out: bool = False
) -> int:
    """Close the phase of a set with a ladder: from now on it takes no files, and people see the scores that count.

    Nobody sees any of them before all are there. If it is stopped or killed, it goes on when it is called again.

    Args:
        listener: Is told how many files are scored.
        early: Close it although its last day is not over, or it has none.
        leave_out: Go on without files that cannot be scored; they fail, and the log and their pages say why.

    Returns:
        How many models have a score.

    Raises:
        LeaderboardError: There is no such set, it has no ladder, is closed or retired already, is open until a
            later day or without a last one, or has files that wait for approval; or a file could not be scored.
    """
    busy = LeaderboardError(f"Another process closes a set of {board.folder} already.")
    with locked(board.folder / LOCK, busy, wait=1):
        _begin_closing(board, set_name, early=early)
        while _waiting(board, set_name):
            if score_or_wait(board) and _waiting(board, set_name):
                raise LeaderboardError(
                    f"Files wait, as the set {set_name!r} cannot be read; see that its data is there."
                )
        done = set[str]()
        while files := [file for file in _ranked(board, set_name) if file.id not in done]:
            listener.begin(len(files), 0)
            for file in files:  # where one is left out, another file may take its place
                _score_final(board, file, leave_out=leave_out)
                done.add(file.id)
                listener.advance(1, 1, Counter())
        return _disclose_scores(board, set_name)


def _ranked(board: Board, set_name: str) -> Sequence[Submission]:
    with board.reading() as connection:
        return submissions.selected_for_closing(connection, set_name, board.settings.closing_models)


def _begin_closing(board: Board, set_name: str, *, early: bool) -> None:
    with board.writing() as connection:
        test_set = get_set(connection, set_name)
        lifecycle = test_set.lifecycle
        if lifecycle.feedback is not Feedback.LADDER:
            raise LeaderboardError(f"The set {set_name!r} has no ladder, so its scores are shown already.")
        if lifecycle.closed or lifecycle.retired:
            raise LeaderboardError(f"The set {set_name!r} is {'closed' if lifecycle.closed else 'retired'} already.")
        if lifecycle.closes is not None and now() < lifecycle.closes and not early:
            raise LeaderboardError(
                f"The set {set_name!r} is open until {minute(lifecycle.closes)} UTC; close it now, for good, with "
                "--early."
            )
        if lifecycle.closes is None and not early:
            raise LeaderboardError(
                f"The set {set_name!r} has no last day: write one as its `closes` into {board.folder / FILE} and run "
                "`vcrgen leaderboard apply`, or close it now, for good, with --early."
            )
        if lifecycle.closing is None:
            if held := submissions.count(connection, statuses=[SubmissionStatus.HELD], set_name=set_name):
                raise LeaderboardError(
                    f"Files of the set {set_name!r} that wait for approval: {held}; approve or decline them, "
                    "as a closed set takes none."
                )
            change_set(connection, replace(test_set, lifecycle=replace(lifecycle, closing=now())))
            record(connection, actor=maintainer(), what="closing", subject=set_name, facts={})


def long_files(board: Board, set_name: str) -> list[tuple[str, float]]:
    """Models of an open ladder whose outputs may be lists of guesses, over three times as long as the answers."""
    with board.reading() as connection:
        lifecycle = get_set(connection, set_name).lifecycle
        is_open = lifecycle.feedback is Feedback.LADDER and not lifecycle.closed
        files = submissions.counted(connection, set_name) if is_open else []
        ratios = [(file.facts.model, results.length_ratio(connection, file.id)) for file in files]
    return [(model, ratio) for model, ratio in ratios if ratio is not None and ratio > LONG_RATIO]


def _waiting(board: Board, set_name: str) -> int:
    with board.reading() as connection:
        return submissions.count(
            connection, statuses=[SubmissionStatus.QUEUED, SubmissionStatus.SCORING], set_name=set_name
        )


def _score_final(board: Board, submission: Submission, *, leave_out: bool) -> None:
    """Score a file on the final split, and keep that to ourselves; nothing is done if it was before."""
    with board.reading() as connection:
        test_set = get_set(connection, submission.set)
    # Read here, so that the forked processes share them; the split that does not count is scored as well, as always.
    session_of(test_set)
    session_of(test_set, FEEDBACK)
    signature = str(session_of(test_set, FINAL).signature)
    with board.reading() as connection:
        last = results.last_run(connection, submission.id, split=FINAL)
    if last is not None and last.signature == signature:
        return
    task = ScoringTask(
        set=test_set,
        file=board.vault.path(submission.file),
        shown_as=submission.file_name,
        split=FINAL,
        memory=board.settings.memory_mb << 20,
    )
    outcomes = (
        score_in_subprocess(task, seconds=CLOSING_TIMES * board.settings.seconds, stop=lambda: False)
        for _ in range(MAX_ATTEMPTS)
    )
    outcome = next((outcome for outcome in outcomes if outcome is not None), None)
    if outcome is None or outcome.problems:
        reason = outcome.problems[0] if outcome else f"Scoring broke off {MAX_ATTEMPTS} times."
        if leave_out:
            with board.writing() as connection:
                values = {"status": SubmissionStatus.FAILED.value, "problems": [reason]}
                submissions.change(connection, submission.id, **values)
                details = submission.log_details | {"reason": reason}
                record(connection, actor=maintainer(), what="left out", subject=submission.subject, facts=details)
            return
        raise LeaderboardError(
            f"The file {submission.id} of {submission.facts.model} cannot be scored, so nothing is shown: {reason} "
            "Close with --leave-out to go on without it."
        )
    with board.queueing() as connection:  # the log tells of it when everybody sees it
        results.add_run(connection, submission.id, test_set.name, outcome, split=FINAL)


def _disclose_scores(board: Board, set_name: str) -> int:
    """Disclose all scores in one transaction; returns how many models have one."""
    with board.writing() as connection:
        test_set = get_set(connection, set_name)
        files = submissions.selected_for_closing(connection, set_name, board.settings.closing_models)
        runs = [results.last_run(connection, file.id, split=FINAL) for file in files]
        if None in runs:  # a file was removed meanwhile, and another one counts
            raise LeaderboardError(f"Other files count on {set_name!r} than a moment ago; close it once more.")
        closed = replace(test_set, lifecycle=replace(test_set.lifecycle, closed=now()))
        change_set(connection, closed)
        entries = []
        for file, last in zip(files, runs, strict=True):
            results.update_shown_file(connection, file.facts.entry, closed)
            assert last is not None
            facts = file.log_details | {"split": FINAL, "signature": last.signature}
            entries.append(LogEntry(actor=maintainer(), what="scored", subject=file.subject, facts=facts))
        count = {"models": str(len(files))}
        entries.append(LogEntry(actor=maintainer(), what="closed", subject=set_name, facts=count))
        record_all(connection, entries)
    return len(files)
