"""Who is connected: how many connections one address may hold, and how long one may keep a request to itself.

uvicorn waits for the rest of a header for ever, and answers nobody once it has its most connections. Here a connection
of which no whole request has come has ``HEADER_SECONDS``; and where an address holds as many as it may, the oldest of
those that wait is closed for the new one. So whoever sends a request at once is answered, also from that address.
"""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict

from uvicorn.protocols.http.h11_impl import H11Protocol

from vcrgen.web.log import log_line
from vcrgen.web.rate import site_of

MOST = 1000  # connections
MOST_OF_ONE = 100  # connections of one address
HEADER_SECONDS = 10.0  # for a request to come, and for what is left of a body that was refused
EXCHANGE_SECONDS = 900.0  # for a request whose header has come: its body and its answer
SAID_SECONDS = 60.0  # between two lines of the log about connections that were closed


class Connections:
    """The connections of a service, by address; with ``one_address`` all may come from one, as from a proxy."""

    def __init__(self, *, most: int = MOST, of_one: int = MOST_OF_ONE, one_address: bool = False) -> None:
        self._most = most
        self._of_one = most if one_address else of_one
        self._of: dict[str, dict[GuardedProtocol, None]] = defaultdict(dict)  # the oldest first
        self._count = 0
        self._closed = 0
        self._said = -SAID_SECONDS

    def enter(self, new: GuardedProtocol) -> None:
        """Take a new connection; if there are too many, one that waits is closed for it, or it is closed itself."""
        crowd = mine = self._of[new.address]
        too_many = len(mine) >= self._of_one
        if not too_many and self._count >= self._most:
            crowd, too_many = max(self._of.values(), key=len), True
        # Those that have never sent a whole request go first: a visitor may be reading the page that came before.
        victim = next((one for one in crowd if one.cycle is None), None) or next(
            (one for one in crowd if one.waits), new
        )
        mine[new] = None
        self._count += 1
        if too_many:
            self._tell(new.address)
            victim.drop()

    def leave(self, old: GuardedProtocol) -> None:
        """Forget a connection that is closed."""
        mine = self._of.get(old.address, {})
        if old in mine:
            del mine[old]
            self._count -= 1
        if not mine:
            self._of.pop(old.address, None)

    def _tell(self, address: str) -> None:
        self._closed += 1
        if time.monotonic() - self._said >= SAID_SECONDS:
            log_line("too many connections", client=address, closed=self._closed, open=self._count)
            self._said, self._closed = time.monotonic(), 0


class GuardedProtocol(H11Protocol):
    """One connection, with limits on its time; ``limits`` has all of them."""

    limits: Connections
    address = ""
    _timer: asyncio.TimerHandle | None = None
    _answering = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """A connection was opened."""
        super().connection_made(transport)
        self.address = site_of(self.client[0] if self.client else "")
        self._allow(HEADER_SECONDS)
        self.limits.enter(self)

    def data_received(self, data: bytes) -> None:
        """Some bytes came; perhaps with them a request is whole."""
        super().data_received(data)
        if self._answering is self.waits:
            self._changed()

    def on_response_complete(self) -> None:
        """A request was answered; perhaps the next one is there already."""
        super().on_response_complete()
        self._changed()

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection is closed."""
        super().connection_lost(exc)
        self.limits.leave(self)
        if self._timer is not None:
            self._timer.cancel()

    @property
    def waits(self) -> bool:
        """Whether there is no request that is being answered."""
        return self.cycle is None or self.cycle.response_complete

    def drop(self) -> None:
        """Close the connection at once."""
        self.limits.leave(self)
        self.transport.abort()

    def _changed(self) -> None:
        self._answering = not self.waits
        self._allow(HEADER_SECONDS if self.waits else EXCHANGE_SECONDS)

    def _allow(self, seconds: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self.loop.call_later(seconds, self.drop)


def protocol_of(limits: Connections) -> type[GuardedProtocol]:
    """The protocol for uvicorn's option ``http``, whose connections are counted by one object."""
    return type("LimitedProtocol", (GuardedProtocol,), {"limits": limits})
