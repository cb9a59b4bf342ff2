"""Limits of connections: how many one address may hold, and how long each may take for a request.

uvicorn waits for the rest of a header for ever, and answers nobody once it has its most connections. Here a connection
of which no whole request has come has ``HEADER_SECONDS``; and where an address holds as many as it may, the oldest of
those that wait is closed for the new one. So whoever sends a request at once is answered, also from that address.
"""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict

from uvicorn.protocols.http.h11_impl import H11Protocol

from vcrgen.web import limits
from vcrgen.web.log import log_line
from vcrgen.web.rate import client_network

LOG_SECONDS = 60.0  # between two lines of the log about connections that were closed


class ConnectionLimits:
    """The connections of a service, by address; behind a proxy all may come from one address."""

    def __init__(
        self,
        *,
        total: int = limits.MAX_CONNECTIONS,
        per_address: int = limits.MAX_CONNECTIONS_PER_ADDRESS,
        behind_proxy: bool = False,
    ) -> None:
        self._max = total
        self._max_per_address = total if behind_proxy else per_address
        self._of: dict[str, dict[LimitedProtocol, None]] = defaultdict(dict)  # the oldest first
        self._count = 0
        self._closed = 0
        self._logged = -LOG_SECONDS

    def add(self, new: LimitedProtocol) -> None:
        """Add a new connection; if there are too many, one that waits is closed for it, or it is closed itself."""
        crowd = mine = self._of[new.address]
        too_many = len(mine) >= self._max_per_address
        if not too_many and self._count >= self._max:
            crowd, too_many = max(self._of.values(), key=len), True
        # Those that have never sent a whole request go first: a visitor may be reading the page that came before.
        victim = next((one for one in crowd if one.cycle is None), None) or next(
            (one for one in crowd if one.is_idle), new
        )
        mine[new] = None
        self._count += 1
        if too_many:
            self._log(new.address)
            victim.close()

    def remove(self, old: LimitedProtocol) -> None:
        """Remove a connection that is closed."""
        mine = self._of.get(old.address, {})
        if old in mine:
            del mine[old]
            self._count -= 1
        if not mine:
            self._of.pop(old.address, None)

    def _log(self, address: str) -> None:
        self._closed += 1
        if time.monotonic() - self._logged >= LOG_SECONDS:
            log_line("too many connections", client=address, closed=self._closed, open=self._count)
            self._logged, self._closed = time.monotonic(), 0


class LimitedProtocol(H11Protocol):
    """One connection, with limits on its time; ``counted`` has all of them."""

    counted: ConnectionLimits
    address = ""
    _timer: asyncio.TimerHandle | None = None
    _answering = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the time for the first request."""
        super().connection_made(transport)
        self.address = client_network(self.client[0] if self.client else "")
        self._allow(limits.HEADER_SECONDS)
        self.counted.add(self)

    def data_received(self, data: bytes) -> None:
        """Take in bytes; with them a request may be whole."""
        super().data_received(data)
        if self._answering is self.is_idle:
            self._changed()

    def on_response_complete(self) -> None:
        """Go on after an answer; the next request may be there already."""
        super().on_response_complete()
        self._changed()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget a connection that is closed."""
        super().connection_lost(exc)
        self.counted.remove(self)
        if self._timer is not None:
            self._timer.cancel()

    @property
    def is_idle(self) -> bool:
        """Return true if no request is being answered."""
        return self.cycle is None or self.cycle.response_complete

    def close(self) -> None:
        """Close the connection at once."""
        self.counted.remove(self)
        self.transport.abort()

    def _changed(self) -> None:
        self._answering = not self.is_idle
        self._allow(limits.HEADER_SECONDS if self.is_idle else limits.EXCHANGE_SECONDS)

    def _allow(self, seconds: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self.loop.call_later(seconds, self.close)


def protocol_of(connections: ConnectionLimits) -> type[LimitedProtocol]:
    """Return the protocol for uvicorn's option ``http``, whose connections are counted by one object."""
    return type("CountedProtocol", (LimitedProtocol,), {"counted": connections})
