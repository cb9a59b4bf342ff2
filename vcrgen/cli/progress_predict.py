"""How a run of a baseline tells a person that it goes on."""

from __future__ import annotations

from rich.console import Console

from vcrgen.cli.progress import ProgressBar
from vcrgen.predict.run import Watcher


class ConsoleWatcher(ProgressBar, Watcher):
    """Shows pictures read, rate, remaining time and pictures set aside.

    Args:
        console: Where to write; it knows whether it is a terminal.
    """

    def __init__(self, console: Console) -> None:
        super().__init__(console, doing="reading", unit="pictures")

    def advance(self, aside: int) -> None:
        """One more picture is done; so many were set aside so far."""
        self.step(1, f"{aside:,} set aside")
