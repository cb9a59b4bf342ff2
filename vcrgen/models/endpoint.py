"""A model behind a server: concurrent requests with retries, and no trust in what comes back.

For example, with 32 requests under way at a time:

    model = EndpointModel(parse_address("http://127.0.0.1:8000/v1", "qwen"), "qwen", limits=Limits(concurrency=32))
    for what, outcome in model.answers(requests, keep):
        ...
"""

from __future__ import annotations

import asyncio
import math
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any, TypeVar

from vcrgen.errors import ConfigError, EndpointError
from vcrgen.models import chat, image_generation
from vcrgen.models.address import Address, Endpoint, Key
from vcrgen.models.balancing import Balancer
from vcrgen.models.base import Reply, ReplyOutcome, Request, RequestProblem
from vcrgen.models.chat import CallError
from vcrgen.models.connection import BUSY, LONGEST_WAIT, PROTOCOLS, Connection, Limits, load_httpx
from vcrgen.models.logprobs import ABSURD, NO_LOGPROBS, UNTRUSTED, require_different_logprobs
from vcrgen.models.loop import LoopThread
from vcrgen.models.outage import Outage
from vcrgen.models.pictures import image_size
from vcrgen.models.rate_limit import RateLimiter
from vcrgen.models.threads import as_completed
from vcrgen.records import RejectReason
from vcrgen.rng import rng_for
from vcrgen.work.progress import SILENT, ProgressListener

T = TypeVar("T")

REFUSALS = 10  # requests in a row that get no reply
_TRIES = 6
_BUSY_TRIES = 40  # after status 429
_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 30.0


class EndpointModel:
    """A model behind a server, or behind several servers that share its requests.

    Attributes:
        name: The user's name of the model; the server's own is in the replies.
        facts: Everything that the replies depend on, as far as the client knows.

    Args:
        server: The server, or all servers of the model. They are of one kind.
        name: Name of the model.
        key: The key to a single server, if it needs one.
        limits: Limits of requests, to all servers together.

    Raises:
        ConfigError: An address has a name or a length that no server can have, or the servers differ in kind.
        PipelineError: The extra is not installed.
    """

    def __init__(
        self,
        server: Address | Sequence[Endpoint],
        name: str,
        *,
        key: Key | None = None,
        limits: Limits | None = None,
    ) -> None:
        httpx2 = load_httpx()
        self._servers = [Endpoint(address=server, key=key)] if isinstance(server, Address) else list(server)
        address = self._servers[0].address
        for each in self._servers:
            try:
                httpx2.URL(each.address.url)
            except httpx2.InvalidURL as error:
                wrong = f"{address.option} is not an address that can be reached ({str(error)[:200]})."
                raise ConfigError(wrong) from None
            if each.address.profile != address.profile:
                raise ConfigError(
                    f"{each.address.host} is a server of the kind {each.address.profile}, and {address.host} of the "
                    f"kind {address.profile}; several {address.option} have to be of one kind (--profile)."
                )
        self.name = name
        self.facts: Mapping[str, Any] = {"model": name, "profile": address.profile}
        self._limits = limits or Limits()

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
        calls = _Calls(self._servers, self.name, self._limits, proven, listener)
        try:
            yield calls.answer
        finally:
            await calls.close()


@dataclass(slots=True)
class _Effort:
    """The cost of a reply."""

    host: str = ""  # the first server that answered, which gets the further calls of the request
    retries: Counter[str] = field(default_factory=Counter)  # failed tries by reason
    used: Counter[str] = field(default_factory=Counter)  # tokens of all good replies
    unusable: Counter[str] = field(default_factory=Counter)  # tokens of others
    check: Counter[str] = field(default_factory=Counter)  # tokens of a check of the server

    @property
    def extra_usage(self) -> dict[str, dict[str, int]]:
        """Return the tokens of a check and of unusable replies, as far as there are any."""
        return {name: dict(getattr(self, name)) for name in ("check", "unusable") if getattr(self, name)}


