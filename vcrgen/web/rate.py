"""How often each client may do something."""

from __future__ import annotations

import ipaddress
import threading
import time
from collections import defaultdict, deque

CLIENTS = 20_000  # that are remembered; the ones that came first are forgotten


class Rate:
    """How often each client did something; it may do it at most ``most`` times in ``seconds``.

    A client is an address, of which :func:`site_of` says what counts as one.
    """

    def __init__(self, most: int, seconds: float) -> None:
        self._most = most
        self._seconds = seconds
        self._times: dict[str, deque[float]] = defaultdict(deque)
        self._lock = threading.Lock()

    def full(self, client: str) -> bool:
        """Whether a client has done it as often as it may."""
        client = site_of(client)
        with self._lock:
            times = self._times.get(client)
            if times is None:
                return False
            while times and times[0] < time.monotonic() - self._seconds:
                times.popleft()
            if not times:
                del self._times[client]
            return len(times) >= self._most

    def note(self, client: str) -> None:
        """Count one more time for a client."""
        client = site_of(client)
        with self._lock:
            if len(self._times) >= CLIENTS and client not in self._times:
                self._times.pop(next(iter(self._times)))
            self._times[client].append(time.monotonic())


def site_of(address: str) -> str:
    """What counts as one address: of IPv6 its first 64 bits, as one client has all of those."""
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if parsed.version == 4 or parsed.ipv4_mapped:
        return address
    return str(ipaddress.ip_address(int(parsed) >> 64 << 64))
