"""A process that scores one file within limits on time and memory; it is forked from one that has read the answers."""

from __future__ import annotations

import errno
import multiprocessing as mp
import os
import signal
import threading
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from multiprocessing.connection import Connection as Pipe
from pathlib import Path
from typing import Any

from vcrgen.core.files import DISK_FULL
from vcrgen.data.views import View
from vcrgen.leaderboard.board import open_session, protocol_of
from vcrgen.leaderboard.outcome import ScoringOutcome
from vcrgen.leaderboard.records import TestSet
from vcrgen.leaderboard.scoring import score_file
from vcrgen.scorer.session import BaseScoringSession
from vcrgen.web.log import log_line

MAX_ATTEMPTS = 3  # of a file whose process ends badly each time
POLL_SECONDS = 0.2
FULL_EXIT = 75  # exit code of a process that has no room for a temporary file (EX_TEMPFAIL)


class WorkerStopped(Exception):
    """The worker was asked to stop while it was scoring."""


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


def session_of(test_set: TestSet, split: str = "", view: View | None = None) -> BaseScoringSession:
    """The session of a set or of a part of it: read once, and found again by processes that are forked."""
    return _session(test_set.name, test_set.path, split, view, protocol_of(test_set))


@cache
def _session(name: str, path: str, split: str, view: View | None, protocol: str | None) -> BaseScoringSession:
    return open_session(name, Path(path), split=split, view=view, protocol=protocol)
