"""How a run tells a person that it goes on: a bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import time
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from vcrgen.predict.run import Watcher

LINE_SECONDS = 10.0


class ConsoleWatcher(Watcher):
    """Shows pictures read, rate, remaining time and pictures set aside.

    Args:
        console: Where to write; it knows whether it is a terminal.
    """

    def __init__(self, console: Console) -> None:
        self._console = console
        self._read = self._total = self._resumed = 0
        self._started = self._last_line = time.monotonic()
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.fields[aside]:,} set aside"),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self._task = self._bar.add_task("starting", total=None, aside=0)

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()

    def begin(self, total: int, done: int) -> None:
        """Pictures to read, and pictures that an earlier run has read."""
        self._total, self._read, self._resumed = total, done, done
        if done:
            self._console.print(f"Going on with an earlier run: {done:,} of {total:,} pictures are done.")
        self._started = self._last_line = time.monotonic()
        self._bar.reset(self._task, total=total, completed=done, description="reading")

    def advance(self, aside: int) -> None:
        """One more picture is done; so many were set aside so far."""
        self._read += 1
        self._bar.update(self._task, advance=1, aside=aside)
        now = time.monotonic()
        if not self._console.is_terminal and now - self._last_line >= LINE_SECONDS:
            self._last_line = now
            rate = (self._read - self._resumed) / (now - self._started)
            left = (self._total - self._read) / rate
            self._console.print(
                f"{self._read:,}/{self._total:,} pictures, {rate:,.1f} pictures/s, about {left:,.0f} s left, "
                f"{aside:,} set aside"
            )
