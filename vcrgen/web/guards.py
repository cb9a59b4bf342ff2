"""The outermost layer of a service: limits on size and rate, no posts from other sites, headers, the log."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from starlette.concurrency import run_in_threadpool
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from vcrgen.web import limits
from vcrgen.web.log import log_line
from vcrgen.web.rate import RateLimiter, client_network

HEADERS = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
}


BODY = "vcrgen.body"  # of a scope: the body that is being read


class BodyRefused(Exception):
    """A body is too large or comes too slowly, or too much comes at once; ``status`` is what is answered."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


class Guard:
    """The outermost layer of a service.

    Args:
        refuse: Makes the response to a refused request from its scope, a status and a sentence.
        policy: The content security policy of every page.
        max_bytes: Of a body; all that are being read together may have ``CONCURRENT_FACTOR`` times as many, and those
            of one address or sender half of that.
        has_token: True for a request that is let in by a token. Such requests are not counted here, as others at the
            same address could use up their number; the service counts the tokens that are wrong.
        anonymous: Keep addresses of clients, and paths behind their first part, out of the log.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        refuse: Callable[[Scope, int, str], ASGIApp],
        policy: str,
        max_bytes: int,
        requests_per_minute: int,
        has_token: Callable[[Scope], bool] = lambda scope: False,
        anonymous: bool = False,
    ) -> None:
        self._app = app
        headers = HEADERS | {"content-security-policy": policy}
        self._headers = [(name.encode(), value.encode()) for name, value in headers.items()]
        self._refuse = refuse
        self._max_bytes = max_bytes
        self._rate = RateLimiter(requests_per_minute, 60)
        self._has_token = has_token
        self._anonymous = anonymous
        self._reading: set[_Body] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check, answer and log one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began, status = time.monotonic(), 500
        body = _Body(scope, receive, self._max_bytes, self._reading)
        # HEAD is answered wherever GET is: the whole answer is made, and only its headers are sent.
        inner = {**scope, "method": "GET"} if scope["method"] == "HEAD" else scope

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                there = {name for name, _ in message["headers"]}
                more = [*self._headers, *([(b"connection", b"close")] if body.endless else [])]
                message["headers"] = [*message["headers"], *(pair for pair in more if pair[0] not in there)]
            elif inner is not scope:
                message = {**message, "body": b""}
            await send(message)

        try:
            app = self._app
            if refusal := self._check(scope, body):
                app = await run_in_threadpool(self._refuse, scope, *refusal)
            await app({**inner, BODY: body}, body.receive, sending)
        finally:
            self._reading.discard(body)
            if scope["path"] != "/health" or status != 200:
                path, who = _logged(scope["path"]), {"client": client_address(scope)}
                if self._anonymous:
                    path, who = "/".join(scope["path"].split("/")[:2])[:20], {}
                ms = round(1000 * (time.monotonic() - began), 1)
                log_line("request", method=scope["method"], path=path, status=status, ms=ms, **who)

    def _check(self, scope: Scope, body: _Body) -> tuple[int, str] | None:
        """Status and sentence for a request that is refused unread, or None."""
        if not self._has_token(scope):
            client = client_address(scope)
            if self._rate.is_full(client):
                return 429, "Too many requests from your address; wait a minute."
            self._rate.record(client)
        headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
        if scope["method"] not in ("GET", "HEAD", "OPTIONS") and not _same_site(headers):
            return 403, "This came from a page of another site; use the form of this one."
        return (
            (413, too_large_text(self._max_bytes))
            if body.length is not None and body.length > self._max_bytes
            else None
        )


class _Body:
    """The body of a request, cut off where it is too large or too slow, whatever its headers announce.

    ``reading`` has the bodies that are being read now, to which it adds itself.
    """

    def __init__(self, scope: Scope, receive: Receive, max_bytes: int, reading: set[_Body]) -> None:
        headers = dict(scope["headers"])
        announced = headers.get(b"content-length", b"" if b"transfer-encoding" in headers else b"0")
        self.length = int(announced) if announced.isdigit() and len(announced) <= 18 else None  # None: not announced
        self._receive = receive
        self._max_bytes = max_bytes
        self._reading = reading
        self._senders = {f"address {client_network(client_address(scope))}"}
        self._size = 0
        self._ended = self.length == 0
        self._slow = False
        self._until = time.monotonic() + limits.BODY_SECONDS

    @property
    def endless(self) -> bool:
        """Whether so much of it may be left that the connection is better closed than read to its end."""
        return not self._ended and (
            self._slow or self.length is None or self.length > limits.DRAIN_FACTOR * self._max_bytes
        )

    async def receive(self) -> Message:
        """The next part of the body.

        Raises:
            BodyRefused: There is more than there may be, it does not come, or too much comes from everybody.
        """
        message = await self._receive() if self._ended else await self._in_time()
        self._size += len(message.get("body", b""))
        self._ended = not message.get("more_body", False)
        if self._size > self._max_bytes:
            raise BodyRefused(413, too_large_text(self._max_bytes))
        self._reading.add(self)
        self._check_room()
        return message

    def add_sender(self, sender: str) -> None:
        """Count the body as one of a sender, too, who is known by now; see `name_sender`."""
        self._senders.add(sender)
        self._check_room()

    def _check_room(self) -> None:
        room = limits.CONCURRENT_FACTOR * self._max_bytes
        own = [sum(body._size for body in self._reading if sender in body._senders) for sender in sorted(self._senders)]
        if max(own) <= room // 2 and sum(body._size for body in self._reading) <= room:
            return
        self._reading.discard(self)  # now: the others need not wait until this one has been told
        text = "So much is being handed in just now that there is no room; try again in a minute."
        if max(own) > room // 2:
            text = "You are handing in so much at once that there is no room for others; try again in a minute."
        raise BodyRefused(503, text)

    async def _in_time(self) -> Message:
        seconds = min(limits.PAUSE_SECONDS, self._until - time.monotonic())
        try:
            return await asyncio.wait_for(self._receive(), seconds)
        except TimeoutError:
            self._slow = True
            raise BodyRefused(408, "The file came too slowly; try again over a faster connection.") from None


def name_sender(scope: Scope, sender: str) -> None:
    """Say whose a request is whose body is being read: all of one sender may have half of the room for bodies.

    Raises:
        BodyRefused: The sender's bodies have more.
    """
    if (body := scope.get(BODY)) is not None:
        body.add_sender(sender)


def too_large_text(max_bytes: int) -> str:
    """The sentence for a body of more bytes than it may have."""
    return f"The file is larger than {(max_bytes - limits.FORM_BYTES) >> 20} MiB, which is the most that is taken here."


def client_address(scope: Scope | Any) -> str:
    """The address that a request came from; that of a proxy's header only where ``serve --proxy`` trusts it."""
    client = scope.get("client")
    return client[0] if client else "unknown"


def _same_site(headers: dict[bytes, str]) -> bool:
    """Whether a post comes from this site's own pages, or from no page at all.

    No cookie lets anybody act, so that a page of another site could act for nobody; this keeps it from acting at all.
    """
    if (site := headers.get(b"sec-fetch-site")) is not None:
        return site in ("same-origin", "none")
    origin = headers.get(b"origin")
    try:
        return origin is None or urlsplit(origin).netloc == headers.get(b"host")
    except ValueError:
        return False


def _logged(path: str) -> str:
    """A path for the log, with only the beginning of a submission's id, which is a key to its status."""
    head, mark, rest = path.partition("submission")
    return (head + mark + rest[:10] if mark else path)[:200]
