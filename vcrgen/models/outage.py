"""Outages of a server that has answered before: waited out by time, not by a number of tries."""

from __future__ import annotations

import asyncio
import math

from vcrgen.work.progress import ProgressListener

# Of a server that is away, or of a proxy before it.
_STATUS = {502, 503, 504, 529}
_KINDS = {"connect", "reset", *(f"http_{status}" for status in _STATUS)}


class Outage:
    """Tells whether a server is away, and for how long that is waited out.

    Args:
        host: The server, for people.
        patience: Seconds of an outage that are waited out.
        listener: Is told of its beginning and its end.

    Attributes:
        answers: Number of the server's responses but for those that stand for an outage.
    """

    def __init__(self, host: str, patience: float, listener: ProgressListener) -> None:
        self._host, self._patience, self._listener = host, patience, listener
        self._since: float | None = None
        self.answers = 0

    def note_answer(self, status: int) -> None:
        """Take the status of a response."""
        if status not in _STATUS:
            self.answers += 1
            if self._since is not None:
                self._since = None
                self._listener.stage("")

    def is_waited_out(self, kind: str, answers: int) -> bool:
        """Return whether a failed call is one of an outage that is still waited out.

        A call that fails while others get answers is not: it may be the request that breaks the connection.

        Args:
            kind: Type of the error.
            answers: The number of responses when the call began.
        """
        if kind not in _KINDS or not self._patience or not self.answers or self.answers > answers:
            return False
        if self._since is None:
            self._since = asyncio.get_running_loop().time()
            words = f"{self._host} is away ({kind}); waiting for it, {_duration(self._patience)} at most"
            self._listener.warn(f"{words}.")
            self._listener.stage(words)
        return not self.is_over

    @property
    def is_over(self) -> bool:
        """Return whether an outage has lasted longer than it is waited out."""
        return self._since is not None and asyncio.get_running_loop().time() >= self._since + self._patience


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{math.ceil(seconds / 60):,} min"
