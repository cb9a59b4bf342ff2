"""Tasks in this process, or in several of this machine."""

import gc
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from multiprocessing.connection import wait as wait_for_sentinel
from typing import Any

from vcrgen.builder.engines.base import Report, Worker
from vcrgen.errors import WorkerError

POLL_SECONDS = 0.2

_worker: Worker | None = None
_queue: Any = None


def run_local(make_worker: Callable[[], Worker], workers: int, tasks: Sequence[Any], report: Report) -> Iterator[Any]:
    """Run tasks in ``workers`` processes of this machine; with 1, everything runs in this process.

    Raises:
        WorkerError: A process died, for example for lack of memory.
    """
    if workers == 1 or len(tasks) < 2:
        if tasks:
            worker = make_worker()
            _keep_what_is_loaded()
            try:
                yield from (worker(task, report) for task in tasks)
            finally:
                gc.unfreeze()
        return
    before = multiprocessing.active_children()
    context = multiprocessing.get_context("spawn")
    queue = context.SimpleQueue()
    start = partial(_start_worker, make_worker, queue)
    executor = ProcessPoolExecutor(min(workers, len(tasks)), mp_context=context, initializer=start)
    try:
        waiting: set[Future[Any]] = {executor.submit(_call, task) for task in tasks}
        while waiting:
            done, waiting = wait(waiting, timeout=POLL_SECONDS, return_when=FIRST_COMPLETED)
            while not queue.empty():
                report(*queue.get())
            for future in done:
                yield future.result()
        executor.shutdown()
    except BrokenProcessPool:
        raise WorkerError(
            "A worker process died (killed, or out of memory); what it had finished is kept: run the same command "
            "again to go on, with fewer --workers if memory was short."
        ) from None
    finally:
        # Whatever ended the run (Ctrl-C, an error, a caller that wants no more): nobody waits for a running task.
        for process in multiprocessing.active_children():
            if process not in before:
                process.terminate()
        executor.shutdown(cancel_futures=True)


def _start_worker(make_worker: Callable[[], Worker], queue: Any) -> None:
    """Prepare a process: leave Ctrl-C to the parent, and end when the parent is gone."""
    global _worker, _queue
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _worker, _queue = make_worker(), queue
    _keep_what_is_loaded()


def _keep_what_is_loaded() -> None:
    """Let garbage collection pass over what is loaded by now: vocabulary and lexicons are 100,000 objects and more."""
    gc.collect()
    gc.freeze()


def _end_with_parent() -> None:
    if parent := multiprocessing.parent_process():
        wait_for_sentinel([parent.sentinel])
        os._exit(1)


def _call(task: Any) -> Any:
    assert _worker is not None
    return _worker(task, lambda *counts: _queue.put(counts))
