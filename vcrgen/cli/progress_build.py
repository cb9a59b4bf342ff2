"""How a long job tells a person that it goes on."""

from __future__ import annotations

from collections import Counter

from rich.console import Console

from vcrgen.cli.progress import ProgressBar
from vcrgen.work.watcher import Watcher


class ConsoleWatcher(ProgressBar, Watcher):
    """Shows what is done, the rate, the time that is left, and how many items were kept and set aside.

    Args:
        console: Where to write; it knows whether it is a terminal.
        doing: What is done, in a word.
        unit: What is counted, in the plural.
        kept: What became of an item that was not set aside, in a word.
    """

    def __init__(self, console: Console, *, doing: str = "building", unit: str = "pairs", kept: str = "built") -> None:
        super().__init__(console, doing=doing, unit=unit)
        self._word = kept
        self._kept = 0
        self._drops: Counter[str] = Counter()

    def advance(self, done: int, kept: int, drops: Counter[str], /) -> None:
        """More items are done."""
        self._kept += kept
        self._drops.update(drops)
        top = ", ".join(f"{reason} {count:,}" for reason, count in self._drops.most_common(2))
        dropped = f"{self._drops.total():,} set aside" + (f" ({top})" if top else "")
        self.step(done, f"{self._kept:,} {self._word}, {dropped}")

    def stage(self, text: str, /) -> None:
        """Something else is worked on."""
        if text:
            self.say(text)
