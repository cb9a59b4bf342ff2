"""The local engine: tasks in this process, or in several processes of this machine."""

import gc
import multiprocessing
import queue
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import ExitStack, suppress
from functools import partial
from itertools import islice
from typing import Any, Self

from vcrgen.builder.engines.base import Report, Worker, freeze_loaded
from vcrgen.core.processes import process_pool

POLL_SECONDS = 0.2
AHEAD = 4  # tasks that each process is given, so that none waits
FEW = 8  # tasks for which no processes are started where this process is ready for them
ADVICE = "what it had finished is kept: run the same command again to go on, with fewer --workers if memory was short"


class LocalEngine:
    """Runs lists of tasks, each with the workers of the one before. They end with the block that the engine opens.

    Args:
        make_worker: Makes a worker, at most once in each process.
        workers: Number of processes; with 1, everything runs in this one.
    """

    def __init__(self, make_worker: Callable[[], Worker], workers: int) -> None:
        self._make_worker, self._workers = make_worker, workers
        self._worker: Worker | None = None  # of this process
        self._submit: Callable[[Any], Future[Any]] | None = None
        self._reports: Any = None  # a queue, from the processes
        self._processes = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: Any) -> None:
        self._processes.__exit__(*error)

    def __call__(self, tasks: Sequence[Any], report: Report) -> Iterator[Any]:
        """Run tasks as `Engine` says.

        Raises:
            WorkerError: A process died, for example for lack of memory; raised at the end of the block.
        """
        few = len(tasks) < (FEW if self._worker else 2)
        here = self._submit is None and (self._workers == 1 or few)
        return self._run_here(tasks, report) if here else self._run_in_processes(tasks, report)

    def _run_here(self, tasks: Sequence[Any], report: Report) -> Iterator[Any]:
        if not tasks:
            return
        worker = self._worker = self._worker or self._make_worker()
        gc.freeze()  # with its garbage, until the end: to look for that takes longer than a small build
        try:
            yield from (worker(task, report) for task in tasks)
        finally:
            gc.unfreeze()

    def _run_in_processes(self, tasks: Sequence[Any], report: Report) -> Iterator[Any]:
        finished: queue.SimpleQueue[Future[Any]] = queue.SimpleQueue()
        waiting, running = iter(tasks), 0
        while True:
            for task in islice(waiting, AHEAD * self._workers - running):
                self._submitted(task).add_done_callback(finished.put)
                running += 1
            if not running:
                return
            future = None
            with suppress(queue.Empty):
                future = finished.get(timeout=POLL_SECONDS)
            while not self._reports.empty():
                report(*self._reports.get())
            if future:
                running -= 1
                yield future.result()

    def _submitted(self, task: Any) -> Future[Any]:
        """Give a task to the processes, which the first one starts."""
        if self._submit is None:
            self._reports = multiprocessing.get_context("spawn").SimpleQueue()
            make = partial(_reporting, self._make_worker, self._reports)
            self._submit = self._processes.enter_context(process_pool(make, self._workers, advice=ADVICE))
        return self._submit(task)


def _reporting(make_worker: Callable[[], Worker], reports: Any) -> Callable[[Any], Any]:
    """A function that runs a task in this process and reports through a queue."""
    worker = make_worker()
    freeze_loaded()
    return lambda task: worker(task, lambda *counts: reports.put(counts))
