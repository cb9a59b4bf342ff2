"""The interface of engines: they run one function over tasks of any kind."""

import gc
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

Report = Callable[[int, int, Counter[str]], None]
"""Called with rows read, pairs built, and rejected pairs by reason, each since the last call."""

Worker = Callable[[Any, Report], Any]
"""Runs one task and returns its small result."""

Engine = Callable[[Sequence[Any], Report], Iterator[Any]]
"""Runs tasks and yields one result for each, in any order. A task may run more than once. Called again, it runs further
tasks with the same workers.

It raises a `VcrgenError` or an OSError as a task raised it, a `VcrgenError` where the engine cannot go on, and a
`CrashedTasksError` after all other results.
"""


class CrashedTasksError(Exception):
    """Tasks that crashed their process in each of ``attempts`` attempts; all others are done."""

    def __init__(self, tasks: Sequence[Any], attempts: int) -> None:
        super().__init__(f"{len(tasks)} tasks")
        self.tasks = tasks
        self.attempts = attempts


def freeze_loaded() -> None:
    """Exempt the objects of a process, once loaded, from garbage collection: lexicons alone have over 100,000."""
    gc.collect()
    gc.freeze()
