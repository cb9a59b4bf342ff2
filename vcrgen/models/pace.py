"""The pace of requests to a server: its limits a minute, pauses that it asks for, and outages that are waited out.

An outage of a server that has answered before is waited out by time, not by a number of tries.
"""

from __future__ import annotations

import asyncio
import math

from vcrgen.core.progress import ProgressListener

_MINUTE = 60.0
_FIRST_GUESS = 1500  # tokens of a request and its reply, until replies tell
# Of a server that is away, or of a proxy before it.
_STATUS = {502, 503, 504, 529}
_KINDS = {"connect", "reset", *(f"http_{status}" for status in _STATUS)}


class RateLimiter:
    """Spreads requests evenly over a minute, without bursts after a pause.

    Args:
        rpm: Requests a minute, or None.
        tpm: Tokens a minute, of requests and replies together, or None.
    """

    def __init__(self, *, rpm: float | None = None, tpm: float | None = None) -> None:
        self._rpm, self._tpm = rpm, tpm
        self._turn = asyncio.Lock()
        self._next = 0.0  # when requests go by `rpm`
        self._tokens_next = 0.0  # when requests go by `tpm`
        self._paused_until = 0.0
        self._guess = float(_FIRST_GUESS)

    async def wait(self) -> None:
        """Wait until the next request may be sent; the caller sends it."""
        clock = asyncio.get_running_loop().time
        async with self._turn:
            while (left := max(self._next, self._tokens_next, self._paused_until) - clock()) > 0:
                await asyncio.sleep(left)
            if self._rpm is not None:
                self._next = clock() + _MINUTE / self._rpm
            if self._tpm is not None:
                self._tokens_next = clock() + self._guess * _MINUTE / self._tpm

    def record_usage(self, tokens: int) -> None:
        """Record the tokens of a request and its reply; 0 if they are not counted."""
        if self._tpm is not None and tokens:
            self._tokens_next += (tokens - self._guess) * _MINUTE / self._tpm
            self._guess = 0.9 * self._guess + 0.1 * tokens

    def pause(self, seconds: float) -> None:
        """Send nothing for some seconds."""
        self._paused_until = max(self._paused_until, asyncio.get_running_loop().time() + seconds)


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