class _Calls:
    """The calls of one model; used in the thread of the event loop."""

    def __init__(
        self, servers: Sequence[Endpoint], model: str, limits: Limits, proven: bool, listener: ProgressListener
    ) -> None:
        self._model, self._address = model, servers[0].address  # of which all servers share the protocol
        self._servers = Balancer([Connection(server, limits) for server in servers], listener)
        self._rate = RateLimiter(rpm=limits.rpm, tpm=limits.tpm)
        self._outage = Outage(self._servers.names, limits.patience, listener)
        self._proven = proven  # whether the server ever gave a reply
        self._served = ""  # what the server calls the model
        self._in_vain = 0  # requests in a row that got no reply
        self._unknown: set[str] = set()  # what the server does not know of what is sent for a picture
        self._trusted: set[tuple[str, str]] = set()  # options and hosts whose log-probabilities are real
        self._first_logprobs = asyncio.Lock()

    async def close(self) -> None:
        await self._servers.close()

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
        extra = effort.extra_usage
        return replace(reply, retries=dict(effort.retries), extra_usage=extra) if effort.retries or extra else reply

    async def _answer(self, request: Request, effort: _Effort) -> Reply:
        reply, data = await self._reply(request, None, effort)
        if request.labels and reply.outcome != ReplyOutcome.FILTERED:
            with self._trusting("--label-logprobs", effort.host):
                reply = replace(reply, label_logprobs=chat.label_logprobs(data, request.labels))
        if request.candidates:
            # One request alone checks whether the server is trusted, as it costs more than the others.
            async with self._first_logprobs:
                if first := ("--answer-logprobs", effort.host) not in self._trusted:
                    reply = await self._with_logprobs(request, reply, data, effort, (*request.candidates, ABSURD))
            if not first:
                reply = await self._with_logprobs(request, reply, data, effort, request.candidates)
        return reply

    @contextmanager
    def _trusting(self, option: str, host: str) -> Iterator[None]:
        """Trust a server after its first valid log-probabilities; invalid first ones end the run."""
        try:
            yield
        except RequestProblem as problem:
            if (option, host) in self._trusted or problem.reason not in UNTRUSTED:
                raise
            raise EndpointError(
                f"{host}: {problem.detail}, so its log-probabilities are not believed; leave out {option}, or ask "
                f"{'vLLM or ' * (option == '--answer-logprobs')}a model in this process (--transformers) for them."
            ) from None
        self._trusted.add((option, host))

    async def _with_logprobs(
        self, request: Request, reply: Reply, data: bytes, effort: _Effort, texts: Sequence[str]
    ) -> Reply:
        """Return the reply with the log-probabilities of each candidate's tokens.

        The texts are the candidates and, the first time, an absurd one: a server may silently ignore the parameters.
        """
        found, usage, seconds = [], Counter(reply.usage), reply.seconds
        prompted = request.for_candidates
        with self._trusting("--answer-logprobs", effort.host):
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
            try:
                async with self._servers.take(effort.host) as server:
                    await self._rate.wait()
                    sent = self._outage.answers
                    reply, data = await server.call(body, picture=request.picture, outage=self._outage)
                    self._check_name(server, reply)
            except CallError as error:
                self._servers.note_failure(server, error, _FIRST_PAUSE, _LONGEST_PAUSE)
                self._stop_if_dead(server, error)
                effort.unusable.update(error.usage)
                if new := error.unknown - without:
                    self._unknown |= new
                    without |= new
                    body = self._body(request, candidate, without)
                    continue
                limit = self._limit(error, sent)
                tries[limit] += 1
                most = {"busy": _BUSY_TRIES, "away": math.inf, "other": _TRIES}[limit]
                if tries[limit] >= most or not self._is_worth_another_try(error):
                    raise self._problem(error, effort.retries) from None
                effort.retries[error.kind] += 1
                jitter = jitter or rng_for(0, "retry", request.id)
                await self._pause(error, tries[limit], jitter)
            else:
                self._servers.note_reply(server)
                self._in_vain, self._proven = 0, True
                effort.host = effort.host or server.address.host
                effort.used.update(reply.usage)
                self._rate.record_usage(reply.usage.get("input", 0) + reply.usage.get("output", 0))
                return reply, data

    def _limit(self, error: CallError, answers: int) -> str:
        """Return what limits the tries after an error: the server is busy, is away, or anything else."""
        if error.kind == f"http_{BUSY}" and error.retryable:
            return "busy"
        is_away = self._servers.all_failed and self._outage.is_waited_out(error.kind, answers)
        return "away" if is_away else "other"

    def _is_worth_another_try(self, error: CallError) -> bool:
        """Return whether another call may succeed, here or at another server."""
        if self._servers.has_others:
            return not error.refused and not self._outage.is_over
        return error.retryable

    async def _pause(self, error: CallError, tries: int, jitter: Random) -> None:
        """Pause before another try: the request, all requests to a busy server, or none if there are other servers."""
        if self._servers.has_others:
            return
        pause = min(_FIRST_PAUSE * 2 ** min(tries - 1, 10), _LONGEST_PAUSE) * (0.5 + 0.5 * jitter.random())
        if error.wait is not None or error.kind == f"http_{BUSY}":
            self._rate.pause(min(pause if error.wait is None else error.wait, LONGEST_WAIT))
        else:
            await asyncio.sleep(pause)

    def _check_name(self, server: Connection, reply: Reply) -> None:
        """Raise unless the reply is of the same model as the others: a CallError, or an EndpointError at the first."""
        is_first, server.served = not server.served, server.served or reply.model
        self._served = self._served or reply.model
        if reply.model in ("", self._served):
            return
        if is_first:
            raise EndpointError(
                f"{server.address.host} serves {reply.model!r}, and another endpoint {self._served!r}; name endpoints "
                "of one model only, or start the servers with one name."
            )
        detail = f"the reply is of the model {reply.model!r}, not of {self._served!r}"
        raise CallError("other_model", detail, usage=reply.usage)

    def _body(self, request: Request, candidate: str | None, without: frozenset[str]) -> bytes:
        if request.picture:
            return image_generation.encode_request(request, self._address, self._model, without)
        return encode_request(request, self._address, self._model, candidate)

    def _stop_if_dead(self, server: Connection, error: CallError) -> None:
        """End the run if there was no server from the start, or its certificate is not trusted."""
        if error.kind in ("connect", "tls") and not self._servers.was_reached:
            raise EndpointError(f"{server.address.host}: {error.detail}.")

    def _problem(self, error: CallError, retries: Counter[str]) -> RequestProblem:
        """Return the problem of a request; after too many, which may all be the server's fault, end the run."""
        self._in_vain += not (error.refused and self._proven)
        if self._in_vain >= REFUSALS:
            raise EndpointError(
                f"{self._servers.names} gave no reply to {REFUSALS} requests in a row; the last time: {error.detail}. "
                "Replies are kept; run the same command again to resume."
            )
        return RequestProblem(error.kind, error.detail, dict(retries), refused=error.refused)


