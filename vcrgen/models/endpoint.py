"""A model behind a server: concurrent requests with retries, and no trust in what comes back.

For example, with 32 requests under way at a time:

    model = EndpointModel(parse_address("http://127.0.0.1:8000/v1", "qwen"), "qwen", limits=Limits(concurrency=32))
    for what, outcome in model.answers(requests, keep):
        ...
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any, TypeVar

from vcrgen.core.errors import ConfigError, EndpointError, OutOfPatience
from vcrgen.core.plurals import pluralize
from vcrgen.core.progress import SILENT, ProgressListener
from vcrgen.core.rng import rng_for
from vcrgen.models import chat, image_generation
from vcrgen.models.address import Address, Key
from vcrgen.models.base import Reply, ReplyOutcome, Request, RequestProblem, TokenLogprobs
from vcrgen.models.chat import CallError
from vcrgen.models.connection import ANSWERS, Connection, Limits, load_httpx
from vcrgen.models.logprobs import ABSURD, UNTRUSTED, require_different_logprobs
from vcrgen.models.loop import LoopThread
from vcrgen.models.threads import answer_all
from vcrgen.models.waits import Patience, Wait, Waits, shown_seconds

T = TypeVar("T")

REFUSALS = 10  # requests in a row that get no reply
_TO_MEND = {f"http_{status}" for status in chat.TO_MEND}
_TRIES = 6
_BUSY_TRIES = 40  # of a request that gets status 429
_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 30.0


class EndpointModel:
    """A model behind a server.

    Attributes:
        name: The user's name of the model; the server's own is in the replies.
        facts: Everything that the replies depend on, as far as the client knows.

    Args:
        key: The key to the server, if it needs one.

    Raises:
        ConfigError: The address has a name or a length that no server can have.
        PipelineError: The extra is not installed.
    """

    def __init__(self, address: Address, name: str, *, key: Key | None = None, limits: Limits | None = None) -> None:
        httpx2 = load_httpx()
        try:
            httpx2.URL(address.url)
        except httpx2.InvalidURL as error:
            wrong = f"{address.option} is not an address that can be reached ({str(error)[:200]})."
            raise ConfigError(wrong) from None
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

            yield from answer_all(
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
        waits = Waits(listener)
        calls = _Calls(self._address, self._key, self.name, self._limits, proven, waits)
        watches = [asyncio.create_task(watch) for watch in (waits.keep_saying(), calls.watch())]
        try:
            yield calls.answer
        finally:
            for watch in watches:
                watch.cancel()
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
        """Tokens of a check and of unusable replies, which cost, too; none where there were none."""
        return {name: dict(getattr(self, name)) for name in ("check", "unusable") if getattr(self, name)}


class _Tries:
    """The failed tries of one call, counted by what limits them: the request's patience, and a number."""

    def __init__(self, request: Request, patience: float) -> None:
        self._request, self._patience = request, Patience(patience)
        self._busy = self._away = self._other = 0  # status 429; in an outage; others
        self._jitter: Random | None = None

    def wait_after(self, error: CallError) -> Wait | None:
        """Count a failed try; return the wait for the next one, or None if there is none."""
        self._patience.begin()
        if error.busy:
            self._busy += 1
            number, most, tries = self._busy, _BUSY_TRIES, f"{self._busy} of {_BUSY_TRIES} tries"
        elif error.in_outage:
            self._away += 1
            number, most, tries = self._away, 0, f"{pluralize(self._away, 'try', 'tries')}"
        else:
            self._other += 1
            number, most, tries = self._other, _TRIES, f"{self._other} of {_TRIES} tries"
        if not error.retryable or number == most or self._patience.is_over:
            return None
        self._jitter = self._jitter or rng_for(0, "retry", self._request.id)
        backoff = min(_FIRST_PAUSE * 2.0 ** min(number - 1, 10), _LONGEST_PAUSE) * (0.5 + 0.5 * self._jitter.random())
        if left := self._patience.left:  # the last try is when it ends, not before
            backoff = min(backoff, left)
        pause = max(backoff, error.wait or 0.0)
        expected = error.busy or error.in_outage
        if (expected or error.wait is not None) and pause > left:
            return None
        return Wait(_why(error), asyncio.get_running_loop().time() + pause, tries, soon=expected)


def _why(error: CallError) -> str:
    """What is waited for after an error, for people."""
    said = error.detail.removeprefix(ANSWERS)
    if error.busy:
        return f"the server is busy ({said})"
    return f"the server is away ({said})" if error.in_outage else error.detail


