"""Connections to one server: the bytes of a request go there, and a reply or an error of a known type comes back.

Requests keep to the server's limits a minute (`vcrgen.models.rate`). Whether a server is away is told here; how long
that is waited out, by the caller.
"""

from __future__ import annotations

import asyncio
import os
import socket
import ssl
import time
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import aclosing, contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from vcrgen.core.errors import PipelineError
from vcrgen.core.extras import needs_extra
from vcrgen.models import chat, image_generation
from vcrgen.models.address import Address, Key
from vcrgen.models.base import Reply
from vcrgen.models.chat import CallError
from vcrgen.models.rate import RateLimiter
from vcrgen.models.wait_headers import retry_after, used_up
from vcrgen.models.waits import Patience, Waits

if TYPE_CHECKING:
    from httpx2 import AsyncHTTPTransport, Response

CONNECT_SECONDS = 10.0
# A connection that was idle for longer is not used again: many servers close theirs after five seconds.
IDLE_SECONDS = 4.0
ANSWERS = "the server answers "  # how errors begin, before the status
_AWAY = {502, 503, 504, 529}  # of a server that is away, or of a proxy before it
_OUTAGE_KINDS = {"connect", "reset", *(f"http_{status}" for status in _AWAY)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Limits of requests to a server."""

    concurrency: int = 8  # requests under way
    rpm: float | None = None  # requests a minute
    tpm: float | None = None  # tokens a minute, of requests and replies together
    timeout: float = 300.0  # seconds for a whole reply
    patience: float = 600.0  # seconds without a reply that are waited out


class Connection:
    """The connections to one server, for use in one event loop.

    Args:
        key: The key to it, if it needs one.
        waits: Is told of what is waited for.

    Attributes:
        patience: How long the run goes on without a reply.
        reached: Whether the server ever answered, whatever it was.
    """

    def __init__(self, address: Address, key: Key | None, limits: Limits, waits: Waits) -> None:
        httpx2 = load_httpx()
        self.patience = Patience(limits.patience)
        self.reached = False
        self._rate = RateLimiter(waits, rpm=limits.rpm, tpm=limits.tpm)
        self._waits = waits
        self._responses = 0  # of the server, but for those that stand for an outage
        self._deadlines: set[asyncio.Timeout] = set()  # of the calls that wait for a response
        self._silent_since = 0.0  # the last reply, or the first call since there were none
        self._address, self._limits = address, limits
        self._redact = key.redact if key else lambda text: text
        self._headers = httpx2.Headers(_headers(address, key))
        # `call` limits the whole, so that no alarm is set for each step of a call.
        timeout = httpx2.Timeout(None, connect=min(CONNECT_SECONDS, limits.timeout))
        self._extensions = {"timeout": timeout.as_dict()}
        # Transports without a client, which takes a third of a call's time for redirects and cookies. Each call has one
        # of its own: a pool of many connections looks at all of them twice a call.
        self._options = _transport_options(address)
        self._transports: list[AsyncHTTPTransport] = []
        self._idle: list[AsyncHTTPTransport] = []  # the last one is the last used
        self._url = httpx2.URL(address.url)

    async def close(self) -> None:
        """Close the connections."""
        for transport in self._transports:
            await transport.aclose()

    @contextmanager
    def _transport(self) -> Iterator[AsyncHTTPTransport]:
        """Take a transport that no other call uses."""
        if self._idle:
            transport = self._idle.pop()
        else:
            transport = load_httpx().AsyncHTTPTransport(**self._options)
            self._transports.append(transport)
        try:
            yield transport
        finally:
            self._idle.append(transport)

    @contextmanager
    def _waits_for_response(self, deadline: asyncio.Timeout) -> Iterator[None]:
        self._deadlines.add(deadline)
        try:
            yield
        finally:
            self._deadlines.remove(deadline)

    async def watch(self) -> None:
        """End the calls of a server that is silent for as long as the patience; runs until it is cancelled."""
        clock = asyncio.get_running_loop().time
        while self.patience.seconds:
            left = self.patience.seconds
            if self._deadlines:
                left += self._silent_since - clock()
            if left > 0:
                await asyncio.sleep(left)
                continue
            self.patience.begin(self._silent_since)
            for deadline in (deadline for deadline in self._deadlines if not deadline.expired()):
                deadline.reschedule(clock())
            await asyncio.sleep(1.0)  # in which they end

    async def call(self, body: bytes, *, picture: bool) -> tuple[Reply, bytes]:
        """Send the bytes of a request once, when its turn has come; return the reply and its bytes.

        Args:
            picture: Whether a picture is requested.

        Raises:
            CallError: There is no reply.
        """
        sent = await self._rate.wait()
        if not self._deadlines:
            self._silent_since = sent
        responses = self._responses
        try:
            with self._waits.under_way():
                reply, data, headers = await self._call(body, picture)
        except CallError as error:
            # A call that fails while others get answers may be the request that breaks the connection.
            is_outage = error.kind in _OUTAGE_KINDS and self._responses == responses > 0
            error.in_outage = is_outage and self.patience.seconds > 0
            if error.busy or error.wait is not None:
                self._rate.record_refusal(sent)
            raise
        self.patience.end()
        self._silent_since = asyncio.get_running_loop().time()
        self._waits.note_reply()
        self._rate.record_reply(reply.usage.get("input", 0) + reply.usage.get("output", 0))
        if seconds := used_up(headers, self._rate.tokens, time.time()):
            self.patience.begin()
            self._rate.hold(min(seconds, self.patience.left))
        return reply, data

    async def _call(self, body: bytes, picture: bool) -> tuple[Reply, bytes, Mapping[str, str]]:
        import httpx2

        protocol: Any = image_generation if picture else chat
        began = time.perf_counter()
        try:
            async with asyncio.timeout(self._limits.timeout) as deadline:
                with self._waits_for_response(deadline), self._transport() as transport:
                    sent = httpx2.Request(
                        "POST", self._url, headers=self._headers, content=body, extensions=self._extensions
                    )
                    async with aclosing(await transport.handle_async_request(sent)) as response:
                        data = await _read(response, protocol.MAX_REPLY_BYTES)
        except httpx2.ConnectTimeout as error:
            raise _not_connected(error, self._address.option) from None
        except (TimeoutError, httpx2.TimeoutException):
            waited = min(self._limits.timeout, max(round(time.perf_counter() - began), 1))
            raise CallError("timeout", f"no whole reply within {waited:g} s") from None
        except httpx2.ConnectError as error:
            raise _not_connected(error, self._address.option) from None
        except httpx2.ProxyError as error:
            detail = f"the proxy of HTTPS_PROXY refuses it ({chat.plain_line(str(error))}); mend it, or set NO_PROXY"
            raise CallError("connect", detail) from None
        except httpx2.TransportError:
            raise CallError("reset", "the connection was broken off") from None
        self.reached = True
        self._responses += response.status_code not in _AWAY
        if response.status_code != 200:
            if filtered := chat.filtered_reply(data, self._address.host):
                return filtered, data, response.headers
            raise self._refusal(response, data, picture)
        reply = protocol.parse_reply(data, self._address, self._redact)
        return replace(reply, seconds=round(time.perf_counter() - began, 3)), data, response.headers

    def _refusal(self, response: Response, data: bytes, picture: bool) -> CallError:
        """Error of a response whose status is not 200, by what it means for the next try."""
        status = response.status_code
        sentence = chat.error_sentence(data, self._redact)
        detail = f"{ANSWERS}{status}" + (f": {sentence}" if sentence else "")
        if 300 <= status < 400:
            option = self._address.option
            detail = f"{ANSWERS}{status}, a redirect; give {option} the address where it leads to"
        if advice := chat.TO_MEND.get(status):
            detail += f" ({advice.format(option=self._address.option, key=self._address.key_option)})"
        again = status >= 500 or (status in chat.TRIED_AGAIN and not chat.is_out_of_quota(data))
        unknown = image_generation.refused_names(status, data) if picture else frozenset()
        wait = retry_after(response.headers, time.time()) if again else None
        refused = status in chat.REFUSED and not chat.is_out_of_quota(data)
        return CallError(
            f"http_{status}",
            detail,
            retryable=again,
            refused=refused,
            wait=wait,
            unknown=unknown,
            busy=again and status == chat.BUSY,
        )


def load_httpx() -> Any:
    """Import the HTTP client; a PipelineError if it is not installed."""
    try:
        import httpx2
    except ImportError:
        raise PipelineError(needs_extra("A model behind an address", "predict")) from None
    return httpx2


def _headers(address: Address, key: Key | None) -> dict[str, str]:
    """Headers of every request; compressed replies are not taken, as their size is not known before."""
    headers = {"Content-Type": "application/json", "Accept": "application/json", "Accept-Encoding": "identity"}
    return headers | {"User-Agent": "vcrgen"} | (key.header(address.kind) if key else {})


def _transport_options(address: Address) -> dict[str, Any]:
    """Options of transports to a server, each of which makes one call at a time."""
    httpx2 = load_httpx()
    return {
        "limits": httpx2.Limits(max_connections=1, max_keepalive_connections=1, keepalive_expiry=IDLE_SECONDS),
        # Without encryption, a context that trusts nobody, as reading all certificates takes longer than some runs.
        "verify": httpx2.create_ssl_context() if address.is_encrypted else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT),
        # The proxies and certificates of the user's environment; what is not encrypted goes through no proxy.
        "trust_env": address.is_encrypted,
        "proxy": _proxy_for(address),
    }


def _proxy_for(address: Address) -> str | None:
    """Proxy that the environment names for a server; none for plain http, which is local."""
    if not address.is_encrypted or urllib.request.proxy_bypass(address.host):
        return None
    proxies = urllib.request.getproxies()
    proxy = proxies.get("https") or proxies.get("all")
    return proxy if proxy is None or "://" in proxy else f"http://{proxy}"


async def _read(response: Response, most: int) -> bytes:
    """Read the body in pieces, unless it is too large."""
    if response.headers.get("content-encoding", "identity") != "identity":
        raise CallError("wrong_form", "the server sent a compressed reply that was not asked for")
    data = bytearray()
    async for part in response.aiter_raw():
        data += part
        if len(data) > most:
            raise CallError("too_large", f"the server sent more than {most >> 20} MiB in one reply")
    return bytes(data)


def _not_connected(error: Exception, option: str) -> CallError:
    """Error of a failed connection, by its first cause."""
    cause: BaseException = error
    while (earlier := cause.__cause__ or cause.__context__) is not None:
        if isinstance(earlier, ssl.SSLError) and not isinstance(earlier, ssl.SSLWantReadError):
            reason = getattr(earlier, "verify_message", "") or earlier.reason or "no agreement"
            return CallError("tls", f"its TLS certificate or encryption is refused ({reason})")
        cause = earlier
    reason = "no answer"
    if isinstance(cause, socket.gaierror):  # whose numbers are its own
        reason = cause.strerror or reason
    elif isinstance(cause, OSError) and cause.errno:
        reason = os.strerror(cause.errno)
    return CallError("connect", f"no server can be reached there ({reason.lower()}); start it, or mend {option}")
