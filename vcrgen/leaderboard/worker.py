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
from functools import cache
from multiprocessing.connection import Connection as Pipe
from pathlib import Path
from typing import Any

from sqlalchemy import Connection

from vcrgen.errors import LeaderboardError, VcrgenError
from vcrgen.leaderboard.board import Board, open_board, open_session, set_of
from vcrgen.leaderboard.outcome import ScoringOutcome
from vcrgen.leaderboard.records import State, Submission, TestSet
from vcrgen.leaderboard.scoring import score_file
from vcrgen.leaderboard.store import results, submissions
from vcrgen.leaderboard.store.log import now, record
from vcrgen.leaderboard.store.sets import all_sets, change_set
from vcrgen.scorer.run import Session
from vcrgen.web.log import log_line
from vcrgen.work.lock import locked

LOCK = ".worker.lock"
ATTEMPTS = 3
INTERRUPTED = 20  # attempts, when the worker itself was killed each time: few enough for one file not to stop the board
POLL_SECONDS = 0.2
ID_SHOWN = 8  # digits in the log: a whole id is the key to a submission's page
BROKEN_SECONDS = 60.0  # until a set that could not be read is tried again
ACTOR = "worker"


class Stopped(Exception):
    """The worker was asked to stop while it was scoring."""


class Worker:
    """Scores what waits on a board; ``say`` is told what happens, as :func:`vcrgen.web.log.log_line` is."""

    def __init__(self, board: Board, say: Callable[..., None] = log_line) -> None:
        self._board = board
        self._say = say
        self._broken: dict[str, float] = {}

    @contextmanager
    def alone(self, *, wait: float) -> Iterator[None]:
        """Hold the board's lock; what a worker before this one left half done waits again.

        Raises:
            LeaderboardError: Another worker holds it for longer than ``wait`` seconds.
        """
        busy = LeaderboardError(f"Another process scores for {self._board.folder} already; stop it first.")
        with locked(self._board.folder / LOCK, busy, wait=wait):
            with self._board.writing() as connection:
                interrupted = submissions.put_back(connection, tried=True)
            if interrupted:
                self._say("interrupted before", submissions=interrupted)
            yield

    def work(self, *, stop: Callable[[], bool] = lambda: False) -> bool:
        """Score one submission; False if none waits.

        Raises:
            Stopped: ``stop`` said so; the submission that was being scored waits again.
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
            self._put_back(submission, tried=False)
            raise
        return True

    def _score(self, submission: Submission, stop: Callable[[], bool]) -> None:
        shown = {"submission": submission.id[:ID_SHOWN], "set": submission.set}
        if submission.attempts >= INTERRUPTED:
            problem = f"Scoring was interrupted {INTERRUPTED} times; please tell the maintainers."
            finish(self._board, submission, ScoringOutcome(problems=(problem,)))
            self._say("given up", **shown)
            return
        try:
            known, session = self._set(submission.set)
        except LeaderboardError as problem:
            self._say("set cannot be used", set=submission.set, reason=str(problem))
            self._broken[submission.set] = time.monotonic() + BROKEN_SECONDS
            self._put_back(submission, tried=False)
            return
        began = time.monotonic()
        with self._board.reading() as connection:
            earlier = submissions.earlier_outputs(connection, submission) if session.key.hidden else []
        task = _ScoringTask(
            set=known, file=self._board.vault.path(submission.file), shown_as=submission.file_name,
            earlier=tuple(earlier), memory=self._board.settings.memory_mb << 20,
        )  # fmt: skip
        outcome = run_apart(task, seconds=self._board.settings.seconds, stop=stop)
        if outcome is None and submission.attempts + 1 < ATTEMPTS:
            self._say("scoring broke off", submission=submission.id[:ID_SHOWN], attempt=submission.attempts + 1)
            self._put_back(submission, tried=True)
            return
        if outcome is None:
            outcome = ScoringOutcome(problems=(f"Scoring broke off {ATTEMPTS} times; please tell the maintainers.",))
        finish(self._board, submission, outcome)
        state = State.FAILED if outcome.problems else State.SCORED
        self._say(state.value, **shown, seconds=round(time.monotonic() - began, 3))

    def _put_back(self, submission: Submission, *, tried: bool) -> None:
        with self._board.writing() as connection:
            submissions.put_back(connection, submission.id, tried=tried)

    def _set(self, name: str) -> tuple[TestSet, Session]:
        """A set and its session; that the set has changed since it was read last is written down."""
        with self._board.reading() as connection:
            known = next(one for one in all_sets(connection) if one.name == name)
        session = _session(known.name, known.path)
        found = set_of(name, Path(known.path), session)
        if found != known:
            with self._board.writing() as connection:
                change_set(connection, found)
                record(connection, actor=ACTOR, what="set changed", subject=name, facts={"signature": found.signature})
        return found, session


@cache  # read once by the worker; processes that are forked from it find their session here
def _session(name: str, path: str) -> Session:
    return open_session(name, Path(path))


def finish(board: Board, submission: Submission, outcome: ScoringOutcome) -> None:
    """Write down what became of a submission, ranks and log included, in one transaction."""
    entry = submission.facts.entry
    told = submission.told
    problems = list(outcome.problems)
    state = State.FAILED if problems else State.SCORED
    values = {"state": state.value, "finished": now(), "problems": problems}
    with board.writing() as connection:
        if problems:
            submissions.change(connection, submission.id, **values)
        else:
            submissions.change(connection, submission.id, **values, outputs=outcome.outputs)
            results.add_run(connection, submission.id, submission.set, outcome)
            told["signature"] = outcome.signature
        record(connection, actor=ACTOR, what=state.value, subject=entry, facts=told)
        show_latest(connection, entry, submission.set)


def show_latest(connection: Connection, entry: str, set_name: str) -> None:
    """Make the last scored file of a model the one that is shown and ranked."""
    for shown in submissions.current_of(connection, entry, set_name):
        submissions.change(connection, shown.id, current=False)
        if (run := results.ranked_run(connection, shown.id)) is not None:
            results.leave(connection, run)
    latest = submissions.latest_scored(connection, entry, set_name)
    if latest is not None:
        submissions.change(connection, latest.id, current=True)
        results.enter(connection, results.last_run(connection, latest.id))


@dataclass(frozen=True, slots=True, kw_only=True)
class _ScoringTask:
    """What a process that scores one file is told."""

    set: TestSet
    file: Path
    shown_as: str  # what messages call the file
    earlier: tuple[bytes, ...]  # fingerprints of what the team handed in before
    memory: int  # bytes that scoring may take


def run_apart(task: _ScoringTask, *, seconds: float, stop: Callable[[], bool]) -> ScoringOutcome | None:
    """Score a file in another process, within a time in seconds.

    Returns:
        The outcome; None if the process broke off.

    Raises:
        Stopped: ``stop``, which is asked several times a second, said so.
    """
    # Windows has no fork: there each process reads the answers for itself.
    context: Any = mp.get_context("fork" if "fork" in mp.get_all_start_methods() else "spawn")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_score_apart, args=(task, theirs, os.getpid()), daemon=True)
    process.start()
    theirs.close()
    try:
        until = time.monotonic() + seconds
        while not ours.poll(min(POLL_SECONDS, max(until - time.monotonic(), 0))):
            if time.monotonic() >= until:
                return ScoringOutcome(
                    problems=(f"Scoring took longer than {seconds:g} seconds, the most this board gives.",)
                )
            if stop():
                raise Stopped
        return ScoringOutcome.from_bytes(ours.recv_bytes())
    except (EOFError, OSError):  # it died before it had answered, or while it did
        return None
    finally:
        process.kill()
        process.join()
        ours.close()


def _score_apart(task: _ScoringTask, pipe: Pipe, parent: int) -> None:
    """In the process of its own."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    threading.Thread(target=_die_with, args=(parent,), daemon=True).start()
    session = _session(task.set.name, task.set.path)
    _limit_memory(task.memory)
    try:
        outcome = score_file(session, task.file, shown_as=task.shown_as, earlier=task.earlier)
    except MemoryError:
        outcome = ScoringOutcome(problems=("Scoring this file takes more memory than this board gives.",))
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
