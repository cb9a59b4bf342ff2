"""A model behind a server: concurrent requests with retries, and no trust in what comes back.

For example, with 32 requests under way at a time:

    model = EndpointModel(parse_address("http://127.0.0.1:8000/v1", "qwen"), "qwen", limits=Limits(concurrency=32))
    for what, outcome in model.answers(requests, keep):
        ...
"""

from __future__ import annotations

import asyncio
import email.utils
import math
import os
import socket
import ssl
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from http.cookiejar import CookieJar, DefaultCookiePolicy
from random import Random
from typing import TYPE_CHECKING, Any, TypeVar

from vcrgen.errors import ConfigError, EndpointError, PipelineError
from vcrgen.extras import needs_extra
from vcrgen.models import anthropic, chat, gemini, image_generation
from vcrgen.models.address import Address, Key
from vcrgen.models.base import Reply, ReplyOutcome, Request, RequestProblem
from vcrgen.models.chat import CallError
from vcrgen.models.logprobs import ABSURD, NO_LOGPROBS, UNTRUSTED, require_different_logprobs
from vcrgen.models.loop import LoopThread
from vcrgen.models.outage import Outage
from vcrgen.models.pictures import image_size
from vcrgen.models.rate_limit import RateLimiter
from vcrgen.models.threads import as_completed
from vcrgen.records import RejectReason
from vcrgen.rng import rng_for
from vcrgen.work.progress import SILENT, ProgressListener

if TYPE_CHECKING:
    from httpx2 import Response

T = TypeVar("T")

CONNECT_SECONDS = 10.0
# A connection that was idle for longer is not used again: many servers close theirs after five seconds.
IDLE_SECONDS = 4.0
LONGEST_WAIT = 120.0  # seconds that a server may ask for
REFUSALS = 10  # requests in a row that get no reply
_TRIES = 6
_BUSY_TRIES = 40  # after status 429
_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 30.0
_BUSY = 429
_TRIED_AGAIN = {408, 409, 425, _BUSY}


