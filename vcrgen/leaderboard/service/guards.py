"""What every request passes first: limits on size and rate, no posts from other sites, headers, one line in the log."""

from __future__ import annotations

import time
from collections import defaultdict, deque
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import urlsplit

from starlette.concurrency import run_in_threadpool
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from vcrgen.leaderboard.site.render import policy
from vcrgen.leaderboard.worker import log_line

FORM_BYTES = 64 << 10  # for everything in a form that is not the file
CLIENTS = 20_000
HEADERS = {
    "content-security-policy": policy(),
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
}

# Answers a refused request: status, sentence, more headers.
Refuse = Callable[[Scope, int, str], ASGIApp]


class Rate:
    """How often each client did something within a time.

    Args:
        most: How often it may.
        seconds: Within how long.
    """

    def __init__(self, most: int, seconds: float) -> None:
        self._most = most
        self._seconds = seconds
        self._times: dict[str, deque[float]] = defaultdict(deque)

    def full(self, client: str) -> bool:
        """Whether a client has done it as often as it may."""
        times = self._times.get(client)
        if times is None:
            return False
        while times and times[0] < time.monotonic() - self._seconds:
            times.popleft()
        if not times:
            del self._times[client]
        return len(times) >= self._most

    def note(self, client: str) -> None:
        """It did it once more."""
        if len(self._times) >= CLIENTS and client not in self._times:
            self._times.pop(next(iter(self._times)))
        self._times[client].append(time.monotonic())


class TooLarge(Exception):
    """The body of a request is larger than the largest upload."""


class Guard:
    """The outermost layer of the service.

    Args:
        app: The rest of it.
        refuse: Makes the answer to a refused request.
        most: Bytes a body may have.
        a_minute: Requests of one client in a minute.
    """

    def __init__(self, app: ASGIApp, *, refuse: Refuse, most: int, a_minute: int) -> None:
        self._app = app
        self._refuse = refuse
        self._most = most
        self._rate = Rate(a_minute, 60)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began, status, started = time.monotonic(), 500, False

        async def sending(message: Message) -> None:
            nonlocal status, started
            if message["type"] == "http.response.start":
                status, started = message["status"], True
                there = {name for name, _ in message["headers"]}
                more = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
                message["headers"] = [*message["headers"], *(pair for pair in more if pair[0] not in there)]
            await send(message)

        try:
            if refusal := self._check(scope):
                app = await run_in_threadpool(self._refuse, scope, *refusal)
                await app(scope, receive, sending)
                return
            await self._app(scope, self._counted(receive), sending)
        except TooLarge:
            if not started:
                app = await run_in_threadpool(self._refuse, scope, 413, self._too_large())
                await app(scope, receive, sending)
        finally:
            if scope["path"] != "/health" or status != 200:
                log_line(
                    "request", method=scope["method"], path=_logged(scope["path"]), status=status,
                    ms=round(1000 * (time.monotonic() - began), 1), client=client_of(scope),
                )  # fmt: skip

    def _check(self, scope: Scope) -> tuple[int, str] | None:
        """Why a request is refused unread, or None."""
        client = client_of(scope)
        if self._rate.full(client):
            return 429, "Too many requests from your address; wait a minute."
        self._rate.note(client)
        headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
        if scope["method"] not in ("GET", "HEAD", "OPTIONS") and not _same_site(headers):
            return 403, "This came from a page of another site; use the form of this board."
        length = headers.get(b"content-length", "0")
        if not length.isdigit() or int(length[:20]) > self._most:
            return 413, self._too_large()
        return None

    def _counted(self, receive: Receive) -> Callable[[], Awaitable[Message]]:
        """The body, cut off where it is larger than it may be, whatever its headers said."""
        size = 0

        async def receiving() -> Message:
            nonlocal size
            message = await receive()
            size += len(message.get("body", b""))
            if size > self._most:
                raise TooLarge
            return message

        return receiving

    def _too_large(self) -> str:
        return f"The file is larger than {(self._most - FORM_BYTES) >> 20} MiB, which is the most this board takes."


def client_of(scope: Scope | Any) -> str:
    """The address that a request came from; a proxy's word for it counts only where ``serve --proxy`` trusts it."""
    client = scope.get("client")
    return client[0] if client else "unknown"


def _same_site(headers: dict[bytes, str]) -> bool:
    """Whether a post comes from this site's own pages, or from no page at all.

    There are no cookies, so that a page of another site could act for nobody; this keeps it from acting at all.
    """
    if (site := headers.get(b"sec-fetch-site")) is not None:
        return site in ("same-origin", "none")
    origin = headers.get(b"origin")
    return origin is None or urlsplit(origin).netloc == headers.get(b"host")


def _logged(path: str) -> str:
    """A path for the log: the id of a submission is a key to its status, so only its beginning."""
    head, mark, rest = path.partition("submission")
    return (head + mark + rest[:10] if mark else path)[:200]
