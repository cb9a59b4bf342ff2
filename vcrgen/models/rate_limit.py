"""A rate limiter: requests a minute, tokens a minute, and pauses that a server asks for."""

import asyncio

_MINUTE = 60.0
_FIRST_GUESS = 1500  # tokens of a request and its reply, until replies tell


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
