"""Scoring what waits, one file after another, each in a process of its own with limits on time and memory.

There is one worker for a board at a time (a lock says so), and only the worker writes scores. So a submission is scored
once, whatever is killed: what was being scored waits again when the next worker begins.
"""

from __future__ import annotations

import errno
import multiprocessing as mp
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from multiprocessing.connection import Connection as Pipe
from pathlib import Path
from typing import Any, NamedTuple

from sqlalchemy import Connection

from vcrgen.core.errors import LeaderboardError, VcrgenError
from vcrgen.core.files import DISK_FULL
from vcrgen.core.lock import locked
from vcrgen.data.views import View
from vcrgen.leaderboard.board import Board, open_board, open_session, protocol_of, set_of
from vcrgen.leaderboard.disclosure import ladder_step, set_rounding_step
from vcrgen.leaderboard.intake import BY_MAINTAINERS, quota
from vcrgen.leaderboard.outcome import ScoringOutcome
from vcrgen.leaderboard.records import Submission, SubmissionStatus, TestSet
from vcrgen.leaderboard.scoring import score_file
from vcrgen.leaderboard.store import results, submissions
from vcrgen.leaderboard.store.log import now, record
from vcrgen.leaderboard.store.sets import change_set, get_set
from vcrgen.leaderboard.store.teams import key_of, sharing, turn_of
from vcrgen.scorer.session import BaseScoringSession
from vcrgen.web.log import log_line

LOCK = ".worker.lock"
MAX_ATTEMPTS = 3  # of a file whose scoring process ends badly each time
POLL_SECONDS = 0.2
LOGGED_ID_DIGITS = 8  # digits in the log: a whole id is the key to a submission's page
RETRY_SECONDS = 60.0  # until a set that could not be read is tried again
FULL_SECONDS = 5.0  # until a full disk is tried again
FULL_EXIT = 75  # exit code of a scoring process that has no room for a temporary file (EX_TEMPFAIL)
ACTOR = "worker"


class HeldOutcome(NamedTuple):
    """The outcome of a file on a ladder until its team is told, at a moment that does not depend on the file."""

    due: float  # by the monotonic clock
    submission: Submission
    outcome: ScoringOutcome
    seconds: float  # that scoring took


class WorkerStopped(Exception):
    """The worker was asked to stop while it was scoring."""


class Worker:
    """Scores what waits on a board; ``say`` is told what happens, as :func:`vcrgen.web.log.log_line` is.

    A worker that ``holds`` keeps what a ladder would answer until it is due: :meth:`finish_due` writes it down.
    """

    def __init__(self, board: Board, say: Callable[..., None] = log_line, *, holds: bool = False) -> None:
        self._board = board
        self._say = say
        self._broken: dict[str, float] = {}
        self._served: dict[str, int] = {}  # the last turn of each team or group
        self._turn = 0
        self._held: list[HeldOutcome] | None = [] if holds else None

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
        with self._board.writing() as connection:
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
            known = self._set(submission.set)
        except LeaderboardError as problem:
            self._say("set cannot be used", set=submission.set, reason=str(problem))
            self._broken[submission.set] = time.monotonic() + RETRY_SECONDS
            self._requeue(submission)
            return
        began = time.monotonic()
        outcome = score_in_subprocess(self._task(submission, known), seconds=self._board.settings.seconds, stop=stop)
        if outcome is None:
            attempts = self._count_attempt(submission)
            if attempts < MAX_ATTEMPTS:
                self._say("scoring broke off", submission=submission.id[:LOGGED_ID_DIGITS], attempt=attempts)
                self._requeue(submission)
                return
            outcome = ScoringOutcome(
                problems=(f"Scoring broke off {MAX_ATTEMPTS} times; please tell the maintainers.",)
            )
        seconds = round(time.monotonic() - began, 3)
        delay = timedelta(minutes=self._board.settings.ladder_minutes)
        if self._held is not None and known.lifecycle.ladder_open and delay and submission.channel != BY_MAINTAINERS:
            left = delay - (now() - submission.received) % delay
            self._held.append(HeldOutcome(time.monotonic() + left.total_seconds(), submission, outcome, seconds))
        else:
            self._finish(submission, outcome, seconds)

    def finish_due(self) -> None:
        """Write down the held outcomes that are due."""
        moment = time.monotonic()
        for one in [one for one in self._held or () if one.due <= moment]:
            self._finish(one.submission, one.outcome, one.seconds)
            assert self._held is not None
            self._held.remove(one)

    def put_back(self) -> None:
        """Let the submissions with held outcomes wait again, for the next worker."""
        held, self._held = self._held, []  # none of them is finished later, even if the disk is full now
        for one in held or ():
            self._requeue(one.submission)

    def _finish(self, submission: Submission, outcome: ScoringOutcome, seconds: float) -> None:
        finish(self._board, submission, outcome)
        status = SubmissionStatus.FAILED if outcome.problems else SubmissionStatus.SCORED
        shown = {"submission": submission.id[:LOGGED_ID_DIGITS], "set": submission.set}
        self._say(status.value, **shown, seconds=seconds)

    def _task(self, submission: Submission, known: TestSet) -> ScoringTask:
        earlier: Sequence[bytes] = ()
        left = None
        if known.hidden:
            team = submission.facts.team
            with self._board.reading() as connection:
                earlier = submissions.earlier_outputs(connection, submission, sharing(connection, team))
                if submission.channel != BY_MAINTAINERS:
                    left = quota(connection, self._board.settings, team, known, at=submission.received).left
        return ScoringTask(
            set=known,
            file=self._board.vault.path(submission.file),
            shown_as=submission.file_name,
            split=known.lifecycle.split,
            view=known.lifecycle.view if known.lifecycle.split else None,
            earlier=tuple(earlier),
            left=left,
            memory=self._board.settings.memory_mb << 20,
        )

    def _requeue(self, submission: Submission) -> None:
        with self._board.writing() as connection:
            submissions.requeue(connection, submission.id)

    def _count_attempt(self, submission: Submission) -> int:
        """Count that the process which scored a submission ended badly; a stop of the worker or a full disk is none."""
        attempts = submission.attempts + 1
        with self._board.writing() as connection:
            submissions.change(connection, submission.id, attempts=attempts)
        return attempts

    def _set(self, name: str) -> TestSet:
        """A set, with its answers in memory; that it has changed since it was read last is written down."""
        with self._board.reading() as connection:
            known = get_set(connection, name)
        found = set_of(name, Path(known.path), session_of(known), known.lifecycle)
        if known.lifecycle.ladder_open:
            for split in known.lifecycle.splits:
                session_of(known, split, known.lifecycle.view)
        if found != known:
            with self._board.writing() as connection:
                change_set(connection, found)
                record(connection, actor=ACTOR, what="set changed", subject=name, facts={"signature": found.signature})
        return found


