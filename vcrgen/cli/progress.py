"""How a long run tells a person that it goes on: a bar on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import time
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    Task,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.text import Text

LINE_SECONDS = 10.0


class ProgressBar:
    """Shows what is done, the rate, and the time that is left.

    Args:
        console: Where to write; it knows whether it is a terminal.
        doing: What is done, in a word.
        unit: What is counted, in the plural.
    """

    def __init__(self, console: Console, *, doing: str, unit: str) -> None:
        self._console = console
        self._doing, self._unit = doing, unit
        self._done = self._total = self._resumed = 0
        self._started = self._last_line = time.monotonic()
        self._bar = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            _Rate(unit),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.fields[detail]}"),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self._task = self._bar.add_task("starting", total=None, detail="")

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()

    def begin(self, total: int, done: int) -> None:
        """How many there are, and how many an earlier run has done."""
        self._total, self._done, self._resumed = total, done, done
        if done:
            self._console.print(f"Going on with an earlier run: {done:,} of {total:,} {self._unit} are done.")
        self._started = self._last_line = time.monotonic()
        self._bar.reset(self._task, total=total, completed=done, description=self._doing)

    def step(self, count: int, detail: str) -> None:
        """So many more are done; ``detail`` is said beside it."""
        self._done += count
        self._bar.update(self._task, advance=count, detail=detail)
        now = time.monotonic()
        if not self._console.is_terminal and now - self._last_line >= LINE_SECONDS:
            self._last_line = now
            rate = (self._done - self._resumed) / (now - self._started)
            left = (self._total - self._done) / rate if rate else 0.0
            self._console.print(
                f"{self._done:,}/{self._total:,} {self._unit}, {rate:,.1f} {self._unit}/s, about {left:,.0f} s left, "
                f"{detail}"
            )

    def say(self, text: str) -> None:
        """Something else is worked on."""
        self._bar.update(self._task, description=text)


class _Rate(ProgressColumn):
    def __init__(self, unit: str) -> None:
        super().__init__()
        self._unit = unit

    def render(self, task: Task) -> Text:
        return Text(f"{task.speed:,.1f} {self._unit}/s" if task.speed else "", style="progress.data.speed")
