"""Connections to one server: the bytes of a request go there, and a reply or an error of a known type comes back."""

from __future__ import annotations

import asyncio
import email.utils
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
from vcrgen.models.pace import Outage

if TYPE_CHECKING:
    from httpx2 import AsyncHTTPTransport, Response

CONNECT_SECONDS = 10.0
# A connection that was idle for longer is not used again: many servers close theirs after five seconds.
IDLE_SECONDS = 4.0
LONGEST_WAIT = 120.0  # seconds that a server may ask for
BUSY = 429
_TRIED_AGAIN = {408, 409, 425, BUSY}


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Limits of requests to a server."""

    concurrency: int = 8  # requests under way
    rpm: float | None = None  # requests a minute
    tpm: float | None = None  # tokens a minute, of requests and replies together
    timeout: float = 300.0  # seconds for a whole reply
    patience: float = 600.0  # seconds of an outage that are waited out, once the server has answered


class Connection:
    """The connections to one server, for use in one event loop.

    Args:
        address: The server.
        key: The key to it, if it needs one.
        limits: Limits of requests.

    Attributes:
        reached: Whether the server ever answered, whatever it was.
    """

    def __init__(self, address: Address, key: Key | None, limits: Limits) -> None:
        httpx2 = load_httpx()
        self.reached = False
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

    async def call(self, body: bytes, *, picture: bool, outage: Outage) -> tuple[Reply, bytes]:
        """Send the bytes of a request once; return the reply and its bytes.

        Args:
            body: The bytes.
            picture: Whether a picture is requested.
            outage: Receives the status of the response.

        Raises:
            CallError: There is no reply.
        """
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
        outage.note_answer(response.status_code)
        if response.status_code != 200:
            if filtered := chat.filtered_reply(data, self._address.host):
                return filtered, data
            raise self._refusal(response, data, picture)
        reply = protocol.parse_reply(data, self._address, self._redact)
        return replace(reply, seconds=round(time.perf_counter() - began, 3)), data

    def _refusal(self, response: Response, data: bytes, picture: bool) -> CallError:
        """Return the error of a response whose status is not 200."""
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
    """Return the module of the HTTP client; a PipelineError if it is not installed."""
    try:
        import httpx2
    except ImportError:
        raise PipelineError(needs_extra("A model behind an address", "predict")) from None
    return httpx2


def _headers(address: Address, key: Key | None) -> dict[str, str]:
    """Return the headers of requests to a server."""
    headers = {"Content-Type": "application/json", "Accept": "application/json", "Accept-Encoding": "identity"}
    return headers | {"User-Agent": "vcrgen"} | (key.header(address.kind) if key else {})


def _transport_options(address: Address) -> dict[str, Any]:
    """Return the options of transports to a server, each of which makes one call at a time."""
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
    """Return the proxy of the environment for a server."""
    if not address.is_encrypted or urllib.request.proxy_bypass(address.host):
        return None
    proxies = urllib.request.getproxies()
    proxy = proxies.get("https") or proxies.get("all")
    return proxy if proxy is None or "://" in proxy else f"http://{proxy}"


async def _read(response: Response, most: int) -> bytes:
    """Return the body, unless it is too large."""
    if response.headers.get("content-encoding", "identity") != "identity":
        raise CallError("wrong_form", "the server sent a compressed reply that was not asked for")
    data = bytearray()
    async for part in response.aiter_raw():
        data += part
        if len(data) > most:
            raise CallError("too_large", f"the server sent more than {most >> 20} MiB in one reply")
    return bytes(data)


def _not_connected(error: Exception, option: str) -> CallError:
    """Return the error of a failed connection, by its first cause."""
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
    """Return the seconds that a server asks to wait, in milliseconds, in seconds, or as a date."""
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
