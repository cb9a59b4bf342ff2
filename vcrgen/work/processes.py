"""Processes of this machine that do one kind of task, each with a worker of its own that is made once.

Example: the outputs of a model, some hundred at a time, each a task; the worker holds a tokenizer, which takes seconds
to load. :func:`results` gives what came of each task, in their order.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import partial
from itertools import islice
from multiprocessing.connection import wait as wait_for_sentinel
from typing import Any, TypeVar

from vcrgen.errors import WorkerError

T = TypeVar("T")
R = TypeVar("R")

AHEAD = 3  # tasks for each process that are waiting or done before their turn, so that memory stays flat

_worker: Callable[[Any], Any] | None = None


@contextmanager
def process_pool(
    make_worker: Callable[[], Callable[[T], R]], processes: int, *, advice: str, forked: bool = False
) -> Iterator[Callable[[T], Future[R]]]:
    """Start processes, and end them with the block, whatever ends it.

    Args:
        make_worker: Makes what does a task; called once in each process, so it has to be picklable.
        processes: How many.
        advice: What the user should do if a process dies; the end of a sentence.
        forked: Begin with what this process has in memory, so that nothing is loaded again. Only Linux can do so
            safely; elsewhere it says nothing. Of threads there have to be none that hold a lock.

    Yields:
        A function that hands in a task.

    Raises:
        WorkerError: A process died, for example for lack of memory.
    """
    before = multiprocessing.active_children()
    context = multiprocessing.get_context("fork" if forked and sys.platform == "linux" else "spawn")
    executor = ProcessPoolExecutor(processes, mp_context=context, initializer=partial(_start, make_worker))

    def submit(task: T) -> Future[R]:
        with _ctrl_c_held_back():  # a process that begins here has it from this one, and so never hears of Ctrl-C
            return executor.submit(_call, task)

    try:
        yield submit
        executor.shutdown()
    except BrokenProcessPool:
        raise WorkerError(f"A worker process died (killed, or out of memory); {advice}.") from None
    finally:
        # Whatever ended the run (Ctrl-C, an error, a caller that wants no more): nobody waits for a running task.
        for process in multiprocessing.active_children():
            if process not in before:
                process.terminate()
        executor.shutdown(cancel_futures=True)


def results(
    make_worker: Callable[[], Callable[[T], R]],
    tasks: Iterable[T],
    processes: int,
    *,
    advice: str,
    forked: bool = False,
) -> Iterator[R]:
    """What comes of each task, in their order; with one process, everything is done in this one.

    Arguments and errors are those of :func:`process_pool`. Only a few tasks for each process are taken ahead.
    """
    if processes == 1:
        yield from map(make_worker(), tasks)
        return
    waiting = iter(tasks)
    with process_pool(make_worker, processes, advice=advice, forked=forked) as submit:
        handed_in = deque(map(submit, islice(waiting, AHEAD * processes)))
        while handed_in:
            yield handed_in.popleft().result()
            handed_in.extend(map(submit, islice(waiting, 1)))


@contextmanager
def _ctrl_c_held_back() -> Iterator[None]:
    """Let Ctrl-C wait for the end of the block, where the system can do that."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _start(make_worker: Callable[[], Callable[[Any], Any]]) -> None:
    """Prepare a process: leave Ctrl-C to the parent, and end when the parent is gone."""
    global _worker
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _worker = make_worker()


def _end_with_parent() -> None:
    if parent := multiprocessing.parent_process():
        wait_for_sentinel([parent.sentinel])
        os._exit(1)


def _call(task: Any) -> Any:
    assert _worker is not None
    return _worker(task)
