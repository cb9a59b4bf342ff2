"""How a build tells a person that it goes on."""

from __future__ import annotations

from collections import Counter

from rich.console import Console

from vcrgen.builder.run import Watcher
from vcrgen.cli.progress import ProgressBar


class ConsoleWatcher(ProgressBar, Watcher):
    """Shows pairs read, rate, remaining time, pairs built and set aside.

    Args:
        console: Where to write; it knows whether it is a terminal.
    """

    def __init__(self, console: Console) -> None:
        super().__init__(console, doing="building", unit="pairs")
        self._built = 0
        self._drops: Counter[str] = Counter()

    def advance(self, read: int, built: int, drops: Counter[str]) -> None:
        """More pairs are done."""
        self._built += built
        self._drops.update(drops)
        top = ", ".join(f"{reason} {count:,}" for reason, count in self._drops.most_common(2))
        dropped = f"{self._drops.total():,} set aside" + (f" ({top})" if top else "")
        self.step(read, f"{self._built:,} built, {dropped}")

    def stage(self, text: str) -> None:
        """Something else is worked on."""
        if text:
            self.say(text)