# What differs between protocols: `encode_request`, `parse_reply` and `MAX_REPLY_BYTES`.
PROTOCOLS: Mapping[str, Any] = {"openai": chat, "anthropic": anthropic, "gemini": gemini}


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Limits of requests to a server."""

    concurrency: int = 8  # requests under way
    rpm: float | None = None  # requests a minute
    tpm: float | None = None  # tokens a minute, of requests and replies together
    timeout: float = 300.0  # seconds for a whole reply
    patience: float = 600.0  # seconds of an outage that are waited out, once the server has answered


class EndpointModel:
    """A model behind a server.

    Attributes:
        name: The user's name of the model; the server's own is in the replies.
        facts: Everything that the replies depend on, as far as the client knows.

    Args:
        address: The server.
        name: Name of the model.
        key: The key to the server, if it needs one.
        limits: Limits of requests.

    Raises:
        ConfigError: The address has a name or a length that no server can have.
        PipelineError: The extra is not installed.
    """

    def __init__(self, address: Address, name: str, *, key: Key | None = None, limits: Limits | None = None) -> None:
        httpx2 = load_httpx()
        try:
            httpx2.URL(address.url)
        except httpx2.InvalidURL as error:
            raise ConfigError(f"{address.option} is not an address that can be reached ({str(error)[:200]}).") from None
        self.name = name
        self.facts: Mapping[str, Any] = {"model": name, "profile": address.profile}
        self._address, self._key, self._limits = address, key, limits or Limits()

    def answers(
        self,
        requests: Iterable[tuple[T, Request]],
        keep: Callable[[T, Reply], None],
        *,
        proven: bool = False,
        listener: ProgressListener = SILENT,
    ) -> Iterator[tuple[T, Reply | RequestProblem]]:
        """As :meth:`vcrgen.models.base.Model.answers`.

        Raises:
            EndpointError: The server cannot be reached, or refuses one request after another.
        """
        with LoopThread() as loop:
            call = loop.enter(self.session(proven=proven, listener=listener))

            async def answer(what: T, request: Request) -> Reply:
                reply = await call(request)
                keep(what, reply)
                return reply

            yield from as_completed(
                requests, lambda what, request: loop.start(answer(what, request)), self._limits.concurrency
            )

    @asynccontextmanager
    async def session(
        self, *, proven: bool = False, listener: ProgressListener = SILENT
    ) -> AsyncIterator[Callable[[Request], Coroutine[Any, Any, Reply]]]:
        """Open a session in the running event loop, for requests that depend on earlier replies.

        Args:
            proven: As of :meth:`vcrgen.models.base.Model.answers`.
            listener: As of the same.

        Yields:
            A function that sends a request and returns its reply, or raises as :meth:`answers`. The caller limits how
            many are under way.
        """
        calls = _Calls(self._address, self.name, self._key, self._limits, proven, listener)
        try:
            yield calls.answer
        finally:
            await calls.close()


@dataclass(slots=True)
class _Effort:
    """The cost of a reply."""

    retries: Counter[str] = field(default_factory=Counter)  # failed tries by reason
    used: Counter[str] = field(default_factory=Counter)  # tokens of all good replies
    unusable: Counter[str] = field(default_factory=Counter)  # tokens of others
    check: Counter[str] = field(default_factory=Counter)  # tokens of a check of the server

    @property
    def extra_usage(self) -> dict[str, dict[str, int]]:
        """Return the tokens of a check and of unusable replies, as far as there are any."""
        return {name: dict(getattr(self, name)) for name in ("check", "unusable") if getattr(self, name)}


class _Calls:
    """The calls of one server; used in the thread of the event loop."""

    def __init__(
        self, address: Address, model: str, key: Key | None, limits: Limits, proven: bool, listener: ProgressListener
    ) -> None:
        import httpx2

        self._address, self._model, self._limits = address, model, limits
        self._redact = key.redact if key else lambda text: text
        self._client = httpx2.AsyncClient(**client_options(address, key, limits))
        self._url = httpx2.URL(address.url)
        self._rate = RateLimiter(rpm=limits.rpm, tpm=limits.tpm)
        self._outage = Outage(address.host, limits.patience, listener)
        self._reached = False  # whether the server ever answered, whatever it was
        self._proven = proven  # whether the server ever gave a reply
        self._served = ""  # what the server calls the model
        self._in_vain = 0  # requests in a row that got no reply
        self._unknown: set[str] = set()  # what the server does not know of what is sent for a picture
        self._trusted: set[str] = set()  # options whose log-probabilities the server was seen to measure
        self._first_logprobs = asyncio.Lock()

    async def close(self) -> None:
        await self._client.aclose()

    async def answer(self, request: Request) -> Reply:
        """Return the reply to a request, with the log-probabilities of its candidates.

        Raises:
            RequestProblem: There is no reply.
            EndpointError: There would be no reply to any request.
        """
        effort = _Effort()
        try:
            reply = await self._answer(request, effort)
        except RequestProblem as problem:
            problem.usage = effort.used + effort.unusable
            raise
        return replace(reply, retries=dict(effort.retries), extra_usage=effort.extra_usage)

    async def _answer(self, request: Request, effort: _Effort) -> Reply:
        reply, data = await self._reply(request, None, effort)
        if request.labels and reply.outcome != ReplyOutcome.FILTERED:
            with self._trusting("--label-logprobs"):
                reply = replace(reply, label_logprobs=chat.label_logprobs(data, request.labels))
        if request.candidates:
            # One request alone checks whether the server is trusted, as it costs more than the others.
            async with self._first_logprobs:
                if first := "--answer-logprobs" not in self._trusted:
                    reply = await self._with_logprobs(request, reply, data, effort, (*request.candidates, ABSURD))
            if not first:
                reply = await self._with_logprobs(request, reply, data, effort, request.candidates)
        return reply

    @contextmanager
    def _trusting(self, option: str) -> Iterator[None]:
        """Trust a server after its first valid log-probabilities; invalid first ones end the run."""
        try:
            yield
        except RequestProblem as problem:
            if option in self._trusted or problem.reason not in UNTRUSTED:
                raise
            raise EndpointError(
                f"{self._address.host}: {problem.detail}, so its log-probabilities are not believed; leave out "
                f"{option}, or ask {'vLLM or ' * (option == '--answer-logprobs')}a model in this process "
                "(--transformers) for them."
            ) from None
        self._trusted.add(option)

    async def _with_logprobs(
        self, request: Request, reply: Reply, data: bytes, effort: _Effort, texts: Sequence[str]
    ) -> Reply:
        """Return the reply with the log-probabilities of each candidate's tokens.

        The texts are the candidates and, the first time, an absurd one: a server may silently ignore the parameters.
        """
        found, usage, seconds = [], Counter(reply.usage), reply.seconds
        prompted = request.for_candidates
        with self._trusting("--answer-logprobs"):
            if prompted is not request:
                more, data = await self._reply(prompted, None, effort)
                usage.update(more.usage)
                seconds += more.seconds
            prompt = chat.prompt_tokens(data)
            for text in texts:
                more, answer = await self._reply(prompted, text, effort)
                found.append(chat.candidate_tokens(answer, prompt, text))
                (effort.check if len(found) > len(request.candidates) else usage).update(more.usage)
                seconds += more.seconds
            if len(found) > len(request.candidates):
                require_different_logprobs(found[0], found.pop())
        return replace(reply, candidate_logprobs=tuple(found), usage=dict(usage), seconds=round(seconds, 3))

    async def _reply(self, request: Request, candidate: str | None, effort: _Effort) -> tuple[Reply, bytes]:
        """Return the reply to a request, or a prompt with a candidate, and its bytes; count what it took."""
        without = frozenset(self._unknown)
        body = self._body(request, candidate, without)
        jitter: Random | None = None
        tries: Counter[str] = Counter()  # by what limits them: the server is busy, is away, or anything else
        while True:
            await self._rate.wait()
            sent = self._outage.answers
            try:
                reply, data = await self._call(body, request)
            except CallError as error:
                self._stop_if_dead(error)
                effort.unusable.update(error.usage)
                if new := error.unknown - without:
                    self._unknown |= new
                    without |= new
                    body = self._body(request, candidate, without)
                    continue
                busy = error.kind == f"http_{_BUSY}"
                limit = "busy" if busy else "away" if self._outage.is_waited_out(error.kind, sent) else "other"
                tries[limit] += 1
                most = {"busy": _BUSY_TRIES, "away": math.inf, "other": _TRIES}[limit]
                if not error.retryable or tries[limit] >= most:
                    raise self._problem(error, effort.retries) from None
                effort.retries[error.kind] += 1
                jitter = jitter or rng_for(0, "retry", request.id)
                step = min(tries[limit] - 1, 10)
                pause = min(_FIRST_PAUSE * 2**step, _LONGEST_PAUSE) * (0.5 + 0.5 * jitter.random())
                if error.wait is not None or busy:
                    self._rate.pause(min(pause if error.wait is None else error.wait, LONGEST_WAIT))
                else:
                    await asyncio.sleep(pause)
            else:
                self._in_vain, self._proven = 0, True
                effort.used.update(reply.usage)
                self._rate.record_usage(reply.usage.get("input", 0) + reply.usage.get("output", 0))
                return reply, data

    def _body(self, request: Request, candidate: str | None, without: frozenset[str]) -> bytes:
        if request.picture:
            return image_generation.encode_request(request, self._address, self._model, without)
        return encode_request(request, self._address, self._model, candidate)

    def _stop_if_dead(self, error: CallError) -> None:
        """End the run if there was no server from the start, or its certificate is not trusted."""
        if error.kind in ("connect", "tls") and not self._reached:
            raise EndpointError(f"{self._address.host}: {error.detail}.")

    def _problem(self, error: CallError, retries: Counter[str]) -> RequestProblem:
        """Return the problem of a request; after too many, which may all be the server's fault, end the run."""
        self._in_vain += not (error.refused and self._proven)
        if self._in_vain >= REFUSALS:
            raise EndpointError(
                f"{self._address.host} gave no reply to {REFUSALS} requests in a row; the last time: {error.detail}. "
                "Replies are kept; run the same command again to resume."
            )
        return RequestProblem(error.kind, error.detail, dict(retries), refused=error.refused)

    async def _call(self, body: bytes, request: Request) -> tuple[Reply, bytes]:
        """Send the bytes of a request once; return the reply and its bytes.

        Raises:
            CallError: There is no reply.
        """
        import httpx2

        protocol: Any = image_generation if request.picture else PROTOCOLS[self._address.kind.protocol]
        began = time.perf_counter()
        try:
            async with asyncio.timeout(self._limits.timeout):
                sent = httpx2.Request("POST", self._url, headers=self._client.headers, content=body)
                async with aclosing(await self._client.send(sent, stream=True)) as response:
                    data = await _read(response, protocol.MAX_REPLY_BYTES)
        except httpx2.ConnectTimeout as error:
            raise _not_connected(error, self._address.option) from None
        except (TimeoutError, httpx2.TimeoutException):
            raise CallError("timeout", f"no whole reply within {self._limits.timeout:g} s") from None
        except httpx2.ConnectError as error:
            raise _not_connected(error, self._address.option) from None
        except httpx2.TransportError:
            raise CallError("reset", "the connection was broken off") from None
        self._reached = True
        self._outage.note_answer(response.status_code)
        if response.status_code != 200:
            if filtered := chat.filtered_reply(data, self._address.host):
                return filtered, data
            raise self._refusal(response, data, request)
        reply = protocol.parse_reply(data, self._address, self._redact)
        self._served = self._served or reply.model
        if reply.model and reply.model != self._served:
            detail = f"the reply is of the model {reply.model!r}, not of {self._served!r}"
            raise CallError("other_model", detail, usage=reply.usage)
        return replace(reply, seconds=round(time.perf_counter() - began, 3)), data

    def _refusal(self, response: Response, data: bytes, request: Request) -> CallError:
        """Return the error of a response whose status is not 200."""
        status = response.status_code
        sentence = chat.error_sentence(data, self._redact)
        detail = f"the server answers {status}" + (f": {sentence}" if sentence else "")
        if 300 <= status < 400:
            option = self._address.option
            detail = f"the server answers {status}, a redirect; give {option} the address where it leads to"
        again = status >= 500 or (status in _TRIED_AGAIN and not chat.is_out_of_quota(data))
        unknown = image_generation.refused_names(status, data) if request.picture else frozenset()
        wait = _retry_after(response.headers) if again else None
        refused = status in chat.REFUSED and not chat.is_out_of_quota(data)
        return CallError(f"http_{status}", detail, retryable=again, refused=refused, wait=wait, unknown=unknown)


