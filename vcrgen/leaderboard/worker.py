"""Scoring what waits, one file after another, each in a process of its own with limits on time and memory.

There is one worker for a board at a time (a lock says so), and only the worker writes scores. So a submission is scored
once, whatever is killed: what was being scored waits again when the next worker begins.
"""

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from pathlib import Path
from typing import Any, NamedTuple

from sqlalchemy import Connection

from vcrgen.core.errors import LeaderboardError, VcrgenError
from vcrgen.core.files import is_disk_full
from vcrgen.core.lock import locked
from vcrgen.leaderboard.board import Board, open_board
from vcrgen.leaderboard.disclosure import ladder_step, set_rounding_step
from vcrgen.leaderboard.records import BY_MAINTAINERS, Submission, SubmissionStatus, TestSet
from vcrgen.leaderboard.scoring import (
    MAX_ATTEMPTS,
    POLL_SECONDS,
    ScoringOutcome,
    ScoringTask,
    WorkerStopped,
    score_in_subprocess,
    session_of,
)
from vcrgen.leaderboard.store import ranks, results, submissions
from vcrgen.leaderboard.store.log import note_foreign_change, now, record
from vcrgen.leaderboard.store.sets import change_set, get_set, set_of
from vcrgen.leaderboard.store.teams import key_of, sharing, turn_of
from vcrgen.stats.sign_flips import maxima_of_all
from vcrgen.web.log import log_line

LOCK = ".worker.lock"
ACTOR = "worker"  # in the board's log
SET_RETRY_SECONDS = 60.0  # until a set that could not be read is tried again
FULL_DISK_SECONDS = 5.0


class HeldOutcome(NamedTuple):
    """The outcome of a file on a ladder until its team is told, at a moment that does not depend on the file."""

    due: float  # by the monotonic clock
    submission: Submission
    outcome: ScoringOutcome
    seconds: float  # that scoring took