class _Calls:
    """The calls of one model; used in the thread of the event loop."""

    def __init__(
        self,
        address: Address,
        key: Key | None,
        model: str,
        limits: Limits,
        proven: bool,
        waits: Waits,
    ) -> None:
        self._address, self._model = address, model
        self._connection = Connection(address, key, limits, waits)
        self._waits = waits
        self._proven = proven  # whether the server ever gave a reply
        self._served = ""  # what the server calls the model
        self._in_vain = 0  # requests in a row that got no reply
        self._unknown: set[str] = set()  # what the server does not know of what is sent for a picture
        self._trusted: set[str] = set()  # options whose log-probabilities are real
        self._first_logprobs = asyncio.Lock()

    async def close(self) -> None:
        await self._connection.close()

    async def watch(self) -> None:
        await self._connection.watch()

    async def answer(self, request: Request) -> Reply:
        """Ask for a reply, and for the log-probabilities of its candidates.

        Raises:
            ConfigError: The request has a parameter that the server ignores in silence.
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
        """Add the log-probabilities of each candidate's tokens to a reply.

        The texts are the candidates and, the first time, an absurd one: a server may silently ignore the parameters.
        """
        logprobs: list[TokenLogprobs] = []
        usage, seconds = Counter(reply.usage), reply.seconds
        prompted = request.for_candidates
        with self._trusting("--answer-logprobs"):
            if prompted is not request:
                own, data = await self._reply(prompted, None, effort)
                usage.update(own.usage)
                seconds += own.seconds
            prompt = chat.prompt_tokens(data)
            for text in texts:
                scored, answer = await self._reply(prompted, text, effort)
                logprobs.append(chat.candidate_tokens(answer, prompt, text))
                (effort.check if len(logprobs) > len(request.candidates) else usage).update(scored.usage)
                seconds += scored.seconds
            if len(logprobs) > len(request.candidates):
                require_different_logprobs(logprobs[0], logprobs.pop())
        return replace(reply, candidate_logprobs=tuple(logprobs), usage=dict(usage), seconds=round(seconds, 3))

    async def _reply(self, request: Request, candidate: str | None, effort: _Effort) -> tuple[Reply, bytes]:
        """Ask for a reply to a request, or to a prompt with a candidate, and count what it took; with its bytes."""
        without = frozenset(self._unknown)
        body = self._body(request, candidate, without)
        tries = _Tries(request, self._connection.patience.seconds)
        while True:
            try:
                reply, data = await self._connection.call(body, picture=request.picture)
                self._check_name(reply)
            except CallError as error:
                self._stop_if_dead(error)
                effort.unusable.update(error.usage)
                if new := error.unknown - without:
                    self._unknown |= new
                    without |= new
                    body = self._body(request, candidate, without)
                    continue
                wait = tries.wait_after(error)
                if wait is None:
                    raise self._problem(error, effort.retries) from None
                effort.retries[error.kind] += 1
                await self._pause(error, wait)
            else:
                self._in_vain, self._proven = 0, True
                effort.used.update(reply.usage)
                return reply, data

    async def _pause(self, error: CallError, wait: Wait) -> None:
        """Pause this request before its next try; an OutOfPatience if the run gets no reply for too long."""
        clock, patience = asyncio.get_running_loop().time, self._connection.patience
        patience.begin()
        with self._waits.waiting(wait):
            while (left := wait.until - clock()) > 0:
                if patience.is_over:
                    raise self._out_of_patience(error)
                await asyncio.sleep(min(left, patience.left or left))

    def _out_of_patience(self, error: CallError) -> OutOfPatience:
        return OutOfPatience(
            f"{self._address.host} gave no reply for {shown_seconds(self._connection.patience.seconds)}, as long as "
            f"--patience allows; the last time: {error.detail}. Replies are kept; run the same command again to resume."
        )

    def _check_name(self, reply: Reply) -> None:
        """Raise a CallError unless the reply is of the same model as the others."""
        self._served = self._served or reply.model
        if reply.model not in ("", self._served):
            detail = f"the reply is of the model {reply.model!r}, not of {self._served!r}"
            raise CallError("other_model", detail, usage=reply.usage)

    def _body(self, request: Request, candidate: str | None, without: frozenset[str]) -> bytes:
        if request.picture:
            return image_generation.encode_request(request, self._address, self._model, without)
        return chat.encode_request(request, self._address, self._model, candidate)

    def _stop_if_dead(self, error: CallError) -> None:
        """End the run if there was no server from the start, or its certificate is not trusted."""
        if error.kind in ("connect", "tls") and not self._connection.reached:
            raise EndpointError(f"{self._address.host}: {error.detail}.")

    def _problem(self, error: CallError, retries: Counter[str]) -> RequestProblem:
        """Count the problem of a request; after too many, which may all be the server's fault, end the run."""
        self._in_vain += not (error.refused and self._proven)
        detail, patience = error.detail, self._connection.patience
        if patience.is_over:
            raise self._out_of_patience(error)
        if error.wait is not None and error.wait > patience.seconds:
            asked, allowed = shown_seconds(error.wait), shown_seconds(patience.seconds)
            detail += f" (it asks to wait {asked}, and --patience allows {allowed})"
        if self._in_vain >= REFUSALS:
            again = "Mend that first; then" if error.kind in _TO_MEND else "Replies are kept;"
            raise (OutOfPatience if error.busy or error.in_outage else EndpointError)(
                f"{self._address.host} gave no reply to {REFUSALS} requests in a row; the last time: "
                f"{detail.rstrip('.')}. {again} run the same command again to resume."
            )
        return RequestProblem(error.kind, detail, dict(retries), refused=error.refused)
