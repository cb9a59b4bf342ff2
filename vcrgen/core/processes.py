"""A pool of local processes with one worker each, such as one whose tokenizer takes seconds to load."""

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import partial
from multiprocessing.connection import wait as wait_for_sentinel
from typing import Any, TypeVar

from vcrgen.core.errors import VcrgenError, WorkerError

T = TypeVar("T")
R = TypeVar("R")

_worker: Callable[[Any], Any] | None = None
_failure: VcrgenError | None = None  # for which there is no worker


@contextmanager
def process_pool(
    make_worker: Callable[[], Callable[[T], R]], processes: int, *, advice: str
) -> Iterator[Callable[[T], Future[R]]]:
    """Start processes for a block.

    Args:
        make_worker: Makes the worker; called once in each process, so picklable. Its `VcrgenError` is that of tasks.
        advice: Advice to the user if a process dies; the end of a sentence.

    Yields:
        A function that submits a task.

    Raises:
        WorkerError: A process died, for example for lack of memory.
    """
    before = multiprocessing.active_children()
    context = multiprocessing.get_context("spawn")
    executor = ProcessPoolExecutor(processes, mp_context=context, initializer=partial(_start, make_worker))

    def submit(task: T) -> Future[R]:
        with _ctrl_c_held_back():  # new processes inherit it, and never receive Ctrl-C
            return executor.submit(_call, task)

    try:
        yield submit
        executor.shutdown()
    except BrokenProcessPool:
        raise WorkerError(f"A worker process died (killed, or out of memory); {advice}.") from None
    finally:
        # Running tasks are not waited for, whatever ended the block.
        for process in multiprocessing.active_children():
            if process not in before:
                process.terminate()
        executor.shutdown(cancel_futures=True)


@contextmanager
def _ctrl_c_held_back() -> Iterator[None]:
    """Block SIGINT in a block, where the system supports it."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _start(make_worker: Callable[[], Callable[[Any], Any]]) -> None:
    """Prepare a process: ignore SIGINT, and end with the parent."""
    global _worker, _failure
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    try:
        _worker = make_worker()
    except VcrgenError as error:  # raised here, it would stand in no message
        _failure = error


def _end_with_parent() -> None:
    if parent := multiprocessing.parent_process():
        wait_for_sentinel([parent.sentinel])
        os._exit(1)


def _call(task: Any) -> Any:
    if _failure:
        raise _failure
    assert _worker is not None
    return _worker(task)