def encode_request(request: Request, address: Address, model: str, candidate: str | None = None) -> bytes:
    """Encode a request in the server's protocol, within its limits.

    Raises:
        RequestProblem: An image or the request is too large, or the server cannot give what is asked for.
    """
    kind = address.kind
    if (request.candidates and not kind.gives_candidate_logprobs) or (request.labels and kind.protocol != "openai"):
        raise RequestProblem(NO_LOGPROBS, f"servers of the kind {address.profile} give no log-probabilities of answers")
    for image in request.images:
        if kind.max_image_bytes is not None and -(-len(image) // 3) * 4 > kind.max_image_bytes:
            raise RequestProblem(RejectReason.OVERSIZED, f"in Base64 larger than {kind.max_image_bytes >> 20} MiB")
        if kind.max_image_side is not None and max(image_size(image)) > kind.max_image_side:
            raise RequestProblem(RejectReason.OVERSIZED, f"a side is longer than {kind.max_image_side} pixels")
    body: bytes = PROTOCOLS[kind.protocol].encode_request(request, address, model, candidate)
    if kind.max_request_bytes is not None and len(body) > kind.max_request_bytes:
        raise RequestProblem(RejectReason.OVERSIZED, f"the request is larger than {kind.max_request_bytes:,} bytes")
    return body
