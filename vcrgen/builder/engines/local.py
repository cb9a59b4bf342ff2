"""Tasks in this process, or in several of this machine."""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.connection import wait as wait_for_sentinel
from typing import Any

from vcrgen.builder.engines.base import Engine, Job, Report, Worker
from vcrgen.errors import WorkerError

POLL_SECONDS = 0.2

_worker: Worker | None = None
_queue: Any = None


class LocalEngine(Engine):
    """Processes of this machine.

    Args:
        job: What to run.
        workers: Number of processes; with 1, everything runs in this process.
    """

    def __init__(self, job: Job, *, workers: int) -> None:
        self._job = job
        self._workers = workers

    def run(self, tasks: Sequence[Any], report: Report) -> Iterator[Any]:
        """See :meth:`Engine.run`.

        Raises:
            WorkerError: A process died, for example for lack of memory.
        """
        if self._workers == 1 or len(tasks) < 2:
            if tasks:
                worker = self._job.start()
                _keep_what_is_loaded()
                try:
                    yield from (worker(task, report) for task in tasks)
                finally:
                    gc.unfreeze()
            return
        yield from self._run_processes(tasks, report)

    def _run_processes(self, tasks: Sequence[Any], report: Report) -> Iterator[Any]:
        before = multiprocessing.active_children()
        context = multiprocessing.get_context("spawn")
        queue = context.SimpleQueue()
        executor = ProcessPoolExecutor(
            min(self._workers, len(tasks)),
            mp_context=context,
            initializer=_start_worker,
            initargs=(self._job, queue),
        )
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


def _start_worker(job: Job, queue: Any) -> None:
    """Prepare a process: leave Ctrl-C to the parent, and end when the parent is gone."""
    global _worker, _queue
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _worker, _queue = job.start(), queue
    _keep_what_is_loaded()


def _keep_what_is_loaded() -> None:
    """Let garbage collection pass over what is loaded by now: vocabulary and lexicons are 100,000 objects and more."""
    gc.collect()
    gc.freeze()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait_for_sentinel([parent.sentinel])
        os._exit(1)


def _call(task: Any) -> Any:
    assert _worker is not None

    def report(read: int, built: int, drops: Counter[str]) -> None:
        _queue.put((read, built, drops))

    return _worker(task, report)