def session_of(one: TestSet, split: str = "", view: View | None = None) -> BaseScoringSession:
    """The session of a set or of a part of it: read once, and found again by processes that are forked."""
    return _session(one.name, one.path, split, view, protocol_of(one))


@cache
def _session(name: str, path: str, split: str, view: View | None, protocol: str | None) -> BaseScoringSession:
    return open_session(name, Path(path), split=split, view=view, protocol=protocol)


def finish(board: Board, submission: Submission, outcome: ScoringOutcome) -> None:
    """Write down what became of a submission, ranks and log included, in one transaction."""
    details = submission.log_details
    problems = list(outcome.problems)
    status = SubmissionStatus.FAILED if problems else SubmissionStatus.SCORED
    values: dict[str, Any] = {"status": status.value, "finished": now(), "problems": problems}
    with board.writing() as connection:
        if problems:
            submissions.change(connection, submission.id, **values)
        else:
            known = get_set(connection, submission.set)
            best = None
            if known.lifecycle.ladder_open:  # what the team is told: decided here, once and for all
                # A ladder scores one view: of an MCQ benchmark in every language, whose mean it discloses.
                estimates = [cell.estimates[known.task.main_metrics[0]][0] for cell in outcome.cells]
                best = ladder_step(
                    sum(estimates) / len(estimates),
                    submissions.best_step(connection, submission),
                    set_rounding_step(known),
                )
            values |= {"outputs": outcome.outputs, "scores_disclosed": outcome.scores_disclosed, "best": best}
            submissions.change(connection, submission.id, **values)
            digest = results.add_run(connection, submission.id, submission.set, outcome, split=known.lifecycle.split)
            details |= {"signature": outcome.signature, "scores": digest}
        record(connection, actor=ACTOR, what=status.value, subject=submission.subject, facts=details)
        update_shown_file(connection, submission.facts.entry, submission.set)


