"""Connections to one server: the bytes of a request go there, and a reply or an error of a known type comes back.

Requests keep to the server's limits a minute and to the pauses that it asks for. An outage of a server that has
answered before is waited out by time, not by a number of tries.
"""

from __future__ import annotations

import asyncio
import email.utils
import math
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
from vcrgen.core.progress import ProgressListener
from vcrgen.models import chat, image_generation
from vcrgen.models.address import Address, Key
from vcrgen.models.base import Reply
from vcrgen.models.chat import CallError

if TYPE_CHECKING:
    from httpx2 import AsyncHTTPTransport, Response

CONNECT_SECONDS = 10.0
# A connection that was idle for longer is not used again: many servers close theirs after five seconds.
IDLE_SECONDS = 4.0
LONGEST_WAIT = 120.0  # seconds that a server may ask for
BUSY = 429
_TRIED_AGAIN = {408, 409, 425, BUSY}
_AWAY = {502, 503, 504, 529}  # of a server that is away, or of a proxy before it
_OUTAGE_KINDS = {"connect", "reset", *(f"http_{status}" for status in _AWAY)}
_MINUTE = 60.0
_FIRST_GUESS = 1500  # tokens of a request and its reply, until replies tell


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Limits of requests to a server."""

    concurrency: int = 8  # requests under way
    rpm: float | None = None  # requests a minute
    tpm: float | None = None  # tokens a minute, of requests and replies together
    timeout: float = 300.0  # seconds for a whole reply
    patience: float = 600.0  # seconds of an outage that are waited out, once the server has answered


class RateLimiter:
    """Spreads requests evenly over a minute, without bursts after a pause.

    Args:
        rpm: Requests a minute, or None.
        tpm: Tokens a minute, of requests and replies together, or None.
    """

    def __init__(self, *, rpm: float | None = None, tpm: float | None = None) -> None:
        self._rpm, self._tpm = rpm, tpm
        self._turn = asyncio.Lock()
        self._next = 0.0  # when requests go by `rpm`
        self._tokens_next = 0.0  # when requests go by `tpm`
        self._paused_until = 0.0
        self._guess = float(_FIRST_GUESS)

    async def wait(self) -> None:
        """Wait until the next request may be sent; the caller sends it."""
        clock = asyncio.get_running_loop().time
        async with self._turn:
            while (left := max(self._next, self._tokens_next, self._paused_until) - clock()) > 0:
                await asyncio.sleep(left)
            if self._rpm is not None:
                self._next = clock() + _MINUTE / self._rpm
            if self._tpm is not None:
                self._tokens_next = clock() + self._guess * _MINUTE / self._tpm

    def record_usage(self, tokens: int) -> None:
        """Record the tokens of a request and its reply; 0 if they are not counted."""
        if self._tpm is not None and tokens:
            self._tokens_next += (tokens - self._guess) * _MINUTE / self._tpm
            self._guess = 0.9 * self._guess + 0.1 * tokens

    def pause(self, seconds: float) -> None:
        """Send nothing for some seconds."""
        self._paused_until = max(self._paused_until, asyncio.get_running_loop().time() + seconds)


class _Outage:
    """Tells whether a server is away, and for how long that is waited out.

    Args:
        host: The server, for people.
        patience: Seconds of an outage that are waited out.
        listener: Is told of its beginning and its end.

    Attributes:
        responses: Number of the server's responses but for those that stand for an outage.
    """

    def __init__(self, host: str, patience: float, listener: ProgressListener) -> None:
        self._host, self._patience, self._listener = host, patience, listener
        self._since: float | None = None
        self.responses = 0

    def note_response(self, status: int) -> None:
        """Take the status of a response."""
        if status not in _AWAY:
            self.responses += 1
            if self._since is not None:
                self._since = None
                self._listener.stage("")

    def is_waited_out(self, kind: str, responses: int) -> bool:
        """Return whether a failed call is one of an outage that is still waited out.

        A call that fails while others get answers is not: it may be the request that breaks the connection.

        Args:
            kind: Type of the error.
            responses: The number of responses when the call began.
        """
        if kind not in _OUTAGE_KINDS or not self._patience or not self.responses or self.responses > responses:
            return False
        now = asyncio.get_running_loop().time()
        if self._since is None:
            self._since = now
            words = f"{self._host} is away ({kind}); waiting for it, {_duration(self._patience)} at most"
            self._listener.warn(f"{words}.")
            self._listener.stage(words)
        return now < self._since + self._patience


class Connection:
    """The connections to one server, for use in one event loop.

    Args:
        address: The server.
        key: The key to it, if it needs one.
        limits: Limits of requests.
        listener: Is told of outages.

    Attributes:
        rate: When requests may be sent.
        reached: Whether the server ever answered, whatever it was.
    """

    def __init__(self, address: Address, key: Key | None, limits: Limits, listener: ProgressListener) -> None:
        httpx2 = load_httpx()
        self.rate = RateLimiter(rpm=limits.rpm, tpm=limits.tpm)
        self.reached = False
        self._outage = _Outage(address.host, limits.patience, listener)
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

    async def call(self, body: bytes, *, picture: bool) -> tuple[Reply, bytes]:
        """Send the bytes of a request once, when its turn has come; return the reply and its bytes.

        Args:
            body: The bytes.
            picture: Whether a picture is requested.

        Raises:
            CallError: There is no reply.
        """
        await self.rate.wait()
        responses = self._outage.responses
        try:
            return await self._call(body, picture)
        except CallError as error:
            error.in_outage = self._outage.is_waited_out(error.kind, responses)
            raise

    async def _call(self, body: bytes, picture: bool) -> tuple[Reply, bytes]:
        import httpx2

        protocol: Any = image_generation if picture else chat
        began = time.perf_counter()
        try:
            async with asyncio.timeout(self._limits.timeout):
                with self._transport() as transport:
                    sent = httpx2.Request(
                        "POST", self._url, headers=self._headers, content=body, extensions=self._extensions
                    )
                    async with aclosing(await transport.handle_async_request(sent)) as response:
                        data = await _read(response, protocol.MAX_REPLY_BYTES)
        except httpx2.ConnectTimeout as error:
            raise _not_connected(error, self._address.option) from None
        except (TimeoutError, httpx2.TimeoutException):
            raise CallError("timeout", f"no whole reply within {self._limits.timeout:g} s") from None
        except httpx2.ConnectError as error:
            raise _not_connected(error, self._address.option) from None
        except httpx2.ProxyError as error:
            detail = f"the proxy of HTTPS_PROXY refuses it ({chat.plain_line(str(error))}); mend it, or set NO_PROXY"
            raise CallError("connect", detail) from None
        except httpx2.TransportError:
            raise CallError("reset", "the connection was broken off") from None
        self.reached = True
        self._outage.note_response(response.status_code)
        if response.status_code != 200:
            if filtered := chat.filtered_reply(data, self._address.host):
                return filtered, data
            raise self._refusal(response, data, picture)
        reply = protocol.parse_reply(data, self._address, self._redact)
        return replace(reply, seconds=round(time.perf_counter() - began, 3)), data

    def _refusal(self, response: Response, data: bytes, picture: bool) -> CallError:
        """Error of a response whose status is not 200, by what it means for the next try."""
        status = response.status_code
        sentence = chat.error_sentence(data, self._redact)
        detail = f"the server answers {status}" + (f": {sentence}" if sentence else "")
        if 300 <= status < 400:
            option = self._address.option
            detail = f"the server answers {status}, a redirect; give {option} the address where it leads to"
        again = status >= 500 or (status in _TRIED_AGAIN and not chat.is_out_of_quota(data))
        unknown = image_generation.refused_names(status, data) if picture else frozenset()
        wait = _retry_after(response.headers) if again else None
        refused = status in chat.REFUSED and not chat.is_out_of_quota(data)
        return CallError(f"http_{status}", detail, retryable=again, refused=refused, wait=wait, unknown=unknown)


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


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that a server asks to wait, in milliseconds, in seconds, or as a date."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        value = headers.get(name, "")
        try:
            seconds = float(value) * unit
        except ValueError:
            try:
                seconds = email.utils.parsedate_to_datetime(value).timestamp() - time.time()
            except (ValueError, TypeError, OverflowError):
                continue
        if seconds == seconds:  # not NaN
            return min(max(seconds, 0.0), LONGEST_WAIT)
    return None


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{math.ceil(seconds / 60):,} min"
