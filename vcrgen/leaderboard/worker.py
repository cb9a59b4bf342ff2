"""Scoring what waits, one file after another, each in a process of its own with limits on time and memory.

There is one worker for a board at a time (a lock says so), and only the worker writes scores. So a submission is scored
once, whatever is killed: what was being scored waits again when the next worker begins.
"""

from __future__ import annotations

import multiprocessing as mp
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection as Pipe
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout
from sqlalchemy import Connection

from vcrgen.errors import LeaderboardError, VcrgenError
from vcrgen.leaderboard.board import Board, open_board, open_session, set_of
from vcrgen.leaderboard.outcome import Outcome
from vcrgen.leaderboard.records import State, Submission, TestSet
from vcrgen.leaderboard.scoring import score_file
from vcrgen.leaderboard.store import results, submissions
from vcrgen.leaderboard.store.log import record
from vcrgen.leaderboard.store.sets import all_sets, change_set
from vcrgen.scorer.run import Session
from vcrgen.web.log import log_line

LOCK = ".worker.lock"
ATTEMPTS = 3
INTERRUPTED = 20  # attempts, when the worker itself was killed each time: few enough for one file not to stop the board
POLL_SECONDS = 0.2
ID_SHOWN = 8  # digits in the log: a whole id is the key to a submission's page
BROKEN_SECONDS = 60.0  # until a set that could not be read is tried again
ACTOR = "worker"

Say = Callable[..., None]

# Read once by the worker; processes that are forked from it find them here.
_sessions: dict[str, Session] = {}


class Stopped(Exception):
    """The worker was asked to stop while it was scoring."""


class Worker:
    """Scores what waits on a board.

    Args:
        board: The board.
        say: Told what happens.
    """

    def __init__(self, board: Board, say: Say = log_line) -> None:
        self._board = board
        self._say = say
        self._broken: dict[str, float] = {}

    @contextmanager
    def alone(self, *, wait: float) -> Iterator[None]:
        """Hold the board's lock; what a worker before this one left half done waits again.

        Raises:
            LeaderboardError: Another worker holds it for longer than ``wait`` seconds.
        """
        lock = FileLock(self._board.folder / LOCK)
        try:
            lock.acquire(timeout=wait)
        except Timeout:
            raise LeaderboardError(f"Another process scores for {self._board.folder} already; stop it first.") from None
        try:
            with self._board.writing() as connection:
                interrupted = submissions.put_back(connection, tried=True)
            if interrupted:
                self._say("interrupted before", submissions=interrupted)
            yield
        finally:
            lock.release()

    def work(self, *, stop: Callable[[], bool] = lambda: False) -> bool:
        """Score one submission; False if none waits.

        Args:
            stop: Asked now and then; when it says so, the submission that is being scored waits again.

        Raises:
            Stopped: It said so.
        """
        self._broken = {name: until for name, until in self._broken.items() if until > time.monotonic()}
        with self._board.reading() as connection:  # an idle worker keeps no writer waiting
            if not submissions.count(connection, states=[State.QUEUED]):
                return False
        with self._board.writing() as connection:
            submission = submissions.claim(connection, skip=self._broken)
        if submission is None:
            return False
        try:
            self._score(submission, stop)
        except BaseException:  # a stop or a fault of ours: not the submission's
            with self._board.writing() as connection:
                submissions.put_back(connection, submission.id, tried=False)
            raise
        return True

    def _score(self, submission: Submission, stop: Callable[[], bool]) -> None:
        if submission.attempts >= INTERRUPTED:
            problem = f"Scoring was interrupted {INTERRUPTED} times; please tell the maintainers."
            finish(self._board, submission, Outcome(problems=(problem,)))
            self._say("given up", submission=submission.id[:ID_SHOWN], set=submission.set)
            return
        try:
            known, session = self._set(submission.set)
        except LeaderboardError as problem:
            self._say("set cannot be used", set=submission.set, reason=str(problem))
            self._broken[submission.set] = time.monotonic() + BROKEN_SECONDS
            with self._board.writing() as connection:
                submissions.put_back(connection, submission.id, tried=False)
            return
        began = time.monotonic()
        with self._board.reading() as connection:
            earlier = submissions.earlier_outputs(connection, submission) if session.key.hidden else []
        job = _Job(
            set=known, file=self._board.vault.path(submission.file), shown_as=submission.file_name,
            earlier=tuple(earlier), memory=self._board.settings.memory_mb << 20,
        )  # fmt: skip
        outcome = run_apart(job, seconds=self._board.settings.seconds, stop=stop)
        if outcome is None and submission.attempts + 1 < ATTEMPTS:
            self._say("scoring broke off", submission=submission.id[:ID_SHOWN], attempt=submission.attempts + 1)
            with self._board.writing() as connection:
                submissions.put_back(connection, submission.id, tried=True)
            return
        if outcome is None:
            outcome = Outcome(problems=(f"Scoring broke off {ATTEMPTS} times; please tell the maintainers.",))
        finish(self._board, submission, outcome)
        state = State.FAILED if outcome.problems else State.SCORED
        self._say(
            state.value,
            submission=submission.id[:ID_SHOWN],
            set=submission.set,
            seconds=round(time.monotonic() - began, 3),
        )

    def _set(self, name: str) -> tuple[TestSet, Session]:
        """A set and its session; that the set has changed since it was read last is written down."""
        with self._board.reading() as connection:
            known = next(one for one in all_sets(connection) if one.name == name)
        session = _session(known)
        found = set_of(name, Path(known.path), session)
        if found != known:
            with self._board.writing() as connection:
                change_set(connection, found)
                record(connection, actor=ACTOR, what="set changed", subject=name, facts={"signature": found.signature})
        return found, session