class Worker:
    """Scores what waits on a board; ``say`` is told what happens, as `vcrgen.web.log.log_line` is.

    A worker that ``holds`` keeps what a ladder would answer until it is due: `finish_due` writes it down.
    """

    def __init__(self, board: Board, say: Callable[..., None] = log_line, *, holds: bool = False) -> None:
        self._board = board
        self._say = say
        self._broken: dict[str, float] = {}
        self._served: dict[str, int] = {}  # the last turn of each team or group
        self._turn = 0
        self._holds = holds
        self._held: list[HeldOutcome] = []
        self._read_sets: dict[str, TestSet] = {}  # the records of sets that were read, by name

    @contextmanager
    def exclusive(self, *, wait: float) -> Iterator[None]:
        """Hold the board's lock; what a killed worker left half done waits again.

        Args:
            wait: Seconds to wait for the lock.

        Raises:
            LeaderboardError: Another worker holds it for longer than ``wait`` seconds.
        """
        busy = LeaderboardError(f"Another process scores for {self._board.folder} already; stop it first.")
        with locked(self._board.folder / LOCK, busy, wait=wait):
            with self._board.writing() as connection:
                note_foreign_change(connection, in_rows=True)
                interrupted = submissions.requeue(connection)
            if interrupted:
                self._say("interrupted before", submissions=interrupted)
            yield

    def score_next(self, *, stop: Callable[[], bool] = lambda: False) -> bool:
        """Score one submission; False if none waits.

        Raises:
            WorkerStopped: ``stop`` said so; the submission that was being scored waits again.
        """
        self._broken = {name: until for name, until in self._broken.items() if until > time.monotonic()}
        with self._board.reading() as connection:  # an idle worker keeps no writer waiting
            if not submissions.count(connection, statuses=[SubmissionStatus.QUEUED]):
                return False
        with self._board.queueing() as connection:
            submission = submissions.claim(connection, skip=self._broken, served=self._served)
            if submission is None:
                return False
            self._turn += 1
            self._served[turn_of(connection, key_of(submission.facts.team))] = self._turn
        try:
            self._score(submission, stop)
        except BaseException:  # a stop or a fault of ours: not the submission's
            self._requeue(submission)
            raise
        return True

    def _score(self, submission: Submission, stop: Callable[[], bool]) -> None:
        try:
            test_set = self._read_set(submission.set)
        except LeaderboardError as problem:
            self._say("set cannot be used", set=submission.set, reason=str(problem))
            self._broken[submission.set] = time.monotonic() + SET_RETRY_SECONDS
            self._requeue(submission)
            return
        began = time.monotonic()
        outcome = score_in_subprocess(self._task(submission, test_set), seconds=self._board.settings.seconds, stop=stop)
        if outcome is None:
            attempts = self._count_attempt(submission)
            if attempts < MAX_ATTEMPTS:
                self._say("scoring broke off", submission=_log_id(submission), attempt=attempts)
                self._requeue(submission)
                return
            outcome = ScoringOutcome(
                problems=(f"Scoring broke off {MAX_ATTEMPTS} times; please tell the maintainers.",)
            )
        seconds = round(time.monotonic() - began, 3)
        delay = timedelta(minutes=self._board.settings.ladder_minutes)
        if self._holds and test_set.lifecycle.ladder_open and delay and submission.channel != BY_MAINTAINERS:
            # Due at a whole number of delays after the file came: how long scoring took would tell of the key.
            left = delay - (now() - submission.received) % delay
            self._held.append(HeldOutcome(time.monotonic() + left.total_seconds(), submission, outcome, seconds))
        else:
            self._finish(submission, outcome, seconds)

    def finish_due(self) -> None:
        """Write down the held outcomes that are due."""
        moment = time.monotonic()
        for held in [held for held in self._held if held.due <= moment]:
            self._finish(held.submission, held.outcome, held.seconds)
            self._held.remove(held)

    def put_back(self) -> None:
        """Let the submissions with held outcomes wait again, for the next worker."""
        held_outcomes, self._held = self._held, []  # none of them is finished later, even if the disk is full now
        for held in held_outcomes:
            self._requeue(held.submission)

    def _finish(self, submission: Submission, outcome: ScoringOutcome, seconds: float) -> None:
        status = finish(self._board, submission, outcome)
        self._say(status.value, submission=_log_id(submission), set=submission.set, seconds=seconds)

    def _task(self, submission: Submission, test_set: TestSet) -> ScoringTask:
        """What the scoring process gets; of a hidden set also what limits the team's use of its key."""
        limits: dict[str, Any] = {}
        if test_set.hidden:
            with self._board.reading() as connection:
                teams = sharing(connection, submission.facts.team)
                limits["earlier"] = tuple(submissions.earlier_outputs(connection, submission, teams))
                if submission.channel != BY_MAINTAINERS:
                    remaining = submissions.quota(
                        connection, self._board.settings, teams, test_set, at=submission.received
                    )
                    limits["left"] = remaining.left
        lifecycle = test_set.lifecycle
        return ScoringTask(
            set=test_set,
            file=self._board.vault.path(submission.file),
            shown_as=submission.file_name,
            split=lifecycle.split,
            view=lifecycle.view if lifecycle.split else None,
            memory=self._board.settings.memory_mb << 20,
            **limits,
        )

    def _requeue(self, submission: Submission) -> None:
        with self._board.queueing() as connection:
            submissions.requeue(connection, submission.id)

    def _count_attempt(self, submission: Submission) -> int:
        """Count that the process which scored a submission ended badly; a stop of the worker or a full disk is none."""
        attempts = submission.attempts + 1
        with self._board.queueing() as connection:
            submissions.change(connection, submission.id, attempts=attempts)
        return attempts

    def _read_set(self, name: str) -> TestSet:
        """A set whose answers are in memory; if it has changed since its record was made, the record changes."""
        with self._board.reading() as connection:
            stored = get_set(connection, name)
        if self._read_sets.get(name) == stored:
            return stored
        lifecycle = stored.lifecycle
        current = set_of(name, Path(stored.path), session_of(stored), lifecycle)
        if lifecycle.ladder_open:
            for split in lifecycle.splits:
                session_of(stored, split, lifecycle.view)
        if current != stored:
            with self._board.writing() as connection:
                change_set(connection, current)
                facts = {"signature": current.signature}
                record(connection, actor=ACTOR, what="set changed", subject=name, facts=facts)
        self._read_sets[name] = current
        return current


