"""How a build tells a person that it goes on: a bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import time
from collections import Counter
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

from vcrgen.builder.run import Watcher

LINE_SECONDS = 10.0


class _Rate(ProgressColumn):
    def render(self, task: Task) -> Text:
        return Text(f"{task.speed:,.1f} pairs/s" if task.speed else "", style="progress.data.speed")


class ConsoleWatcher(Watcher):
    """Shows pairs read, rate, remaining time, pairs built and set aside.

    Args:
        console: Where to write; it knows whether it is a terminal.
    """

    def __init__(self, console: Console) -> None:
        self._console = console
        self._built = 0
        self._drops: Counter[str] = Counter()
        self._read = self._total = 0
        self._started = self._last_line = time.monotonic()
        self._bar = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            _Rate(),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.fields[counts]}"),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self._task = self._bar.add_task("starting", total=None, counts="")

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()

    def begin(self, total: int, done: int) -> None:
        """Pairs to read, and pairs that an earlier run has read."""
        self._total, self._read = total, done
        if done:
            self._console.print(f"Going on with an earlier run: {done:,} of {total:,} pairs are done.")
        self._started = self._last_line = time.monotonic()
        self._bar.reset(self._task, total=total, completed=done, description="building")
        self._resumed = done

    def advance(self, read: int, built: int, drops: Counter[str]) -> None:
        """More pairs are done."""
        self._read += read
        self._built += built
        self._drops.update(drops)
        self._bar.update(self._task, advance=read, counts=self._counts())
        now = time.monotonic()
        if not self._console.is_terminal and now - self._last_line >= LINE_SECONDS:
            self._last_line = now
            rate = (self._read - self._resumed) / (now - self._started)
            left = (self._total - self._read) / rate if rate else 0.0
            self._console.print(
                f"{self._read:,}/{self._total:,} pairs, {rate:,.1f} pairs/s, about {left:,.0f} s left, {self._counts()}"
            )

    def stage(self, text: str) -> None:
        """Something else is worked on."""
        if text:
            self._bar.update(self._task, description=text)

    def _counts(self) -> str:
        dropped = self._drops.total()
        top = ", ".join(f"{reason} {count:,}" for reason, count in self._drops.most_common(2))
        return f"{self._built:,} built, {dropped:,} set aside" + (f" ({top})" if top else "")
