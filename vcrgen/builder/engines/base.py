"""What every engine is: it runs one function over tasks, and knows nothing of what the tasks do."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self

Report = Callable[[int, int, Counter[str]], None]
"""Called with pairs read, pairs built and drops by reason, each since the last call."""

Worker = Callable[[Any, Report], Any]
"""Does one task and gives its result, which is small."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """How a process gets its worker; sent to every process, so the parts can be pickled.

    Attributes:
        make_worker: Called once in every process; loads what all tasks need.
        arguments: Its arguments.
        packages: Distributions that have to be of the same version everywhere.
    """

    make_worker: Callable[..., Worker]
    arguments: tuple[Any, ...]
    packages: tuple[str, ...] = ()

    def start(self) -> Worker:
        """The worker of this process."""
        return self.make_worker(*self.arguments)


class CrashedTasksError(Exception):
    """Tasks that ended their process again and again; all others are done.

    Attributes:
        tasks: Those tasks.
        attempts: How often each of them was tried.
    """

    def __init__(self, tasks: Sequence[Any], attempts: int) -> None:
        super().__init__(f"{len(tasks)} tasks")
        self.tasks = tasks
        self.attempts = attempts


class Engine(ABC):
    """Runs the tasks of one job. Entered as a context manager, it connects to where they will run."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        return None

    @abstractmethod
    def run(self, tasks: Sequence[Any], report: Report) -> Iterator[Any]:
        """Give the results as they come, in any order. A task may run more than once, and gives one result.

        Raises:
            VcrgenError: What a task raised, or the engine could not go on.
            OSError: As a task raised it.
            CrashedTasksError: After all other results.
        """


class ReportTotal:
    """A report that adds up, for engines whose processes cannot call the driver."""

    def __init__(self) -> None:
        self.read = self.built = 0
        self.drops = Counter[str]()

    def __call__(self, read: int, built: int, drops: Counter[str]) -> None:
        """Add."""
        self.read += read
        self.built += built
        self.drops.update(drops)