def _log_id(submission: Submission) -> str:
    """The beginning of an id: the whole id is the key to a submission's page."""
    return submission.id[:8]


def finish(board: Board, submission: Submission, outcome: ScoringOutcome) -> SubmissionStatus:
    """Write down what became of a submission, ranks and log included, in one transaction."""
    details = submission.log_details
    status = SubmissionStatus.FAILED if outcome.problems else SubmissionStatus.SCORED
    values: dict[str, Any] = {"status": status.value, "finished": now(), "problems": list(outcome.problems)}
    with board.writing() as connection:
        # As it is now: a maintainer may have closed the set while the file was scored.
        test_set = get_set(connection, submission.set)
        if not outcome.problems:
            best = _ladder_feedback(connection, submission, test_set, outcome)
            values |= {"outputs": outcome.outputs, "scores_disclosed": outcome.scores_disclosed, "best": best}
            results.add_run(connection, submission.id, test_set.name, outcome, split=test_set.lifecycle.split)
            details |= {"signature": outcome.signature}
        submissions.change(connection, submission.id, **values)
        results.update_shown_file(connection, submission.facts.entry, test_set)
        record(connection, actor=ACTOR, what=status.value, subject=submission.subject, facts=details)
    return status


def _ladder_feedback(
    connection: Connection, submission: Submission, test_set: TestSet, outcome: ScoringOutcome
) -> float | None:
    """What a team is told of a file on a ladder, decided once and for all: a rounded share, or None."""
    if not test_set.lifecycle.ladder_open:
        return None
    # A ladder scores one view: of an MCQ benchmark in every language, whose mean it discloses.
    estimates = [cell.estimates[test_set.task.main_metrics[0]][0] for cell in outcome.cells]
    best = submissions.best_step(connection, submission)
    return ladder_step(sum(estimates) / len(estimates), best, set_rounding_step(test_set))


def refresh_ranking(board: Board) -> bool:
    """Compute the correction of one stale ranking anew, without keeping a writer waiting; False if none is stale."""
    with board.reading() as connection:
        ranking = ranks.stale_ranking(connection)
    if ranking is None:
        return False
    maxima = maxima_of_all(ranking.sums)
    with board.queueing() as connection:
        ranks.refresh(connection, ranking, maxima)
    return True


def serve(board: Board, *, parent: int) -> None:
    """Score what comes until the parent is gone or asks to stop."""
    signals: list[int] = []
    # Only noted: an exception from here could come between a claim and what puts it back.
    signal.signal(signal.SIGTERM, lambda number, _: signals.append(number))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the service tells us when to stop

    worker = Worker(board, holds=True)

    def is_asked_to_stop() -> bool:
        return bool(signals) or os.getppid() != parent

    def stop() -> bool:
        worker.finish_due()
        return is_asked_to_stop()

    while True:
        try:
            with suppress(WorkerStopped), worker.exclusive(wait=30):
                log_line("worker ready")
                try:
                    while not stop():
                        if not worker.score_next(stop=stop) and not refresh_ranking(board):
                            time.sleep(POLL_SECONDS)
                finally:
                    worker.put_back()
        except OSError as problem:
            if not is_disk_full(problem):
                raise
            log_line("disk full", reason=problem.strerror, again_in=FULL_DISK_SECONDS)
            time.sleep(FULL_DISK_SECONDS)
        if is_asked_to_stop():
            return


if __name__ == "__main__":
    try:
        serve(open_board(Path(sys.argv[1])), parent=int(sys.argv[2]))
    except VcrgenError as problem:
        log_line("worker stops", reason=str(problem))
        sys.exit(1)
