"""Rate limits per client."""

import ipaddress
import threading
import time
from collections import defaultdict, deque

from vcrgen.web import limits


class RateLimiter:
    """Counts the events of each client, of which ``limit`` are allowed in ``seconds``.

    A client is an address, or the network that `client_network` gives.
    """

    def __init__(self, limit: int, seconds: float) -> None:
        self._limit = limit
        self._seconds = seconds
        self._times: dict[str, deque[float]] = defaultdict(deque)
        self._lock = threading.Lock()

    def is_full(self, client: str) -> bool:
        """Whether a client has reached the limit."""
        client = client_network(client)
        with self._lock:
            times = self._times.get(client)
            if times is None:
                return False
            while times and times[0] < time.monotonic() - self._seconds:
                times.popleft()
            if not times:
                del self._times[client]
            return len(times) >= self._limit

    def record(self, client: str) -> None:
        """Count one event of a client."""
        client = client_network(client)
        with self._lock:
            # Whoever has many addresses must not fill the memory with them.
            if len(self._times) >= limits.MAX_CLIENTS and client not in self._times:
                self._times.pop(next(iter(self._times)))
            self._times[client].append(time.monotonic())


def client_network(address: str) -> str:
    """The address, or the first 64 bits of an IPv6 address, as one client has all of those."""
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if parsed.version == 4:
        return address
    if parsed.ipv4_mapped:
        return str(parsed.ipv4_mapped)
    return str(ipaddress.ip_address(int(parsed) >> 64 << 64))
