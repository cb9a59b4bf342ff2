"""Running tasks in this process or in several: knows nothing of what the tasks do."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.connection import wait as wait_for_sentinel
from typing import Any, Generic, TypeVar

from vcrgen.errors import WorkerError

Task = TypeVar("Task")
Result = TypeVar("Result")
Worker = Callable[[Any, "Report"], Any]
POLL_SECONDS = 0.2

Report = Callable[[int, int, Counter[str]], None]
"""Called with pairs read, pairs built and drops by reason, each since the last call."""

_worker: Worker | None = None
_queue: Any = None


class Engine(Generic[Task, Result]):
    """Runs one function over tasks.

    Args:
        make_worker: Called once in every process; gives the function. It and its arguments are pickled.
        arguments: Its arguments.
        workers: Number of processes; with 1, everything runs in this process.
    """

    def __init__(
        self, make_worker: Callable[..., Callable[[Task, Report], Result]], arguments: tuple[Any, ...], *, workers: int
    ) -> None:
        self._make_worker = make_worker
        self._arguments = arguments
        self._workers = workers

    def run(self, tasks: Iterable[Task], report: Report) -> Iterator[Result]:
        """Give the results as they come, in any order.

        Raises:
            WorkerError: A process died, for example for lack of memory.
        """
        tasks = list(tasks)
        if self._workers == 1 or len(tasks) < 2:
            if tasks:
                worker = self._make_worker(*self._arguments)
                yield from (worker(task, report) for task in tasks)
            return
        yield from self._run_processes(tasks, report)

    def _run_processes(self, tasks: list[Task], report: Report) -> Iterator[Result]:
        before = multiprocessing.active_children()
        context = multiprocessing.get_context("spawn")
        queue = context.SimpleQueue()
        executor = ProcessPoolExecutor(
            min(self._workers, len(tasks)),
            mp_context=context,
            initializer=_start_worker,
            initargs=(self._make_worker, self._arguments, queue),
        )
        try:
            waiting: set[Future[Result]] = {executor.submit(_call, task) for task in tasks}
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


def _start_worker(make_worker: Callable[..., Worker], arguments: tuple[Any, ...], queue: Any) -> None:
    """Prepare a process: leave Ctrl-C to the parent, and end when the parent is gone."""
    global _worker, _queue
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _worker, _queue = make_worker(*arguments), queue


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
