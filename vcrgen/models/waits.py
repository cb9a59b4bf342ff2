"""What a run waits for: said at once and every half minute, and no longer than the user's patience."""

import asyncio
import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from vcrgen.core.progress import ProgressListener

SAID_EVERY = 30.0  # seconds


@dataclass(frozen=True, slots=True, eq=False)
class Wait:
    """One thing that waits: a request for its next try, or all of them."""

    why: str  # such as `the server is busy (429: rate limit reached)`
    until: float  # time of the event loop
    tries: str = ""  # such as `5 of 40 tries`
    soon: bool = True  # whether it is said at once


class Waits:
    """Tells a listener what a run waits for, within an event loop.

    Args:
        listener: Is told, at once and every `SAID_EVERY` seconds as long as it lasts.
    """

    def __init__(self, listener: ProgressListener) -> None:
        self._listener = listener
        self._clock = asyncio.get_running_loop().time
        self._waiting: list[Wait] = []
        self._under_way = 0
        self._said = -math.inf
        self._heard = self._clock()  # when there was a reply, or nothing to wait for

    @contextmanager
    def waiting(self, wait: Wait) -> Iterator[None]:
        """Wait in a block."""
        self._waiting.append(wait)
        try:
            if wait.soon and self._clock() - self._said >= SAID_EVERY:
                self._say_waiting()
            yield
        finally:
            self._waiting.remove(wait)

    @contextmanager
    def under_way(self) -> Iterator[None]:
        """Wait for a response in a block; that is said when there was no reply for `SAID_EVERY` seconds."""
        self._under_way += 1
        try:
            yield
        finally:
            self._under_way -= 1

    def note_reply(self) -> None:
        """Record that there was a reply."""
        self._heard = self._clock()

    async def keep_saying(self) -> None:
        """Say every `SAID_EVERY` seconds what is waited for; runs until it is cancelled."""
        while True:
            since = self._said if self._waiting else max(self._said, self._heard)
            if (left := since + SAID_EVERY - self._clock()) > 0:
                await asyncio.sleep(left)
            elif self._waiting:
                self._say_waiting()
            elif self._under_way:
                self._say(f"no reply for {self._clock() - self._heard:.0f} s", f"{self._under_way:,} under way")
            else:
                self._heard = self._clock()

    def _say_waiting(self) -> None:
        newest = self._waiting[-1]
        most = max((wait.tries for wait in self._waiting if wait.why == newest.why), key=_count)
        left = math.ceil(max(min(wait.until for wait in self._waiting) - self._clock(), 1))
        self._say(newest.why, ", ".join(filter(None, (f"next try in {shown_seconds(left)}", most))))

    def _say(self, what: str, until: str) -> None:
        self._said = self._clock()
        self._listener.waiting(what, until)


def _count(tries: str) -> int:
    """The number with which `5 of 40 tries` begins."""
    return int(tries.split()[0]) if tries else 0


class Patience:
    """Counts down the time that a run, or one request, waits without a reply.

    Args:
        seconds: The time; 0 for nothing that is waited out.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._since: float | None = None

    def begin(self, since: float | None = None) -> None:
        """Begin to wait, unless that began before; ``since`` is a time of the event loop, now if it is not given."""
        if self._since is None:
            self._since = asyncio.get_running_loop().time() if since is None else since

    def end(self) -> None:
        """Record a reply."""
        self._since = None

    @property
    def left(self) -> float:
        """Seconds."""
        waited = 0.0 if self._since is None else asyncio.get_running_loop().time() - self._since
        return max(self.seconds - waited, 0.0)

    @property
    def is_over(self) -> bool:
        """Whether it was waited for so long."""
        return self.seconds > 0 and self.left <= 0


def shown_seconds(seconds: float) -> str:
    """A time for people: ``8 s``, ``10 min``."""
    return f"{seconds:.0f} s" if seconds < 120 else f"{math.ceil(seconds / 60):,} min"
