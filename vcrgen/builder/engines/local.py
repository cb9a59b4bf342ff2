"""The local engine: tasks in this process, or in several processes of this machine."""

import gc
import multiprocessing
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from functools import partial
from typing import Any

from vcrgen.builder.engines.base import Report, Worker
from vcrgen.core.processes import process_pool

POLL_SECONDS = 0.2
ADVICE = "what it had finished is kept: run the same command again to go on, with fewer --workers if memory was short"


def run_local(make_worker: Callable[[], Worker], workers: int, tasks: Sequence[Any], report: Report) -> Iterator[Any]:
    """Run tasks in ``workers`` processes of this machine; with 1, everything runs in this process.

    Raises:
        WorkerError: A process died, for example for lack of memory.
    """
    if workers == 1 or len(tasks) < 2:
        if tasks:
            worker = make_worker()
            gc.freeze()  # with its garbage, until the end: to look for that takes longer than a small build
            try:
                yield from (worker(task, report) for task in tasks)
            finally:
                gc.unfreeze()
        return
    queue = multiprocessing.get_context("spawn").SimpleQueue()
    make = partial(_reporting, make_worker, queue)
    with process_pool(make, min(workers, len(tasks)), advice=ADVICE) as submit:
        waiting: set[Future[Any]] = {submit(task) for task in tasks}
        while waiting:
            done, waiting = wait(waiting, timeout=POLL_SECONDS, return_when=FIRST_COMPLETED)
            while not queue.empty():
                report(*queue.get())
            for future in done:
                yield future.result()


def _reporting(make_worker: Callable[[], Worker], queue: Any) -> Callable[[Any], Any]:
    """A function that runs a task in this process and reports through a queue."""
    worker = make_worker()
    _freeze_loaded()
    return lambda task: worker(task, lambda *counts: queue.put(counts))


def _freeze_loaded() -> None:
    """Exempt loaded objects from garbage collection: vocabulary and lexicons have over 100,000."""
    gc.collect()
    gc.freeze()
