"""When the next request may be sent: so many a minute, so many tokens a minute, and pauses that a server asks for."""

import asyncio

_MINUTE = 60.0
_FIRST_GUESS = 1500  # tokens of a request and its reply, until replies tell


class Pace:
    """Lets requests go one after another, evenly spread: never two at once because of a pause before them.

    Args:
        rpm: Requests a minute, or None for as many as like.
        tpm: Tokens a minute, of requests and replies together, or None.
    """

    def __init__(self, *, rpm: float | None = None, tpm: float | None = None) -> None:
        self._rpm, self._tpm = rpm, tpm
        self._turn = asyncio.Lock()
        self._next = 0.0  # when requests go by `rpm`
        self._tokens_next = 0.0  # when requests go by `tpm`
        self._held_until = 0.0
        self._guess = float(_FIRST_GUESS)

    async def wait(self) -> None:
        """Wait until a request may be sent, which it has to be then."""
        clock = asyncio.get_running_loop().time
        async with self._turn:
            while (left := max(self._next, self._tokens_next, self._held_until) - clock()) > 0:
                await asyncio.sleep(left)
            if self._rpm is not None:
                self._next = clock() + _MINUTE / self._rpm
            if self._tpm is not None:
                self._tokens_next = clock() + self._guess * _MINUTE / self._tpm

    def used(self, tokens: int) -> None:
        """Say how many tokens a request and its reply were, where the server counts them."""
        if self._tpm is not None and tokens:
            self._tokens_next += (tokens - self._guess) * _MINUTE / self._tpm
            self._guess = 0.9 * self._guess + 0.1 * tokens

    def hold(self, seconds: float) -> None:
        """Let nobody send anything for some seconds."""
        self._held_until = max(self._held_until, asyncio.get_running_loop().time() + seconds)
