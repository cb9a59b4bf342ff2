"""The progress of a long job, reported to a listener and to Python's ``logging``."""

import logging
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TypeVar

LOGGER = logging.getLogger("vcrgen")
Item = TypeVar("Item")


class ProgressListener:
    """Receiver of a job's progress. This one logs it; a command line shows it as well, a test counts it."""

    def begin(self, total: int, done: int) -> None:
        """Take the number of items, and of those that an earlier run finished; called once."""
        LOGGER.info("%s items, of which %s are done", f"{total:,}" if total else "some", f"{done:,}")

    def resume(self, replies: int) -> None:
        """Take the number of replies that an earlier run got, if it is not known of which items; before `begin`."""

    def advance(self, done: int, kept: int, rejected: Counter[str], /) -> None:
        """Take progress since the last call; called every few items.

        Args:
            done: Items that were processed.
            kept: Items that gave a result.
            rejected: Rejected items by reason.
        """

    def stage(self, text: str, /, *, is_long: bool = False) -> None:
        """Take the name of work on something other than items, which may be known to take long; "" ends it."""
        if text:
            LOGGER.info("%s", text)

    def note(self, text: str, /) -> None:
        """Take a text to show beside the count from now on."""

    def waiting(self, what: str, until: str, /) -> None:
        """Take what the job waits for, and when it goes on; called at once, and now and then as long as it lasts.

        Args:
            what: Such as ``the server is busy (429: rate limit reached)``.
            until: Such as ``next try in 8 s, 5 of 40 tries``.
        """
        LOGGER.info("%s, %s", what, until)

    def warn(self, text: str, /) -> None:
        """Take a sentence that the user should see, whatever follows."""
        LOGGER.warning("%s", text)


SILENT = ProgressListener()


def counted(items: Iterable[Item], total: int, listener: ProgressListener) -> Iterator[Item]:
    """The items of a job, none of which is rejected; each is told of when it is done."""
    listener.begin(total, 0)
    for item in items:
        yield item
        listener.advance(1, 1, Counter())


def shown_bytes(size: float) -> str:
    """Return a size with its decimal unit."""
    units = ["B", "kB", "MB", "GB", "TB"]
    while size >= 1000 and len(units) > 1:
        size /= 1000
        units.pop(0)
    return f"{size:,.0f} {units[0]}" if size >= 100 else f"{size:.3g} {units[0]}"
