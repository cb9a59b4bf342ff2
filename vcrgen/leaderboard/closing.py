"""The end of a set's phase: the final part is scored of the files that count, and all of it is shown at once."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from vcrgen.dataset.key import FINAL
from vcrgen.errors import LeaderboardError
from vcrgen.leaderboard.board import Board, maintainer
from vcrgen.leaderboard.commands import score_or_wait
from vcrgen.leaderboard.records import Feedback, State, Submission, TestSet
from vcrgen.leaderboard.store import results, submissions
from vcrgen.leaderboard.store.log import now, record
from vcrgen.leaderboard.store.sets import change_set, the_set
from vcrgen.leaderboard.worker import ATTEMPTS, ScoringTask, run_apart, session_of, show_counted
from vcrgen.work.lock import locked
from vcrgen.work.watcher import Watcher

LOCK = ".closing.lock"


def close(board: Board, set_name: str, watcher: Watcher, *, early: bool = False) -> int:
    """Close the phase of a set with a ladder: from now on it takes no files, and people see the scores that count.

    Nobody sees any of them before all are there. If it is stopped or killed, it goes on when it is called again.

    Args:
        board: The board.
        set_name: The set.
        watcher: Is told how many files are scored.
        early: Close it although its last day is not over.

    Returns:
        How many models have a score.

    Raises:
        LeaderboardError: There is no such set, it has no ladder, is closed or retired already, takes files until a
            later day, or has files that wait for approval; or a file could not be scored.
    """
    busy = LeaderboardError(f"Another process closes a set of {board.folder} already.")
    with locked(board.folder / LOCK, busy, wait=1):
        _stop_taking(board, set_name, early=early)
        while _waiting(board, set_name):
            if score_or_wait(board) and _waiting(board, set_name):
                raise LeaderboardError(
                    f"Files wait, as the set {set_name!r} cannot be read; see that its data is there."
                )
        with board.reading() as connection:
            known, files = the_set(connection, set_name), submissions.counted(connection, set_name)
        watcher.begin(len(files), 0)
        for one in files:
            _score_final(board, known, one)
            watcher.advance(1, 1, Counter())
        return _show_all(board, set_name)


def _stop_taking(board: Board, set_name: str, *, early: bool) -> None:
    with board.writing() as connection:
        known = the_set(connection, set_name)
        phase = known.phase
        if phase.feedback is not Feedback.LADDER:
            raise LeaderboardError(f"The set {set_name!r} has no ladder, so its scores are shown already.")
        if phase.closed or phase.retired:
            raise LeaderboardError(f"The set {set_name!r} is {'closed' if phase.closed else 'retired'} already.")
        if phase.closes is not None and now() < phase.closes and not early:
            raise LeaderboardError(
                f"The set {set_name!r} takes files until {phase.closes:%Y-%m-%d %H:%M}; see --early."
            )
        if phase.closing is None:
            if held := submissions.count(connection, states=[State.HELD], set_name=set_name):
                raise LeaderboardError(
                    f"Files of the set {set_name!r} that wait for approval: {held}; approve or decline them, "
                    "as a closed set takes none."
                )
            change_set(connection, replace(known, phase=replace(phase, closing=now())))
            record(connection, actor=maintainer(), what="closing", subject=set_name, facts={})


def _waiting(board: Board, set_name: str) -> int:
    with board.reading() as connection:
        return submissions.count(connection, states=[State.QUEUED, State.SCORING], set_name=set_name)


def _score_final(board: Board, known: TestSet, one: Submission) -> None:
    """Score one file on the final part, and keep that to ourselves; nothing is done if it was before."""
    session_of(known)
    signature = str(session_of(known, FINAL).signature)
    with board.reading() as connection:
        last = results.last_run(connection, one.id, part=FINAL)
    if last is not None and last.signature == signature:
        return
    task = ScoringTask(
        set=known, file=board.vault.path(one.file), shown_as=one.file_name, part=FINAL,
        memory=board.settings.memory_mb << 20,
    )  # fmt: skip
    outcomes = (run_apart(task, seconds=board.settings.seconds, stop=lambda: False) for _ in range(ATTEMPTS))
    outcome = next((each for each in outcomes if each is not None), None)
    if outcome is None or outcome.problems:
        reason = outcome.problems[0] if outcome else f"Scoring broke off {ATTEMPTS} times."
        raise LeaderboardError(
            f"The file {one.id} of {one.facts.model} cannot be scored, so nothing is shown: {reason}"
        )
    with board.writing() as connection:
        results.add_run(connection, one.id, known.name, outcome, part=FINAL)


def _show_all(board: Board, set_name: str) -> int:
    """Open all scores in one transaction; returns how many models have one."""
    with board.writing() as connection:
        known, files = the_set(connection, set_name), submissions.counted(connection, set_name)
        if any(results.last_run(connection, one.id, part=FINAL) is None for one in files):  # one was removed meanwhile
            raise LeaderboardError(f"Other files count on {set_name!r} than a moment ago; close it once more.")
        change_set(connection, replace(known, phase=replace(known.phase, closed=now())))
        for one in files:
            show_counted(connection, one.facts.entry, set_name)
            last = results.last_run(connection, one.id, part=FINAL)
            assert last is not None
            told = {"part": FINAL, "signature": last.signature, "scores": results.digest_of(connection, last.id)}
            record(connection, actor=maintainer(), what="scored", subject=one.subject, facts=one.told | told)
        record(connection, actor=maintainer(), what="closed", subject=set_name, facts={"models": str(len(files))})
    return len(files)
