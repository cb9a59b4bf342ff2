"""When requests to a server may be sent: the user's limits a minute, what the server says, and how often it refuses."""

import asyncio
from collections import deque

from vcrgen.models.waits import Wait, Waits

_MINUTE = 60.0
_FIRST_GUESS = 1500  # tokens of a request and its reply, until replies tell
_OBSERVED = 1000  # requests from which the rate before the first refusal is taken
_FEWER = 0.7  # of the rate, after a refusal
_MORE = 0.2  # of the rate before the first refusal, by which a second of replies raises the rate
_SLOWEST = 0.1  # requests a second


class RateLimiter:
    """Spreads requests evenly, without bursts after a pause.

    The rate is that of the user's limits. A refusal for too many requests lowers it, each reply raises it a little
    (additive increase, multiplicative decrease). What was refused waits for itself; others are only sent less often.

    Args:
        waits: Is told of what is held.
        rpm: Requests a minute, or None.
        tpm: Tokens a minute, of requests and replies together, or None.

    Attributes:
        tokens: Tokens of a request and its reply, as replies tell.
    """

    def __init__(self, waits: Waits, *, rpm: float | None = None, tpm: float | None = None) -> None:
        self._waits, self._rpm, self._tpm = waits, rpm, tpm
        self._turn = asyncio.Lock()
        self._next = 0.0  # when requests go by `rpm` and by the rate
        self._tokens_next = 0.0  # when requests go by `tpm`
        self._held_until = 0.0  # when the server's own limit has room again
        self._rate: float | None = None  # requests a second; None until the server refuses one
        self._first_rate = 0.0  # before the server refused one
        self._slowed = 0.0  # when it was lowered last
        self._sent = deque[float](maxlen=_OBSERVED)  # times of the last requests
        self.tokens = float(_FIRST_GUESS)

    async def wait(self) -> float:
        """Wait until the next request may be sent, and return the time; the caller sends it."""
        clock = asyncio.get_running_loop().time
        async with self._turn:
            while (left := max(self._next, self._tokens_next, self._held_until) - clock()) > 0:
                if self._held_until > clock():
                    with self._waits.waiting(Wait("the server's limit is used up (x-ratelimit)", self._held_until)):
                        await asyncio.sleep(left)
                else:
                    await asyncio.sleep(left)
            now = clock()
            gaps = [_MINUTE / self._rpm] if self._rpm is not None else []
            gaps += [1 / self._rate] if self._rate is not None else []
            if gaps:
                self._next = now + max(gaps)
            if self._tpm is not None:
                self._tokens_next = now + self.tokens * _MINUTE / self._tpm
            self._sent.append(now)
        return now

    def record_reply(self, tokens: int) -> None:
        """Record a reply with the tokens of it and its request, 0 if they are not counted; the rate rises."""
        if self._tpm is not None and tokens:
            self._tokens_next += (tokens - self.tokens) * _MINUTE / self._tpm
        if tokens:
            self.tokens = 0.9 * self.tokens + 0.1 * tokens
        if self._rate is not None:
            self._rate += _MORE * self._first_rate / max(self._rate, 1.0)

    def record_refusal(self, sent: float) -> None:
        """Lower the rate, as a request that was sent at this time was refused; those sent together lower it once."""
        if sent < self._slowed:
            return
        now = asyncio.get_running_loop().time()
        if self._rate is None:
            self._rate = self._first_rate = len(self._sent) / max(1.0, now - self._sent[0])
        self._rate = max(_FEWER * self._rate, _SLOWEST)
        self._slowed = now
        self._next = max(self._next, now + 1 / self._rate)

    def hold(self, seconds: float) -> None:
        """Send nothing for some seconds, as nothing is left of the server's limit."""
        self._held_until = max(self._held_until, asyncio.get_running_loop().time() + seconds)