def encode_request(request: Request, address: Address, model: str, candidate: str | None = None) -> bytes:
    """Encode a request in the server's protocol, within its limits.

    Raises:
        RequestProblem: An image or the request is too large, or the server cannot give what is asked for.
    """
    kind = address.kind
    if (request.candidates and not kind.gives_candidate_logprobs) or (request.labels and kind.protocol != "openai"):
        raise RequestProblem(NO_LOGPROBS, f"servers of the kind {address.profile} give no log-probabilities of answers")
    for image in request.images:
        if kind.max_image_bytes is not None and len(image) > kind.max_image_bytes:
            raise RequestProblem(RejectReason.OVERSIZED, f"larger than {kind.max_image_bytes >> 20} MiB, the limit")
        if kind.max_image_side is not None and max(image_size(image)) > kind.max_image_side:
            raise RequestProblem(RejectReason.OVERSIZED, f"a side is longer than {kind.max_image_side} pixels")
    body: bytes = PROTOCOLS[kind.protocol].encode_request(request, address, model, candidate)
    if kind.max_request_bytes is not None and len(body) > kind.max_request_bytes:
        raise RequestProblem(RejectReason.OVERSIZED, f"the request is larger than {kind.max_request_bytes:,} bytes")
    return body


def load_httpx() -> Any:
    """Return the module of the HTTP client; a PipelineError if it is not installed."""
    try:
        import httpx2
    except ImportError:
        raise PipelineError(needs_extra("A model behind an address", "predict")) from None
    return httpx2


def client_options(address: Address, key: Key | None, limits: Limits) -> dict[str, Any]:
    """Return the options of an HTTP client for a server."""
    httpx2 = load_httpx()
    pool = httpx2.Limits(
        max_connections=limits.concurrency,
        max_keepalive_connections=limits.concurrency,
        keepalive_expiry=IDLE_SECONDS,
    )
    headers = {"Content-Type": "application/json", "Accept": "application/json", "Accept-Encoding": "identity"}
    return {
        "headers": headers | dict(address.kind.headers) | (key.header(address.kind) if key else {}),
        "limits": pool,
        "timeout": httpx2.Timeout(limits.timeout, connect=min(CONNECT_SECONDS, limits.timeout)),
        "follow_redirects": False,
        "cookies": CookieJar(DefaultCookiePolicy(allowed_domains=())),  # none is kept
        # The proxies and certificates of the user's environment; what is not encrypted goes through no proxy.
        "trust_env": address.is_encrypted,
    }


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