def _session(known: TestSet) -> Session:
    if known.path not in _sessions:
        _sessions[known.path] = open_session(known.name, Path(known.path))
    return _sessions[known.path]


def finish(board: Board, submission: Submission, outcome: Outcome) -> None:
    """Write down what became of a submission, ranks and log included, in one transaction."""
    told = {
        "team": submission.facts.team, "model": submission.facts.model, "set": submission.set, "file": submission.file,
    }  # fmt: skip
    entry = submission.facts.entry
    with board.writing() as connection:
        if outcome.problems:
            submissions.set_failed(connection, submission.id, outcome.problems)
            record(connection, actor=ACTOR, what="failed", subject=entry, facts=told)
        else:
            submissions.set_scored(connection, submission.id, outcome.outputs)
            results.add_run(connection, submission.id, submission.set, outcome)
            record(
                connection, actor=ACTOR, what="scored", subject=entry, facts={**told, "signature": outcome.signature}
            )
        show_latest(connection, entry, submission.set)


def show_latest(connection: Connection, entry: str, set_name: str) -> None:
    """Make the last scored file of a model the one that is shown and ranked."""
    for shown in submissions.current_of(connection, entry, set_name):
        submissions.set_current(connection, shown.id, False)
        if (run := results.ranked_run(connection, shown.id)) is not None:
            results.leave(connection, run)
    latest = submissions.latest_scored(connection, entry, set_name)
    if latest is not None:
        submissions.set_current(connection, latest.id, True)
        results.enter(connection, results.last_run(connection, latest.id))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Job:
    """What a process that scores one file is told."""

    set: TestSet
    file: Path
    shown_as: str
    earlier: tuple[bytes, ...]
    memory: int


def run_apart(job: _Job, *, seconds: float, stop: Callable[[], bool] = lambda: False) -> Outcome | None:
    """Score a file in another process.

    Args:
        job: What to score.
        seconds: Time it may take.
        stop: Asked now and then whether to give it up.

    Returns:
        The outcome; None if the process broke off.

    Raises:
        Stopped: It was given up.
    """
    # Windows has no fork: there each process reads the answers for itself.
    context: Any = mp.get_context("fork" if "fork" in mp.get_all_start_methods() else "spawn")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_score_apart, args=(job, theirs, os.getpid()), daemon=True)
    process.start()
    theirs.close()
    try:
        until = time.monotonic() + seconds
        while not ours.poll(min(POLL_SECONDS, max(until - time.monotonic(), 0))):
            if time.monotonic() >= until:
                return Outcome(problems=(f"Scoring took longer than {seconds:g} seconds, the most this board gives.",))
            if stop():
                raise Stopped
        return Outcome.from_bytes(ours.recv_bytes())
    except (EOFError, OSError):  # it died before it had answered, or while it did
        return None
    finally:
        process.kill()
        process.join()
        ours.close()


def _score_apart(job: _Job, pipe: Pipe, parent: int) -> None:
    """In the process of its own."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    threading.Thread(target=_die_with, args=(parent,), daemon=True).start()
    session = _session(job.set)
    _limit_memory(job.memory)
    try:
        outcome = score_file(session, job.file, shown_as=job.shown_as, earlier=job.earlier)
    except MemoryError:
        outcome = Outcome(problems=("Scoring this file takes more memory than this board gives.",))
    except Exception as fault:  # its text could quote an answer: say what and where, and break off
        places = [f"{frame.filename}:{frame.lineno}" for frame in traceback.extract_tb(fault.__traceback__)]
        log_line("fault in scoring", kind=type(fault).__name__, places=places)
        os._exit(1)
    pipe.send_bytes(outcome.to_bytes())


def _die_with(parent: int) -> None:
    """Do not outlive the worker: nobody would read the outcome, and the lock would stay."""
    while os.getppid() == parent:
        time.sleep(POLL_SECONDS)
    os._exit(1)


def _limit_memory(more: int) -> None:
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
    asked: list[int] = []
    # Only noted: an exception from here could come between a claim and what puts it back.
    signal.signal(signal.SIGTERM, lambda number, _: asked.append(number))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the service tells us when to stop

    def stop() -> bool:
        return bool(asked) or os.getppid() != parent

    worker = Worker(board)
    with suppress(Stopped), worker.alone(wait=30):
        log_line("worker ready")
        while not stop():
            if not worker.work(stop=stop):
                time.sleep(POLL_SECONDS)


if __name__ == "__main__":
    try:
        serve(open_board(Path(sys.argv[1])), parent=int(sys.argv[2]))
    except VcrgenError as problem:
        log_line("worker stops", reason=str(problem))
        sys.exit(1)
