"""What a long job tells of its progress."""

from collections import Counter


class Watcher:
    """Told how a job goes on. This one keeps silent; a command line shows it, a test counts it."""

    def begin(self, total: int, done: int) -> None:
        """Called once, with the number of items and how many of them an earlier run has done."""

    def advance(self, done: int, kept: int, drops: Counter[str], /) -> None:
        """Called every few items with what is new since the last call.

        Args:
            done: Items that were worked on.
            kept: Items that gave a result.
            drops: Items that were set aside, by reason.
        """

    def stage(self, text: str, /) -> None:
        """Called when the job turns to something other than its items, and with an empty text when that is over."""

    def note(self, text: str, /) -> None:
        """Called with what is to stand beside the count from now on.

        What is kept is not shown then before something is set aside.
        """
