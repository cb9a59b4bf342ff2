"""How often each client may do something."""

from __future__ import annotations

import threading
import time
from collections import defaultdict, deque

CLIENTS = 20_000  # that are remembered; the ones that came first are forgotten


class Rate:
    """How often each client did something; it may do it at most ``most`` times in ``seconds``."""

    def __init__(self, most: int, seconds: float) -> None:
        self._most = most
        self._seconds = seconds
        self._times: dict[str, deque[float]] = defaultdict(deque)
        self._lock = threading.Lock()

    def full(self, client: str) -> bool:
        """Whether a client has done it as often as it may."""
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
        with self._lock:
            if len(self._times) >= CLIENTS and client not in self._times:
                self._times.pop(next(iter(self._times)))
            self._times[client].append(time.monotonic())
