"""What every engine is: it runs one function over tasks, and knows nothing of what the tasks do."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

Report = Callable[[int, int, Counter[str]], None]
"""Called with pairs read, pairs built and drops by reason, each since the last call."""

Worker = Callable[[Any, Report], Any]
"""Does one task and gives its result, which is small."""

Engine = Callable[[Sequence[Any], Report], Iterator[Any]]
"""Runs tasks and gives their results as they come, in any order. A task may run more than once, and gives one result.

It raises a `VcrgenError` or an OSError as a task raised it, a `VcrgenError` where the engine cannot go on, and a
:class:`CrashedTasksError` after all other results.
"""

Outcome = tuple[Any, list[tuple[int, int, Counter[str]]]]
"""The result of a task, and what it reported: for engines whose processes cannot call the driver."""

_loaded: dict[str, Worker] = {}


class CrashedTasksError(Exception):
    """Tasks that ended their process each of ``attempts`` times that they were tried; all others are done."""

    def __init__(self, tasks: Sequence[Any], attempts: int) -> None:
        super().__init__(f"{len(tasks)} tasks")
        self.tasks = tasks
        self.attempts = attempts


def loaded_worker(run: str, make_worker: Callable[[], Worker]) -> Worker:
    """The worker of this process for a run of that name: made for its first task, and kept for the next ones."""
    if run not in _loaded:
        _loaded.clear()
        _loaded[run] = make_worker()
    return _loaded[run]


def do_task(worker: Worker, task: Any) -> Outcome:
    """Do one task; what it reports comes back with its result."""
    reports: list[tuple[int, int, Counter[str]]] = []
    return worker(task, lambda read, built, drops: reports.append((read, built, drops))), reports