def update_shown_file(connection: Connection, entry: str, set_name: str) -> None:
    """Make the file of a model that counts the one that is shown and ranked; none is while a ladder is climbed."""
    for shown in submissions.shown_files(connection, entry, set_name):
        submissions.change(connection, shown.id, current=False)
        if (run := results.ranked_run(connection, shown.id)) is not None:
            results.remove_from_ranking(connection, run)
    lifecycle = get_set(connection, set_name).lifecycle
    for one in () if lifecycle.ladder_open else submissions.counted(connection, set_name, entry):
        if (last := results.last_run(connection, one.id, split=lifecycle.split)) is not None:
            submissions.change(connection, one.id, current=True)
            results.add_to_ranking(connection, last.id)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoringTask:
    """Input of a process that scores one file."""

    set: TestSet
    file: Path
    shown_as: str  # what messages call the file
    split: str = ""  # the split of the key that is scored; empty for the whole
    view: View | None = None  # the only view that is scored; None for all
    earlier: tuple[bytes, ...] = ()  # fingerprints of what the team submitted before
    left: int | None = None  # figures that the team may ask of the key; None for any number
    memory: int  # bytes that scoring may take


def score_in_subprocess(task: ScoringTask, *, seconds: float, stop: Callable[[], bool]) -> ScoringOutcome | None:
    """Score a file in another process, within a time in seconds.

    Returns:
        The outcome; None if the process broke off.

    Raises:
        WorkerStopped: ``stop``, which is asked several times a second, said so.
        OSError: The process found no room for a temporary file.
    """
    # Windows has no fork: there each process reads the answers for itself.
    context: Any = mp.get_context("fork" if "fork" in mp.get_all_start_methods() else "spawn")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_subprocess_main, args=(task, theirs, os.getpid()), daemon=True)
    process.start()
    theirs.close()
    try:
        # What counts is the time that was waited, not that of a clock: while this machine or this process stands still,
        # the clock goes on and nobody reads the answer.
        left = seconds
        while not ours.poll(step := min(POLL_SECONDS, left)):
            left -= step
            if left <= 0:
                return ScoringOutcome(
                    problems=(f"Scoring took longer than {seconds:g} seconds, the most this board gives.",)
                )
            if stop():
                raise WorkerStopped
        return ScoringOutcome.from_bytes(ours.recv_bytes())
    except (EOFError, OSError):  # it died before it had answered, or while it did
        process.join(POLL_SECONDS)
        if process.exitcode == FULL_EXIT:
            raise OSError(errno.ENOSPC, "the disk of temporary files is full") from None
        return None
    finally:
        process.kill()
        process.join()
        ours.close()


def _subprocess_main(task: ScoringTask, pipe: Pipe, parent: int) -> None:
    """In the process of its own."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    threading.Thread(target=_die_with, args=(parent,), daemon=True).start()
    session = session_of(task.set)
    split_session = session_of(task.set, task.split, task.view) if task.split else None
    other_splits = [split for split in task.set.lifecycle.splits if task.split and split != task.split]
    others = [session_of(task.set, split, task.view) for split in other_splits]
    limit_memory(task.memory)
    try:
        outcome = score_file(
            session,
            task.file,
            shown_as=task.shown_as,
            split_session=split_session,
            other_splits=others,
            earlier=task.earlier,
            left=task.left,
        )
    except MemoryError:
        outcome = ScoringOutcome(problems=("Scoring this file takes more memory than this board gives.",))
    except Exception as fault:  # its text could quote an answer: say what and where, and break off
        places = [f"{frame.filename}:{frame.lineno}" for frame in traceback.extract_tb(fault.__traceback__)]
        log_line("fault in scoring", kind=type(fault).__name__, places=places)
        os._exit(FULL_EXIT if isinstance(fault, OSError) and fault.errno in DISK_FULL else 1)
    pipe.send_bytes(outcome.to_bytes())


def _die_with(parent: int) -> None:
    """Do not outlive the worker: nobody would read the outcome, and the lock would stay."""
    while os.getppid() == parent:
        time.sleep(POLL_SECONDS)
    os._exit(1)


def limit_memory(more: int) -> None:
    """Let this process take ``more`` bytes beyond what it has, where the system can hold it to that."""
    try:
        import resource

        pages = int(Path("/proc/self/statm").read_text().split()[0])
    except (ImportError, OSError):
        return
    limit = pages * os.sysconf("SC_PAGE_SIZE") + more
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


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
                        if not worker.score_next(stop=stop):
                            time.sleep(POLL_SECONDS)
                finally:
                    worker.put_back()
        except OSError as problem:
            if problem.errno not in DISK_FULL:
                raise
            log_line("disk full", reason=problem.strerror, again_in=FULL_SECONDS)
            time.sleep(FULL_SECONDS)
        if is_asked_to_stop():
            return


if __name__ == "__main__":
    try:
        serve(open_board(Path(sys.argv[1])), parent=int(sys.argv[2]))
    except VcrgenError as problem:
        log_line("worker stops", reason=str(problem))
        sys.exit(1)
