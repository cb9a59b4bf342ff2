"""Several servers of one model: which of them gets the next call, and for how long one that fails gets none."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from vcrgen.models.chat import CallError
from vcrgen.models.connection import Connection
from vcrgen.work.progress import ProgressListener

_POLL_SECONDS = 0.05  # between looks at a server that cools down and answers one call to see whether it is back


class Balancer:
    """Gives each call a server: the one with the fewest calls under way for its weight.

    A server that fails cools down. After that it gets one call alone, until it answers again. A single server never
    cools down, as there is no other one.

    Args:
        servers: The connections.
        listener: Receives a sentence about the first failure of each server.
    """

    def __init__(self, servers: Sequence[Connection], listener: ProgressListener) -> None:
        self._servers, self._listener = servers, listener
        self._failures = dict.fromkeys(servers, 0)  # since the last reply
        self._cool_until = dict.fromkeys(servers, 0.0)
        self._calls = dict.fromkeys(servers, 0)  # ever
        self._active = dict.fromkeys(servers, 0)  # calls under way
        self._warned: set[Connection] = set()
        self._turn = asyncio.Lock()

    @property
    def names(self) -> str:
        """Return the hosts, for people."""
        return ", ".join(server.address.host for server in self._servers)

    @property
    def has_others(self) -> bool:
        """Return whether there is more than one server."""
        return len(self._servers) > 1

    @property
    def was_reached(self) -> bool:
        """Return whether a server ever answered, or may still do so as no call of it has ended."""
        return any(server.reached or not self._failures[server] for server in self._servers)

    @property
    def all_failed(self) -> bool:
        """Return whether the last call of each server failed."""
        return all(self._failures.values())

    @asynccontextmanager
    async def take(self, host: str = "") -> AsyncIterator[Connection]:
        """Wait for a server that does not cool down, and yield it for one call.

        Args:
            host: The host to take if it does not cool down.
        """
        if not (ready := self._ready()):
            async with self._turn:
                while not (ready := self._ready()):
                    await asyncio.sleep(max(min(self._cool_until.values()) - _now(), _POLL_SECONDS))
        preferred = [server for server in ready if server.address.host == host]
        chosen = min(preferred or ready, key=lambda one: ((self._active[one] + 1) / one.weight, self._calls[one]))
        self._calls[chosen] += 1
        self._active[chosen] += 1
        try:
            yield chosen
        finally:
            self._active[chosen] -= 1

    def note_reply(self, server: Connection) -> None:
        """End the cooling down of a server that answered."""
        self._failures[server] = 0
        self._cool_until[server] = 0.0

    def note_failure(self, server: Connection, error: CallError, first_pause: float, longest_pause: float) -> None:
        """Let a server cool down: for as long as it asks, or twice as long as the last time.

        Args:
            server: The server.
            error: Its failure; one that refuses what is in a request is none.
            first_pause: Seconds after the first failure.
            longest_pause: Limit of the seconds.
        """
        if error.refused:
            return
        if self.has_others and server not in self._warned and error.wait is None:
            self._warned.add(server)
            self._listener.warn(f"{server.address.host}: {error.detail}; meanwhile other endpoints are asked.")
        if _now() >= self._cool_until[server]:  # calls that fail together count once
            self._failures[server] += 1
            pause = min(first_pause * 2 ** min(self._failures[server] - 1, 10), longest_pause)
            self._cool_until[server] = _now() + pause
        if error.wait is not None:
            self._cool_until[server] = max(self._cool_until[server], _now() + error.wait)

    def _ready(self) -> list[Connection]:
        if not self.has_others:
            return list(self._servers)
        now = _now()
        return [
            server
            for server in self._servers
            if not self._failures[server] or (now >= self._cool_until[server] and not self._active[server])
        ]

    async def close(self) -> None:
        """Close all connections."""
        for server in self._servers:
            await server.close()


def _now() -> float:
    return asyncio.get_running_loop().time()
