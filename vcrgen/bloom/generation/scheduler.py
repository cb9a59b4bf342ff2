"""Concurrent requests of many items, each at a stage of its own; every reply is stored before it is used."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from concurrent.futures import Future
from datetime import UTC, datetime
from typing import Any, NamedTuple, TypeVar

from vcrgen.bloom.generation.generated_pictures import PictureFolder
from vcrgen.bloom.generation.item_records import LocalWork, StageCoroutine, StageRequest
from vcrgen.bloom.options import JudgedOptions
from vcrgen.bloom.rejects import ItemRejected
from vcrgen.core.errors import EndpointError, OutputError
from vcrgen.core.ledger import Ledger
from vcrgen.core.plurals import pluralize
from vcrgen.core.progress import ProgressListener
from vcrgen.models.base import Reply, ReplyOutcome, Request, RequestProblem
from vcrgen.models.endpoint import EndpointModel
from vcrgen.models.loop import LoopThread
from vcrgen.models.run import OpenRequests, Standing
from vcrgen.models.threads import as_completed

K = TypeVar("K")
T = TypeVar("T")
NOT_THERE = "not_in_the_ledger"  # --offline, and the reply is not there
LIMIT = "limit_reached"
_READING = 4  # items that read a picture at a time, about


class MissingReply(NamedTuple):
    """A request without a reply: another run may get one."""

    reason: str
    detail: str


class _DatedReply(NamedTuple):
    """A reply with the day on which it was given, as 2026-11-22."""

    reply: Reply
    date: str


class MissingReplies(NamedTuple):
    """The items of a run that lack a reply."""

    counts: Counter[str]  # items by reason
    example: str  # the first of them, for people

    @classmethod
    def of(cls, missing: Sequence[tuple[str, MissingReply]]) -> MissingReplies:
        """Count items with their missing replies, in an order that does not differ between runs."""
        example = next((f"{name}: {reply.detail}" for name, reply in missing), "")
        return cls(Counter(reply.reason for _, reply in missing), example)


class UsageMeter:
    """Calls, tokens and cost of replies."""

    def __init__(self, options: JudgedOptions) -> None:
        self._options = options
        self.calls: Counter[tuple[str, str]] = Counter()  # by stage and model
        self.pictures = 0
        self._tokens: Counter[tuple[str, str]] = Counter()  # by kind and model

    def add(self, stage: str, model: str, reply: Reply) -> None:
        """Count a reply."""
        self.calls[stage, model] += 1
        for usage in (reply.usage, *reply.extra_usage.values()):
            for kind in ("input", "output"):
                self._tokens[kind, model] += usage.get(kind, 0)
        self.pictures += reply.usage.get("pictures", 0)

    @property
    def read(self) -> int:
        """Input tokens."""
        return sum(count for (kind, _), count in self._tokens.items() if kind == "input")

    @property
    def written(self) -> int:
        """Output tokens."""
        return sum(count for (kind, _), count in self._tokens.items() if kind == "output")

    @property
    def cost(self) -> float | None:
        """Cost of the tokens and pictures; None without prices."""
        own, judges = self._options.prices, self._options.judge_prices
        if own is None or judges is None:
            return None
        words = 0.0
        for (kind, model), count in sorted(self._tokens.items()):
            words += count * (own if model == self._options.model else judges)[kind == "output"]
        return words / 1_000_000 + self.pictures * self._options.picture_price

    @property
    def note(self) -> str:
        """Replies, and cost where there are prices: the note of a progress bar."""
        return self._replies + ("" if self.cost is None else f", cost {self.cost:,.4g}")

    @property
    def summary(self) -> str:
        """Replies, tokens, generated pictures, and cost where there are prices."""
        pictures = f", {pluralize(self.pictures, 'picture')}" if self.pictures else ""
        cost = "" if self.cost is None else f", cost {self.cost:,.4g}"
        tokens = f"{pluralize(self.read, 'token')} read, {self.written:,} written"
        return f"{self._replies}, {tokens}{pictures}{cost}"

    @property
    def _replies(self) -> str:
        return pluralize(self.calls.total(), "reply", "replies")


class RequestScheduler:
    """Sends the requests of many items, and hands each item its replies.

    Args:
        ledger: The replies, by model and request.
        names: Of the models, by role.
        models: The same models; none of them offline.
        options: Limits of concurrency, calls, tokens and cost.
        folder: Takes generated pictures.

    Attributes:
        item_usage: Usage of the replies that items received, each once.
        dates: The days of these replies, as 2026-11-22.
        ledger_usage: Usage of all replies in the ledger.
    """

    def __init__(
        self,
        ledger: Ledger,
        names: Sequence[str],
        models: Mapping[str, EndpointModel],
        options: JudgedOptions,
        folder: PictureFolder | None = None,
    ) -> None:
        self._ledger, self._names, self._models, self._options = ledger, names, models, options
        self._folder = folder
        self.item_usage, self.ledger_usage = UsageMeter(options), UsageMeter(options)
        self.dates: set[str] = set()
        self._delivered: set[str] = set()
        self._requests: OpenRequests[asyncio.Future[_DatedReply]] = OpenRequests(ledger)
        self._free = asyncio.Semaphore(options.concurrency)
        self._sent = 0  # requests that servers have
        self._calls: dict[str, Callable[[Request], Coroutine[Any, Any, Reply]]] = {}
        for key, _ in ledger.items():
            self.ledger_usage.add("", key.rpartition(" ")[0], self._read(key).reply)

    def run(
        self, next_chain: Callable[[], tuple[K, StageCoroutine[T]] | None], listener: ProgressListener
    ) -> Iterator[tuple[K, T | ItemRejected | MissingReply]]:
        """Take items through their stages, all of them in one event loop.

        A few more items are started than requests may be pending, so that there is one to send while others read a
        picture or check their reply.

        Args:
            next_chain: Returns an item's key and stages, or None if there is none for now; called again after each
                outcome.
            listener: Is told of outages.

        Yields:
            The key of an item and its outcome, in the order in which they finish.

        Raises:
            EndpointError: The server cannot be reached, or refuses one request after another.
        """
        most = self._options.concurrency
        with LoopThread() as loop:
            proven = {name for _, name in self.ledger_usage.calls}
            self._calls = {
                name: loop.enter(model.session(proven=name in proven, listener=listener))
                for name, model in self._models.items()
            }

            def take() -> tuple[K, Future[T | ItemRejected | MissingReply]] | None:
                if (chain := next_chain()) is None:
                    return None
                key, steps = chain
                return key, loop.start(self._outcome(steps))

            for key, outcome in as_completed(take, most + most // 2 + _READING):
                yield key, outcome.result()

    async def _outcome(self, steps: StageCoroutine[T]) -> T | ItemRejected | MissingReply:
        """Take an item through its stages."""
        result = None
        try:
            while True:
                step = steps.send(result)
                if isinstance(step, LocalWork):
                    result = await asyncio.to_thread(step.call)
                else:
                    result = await self._reply(step)
        except StopIteration as stop:
            finished: T = stop.value
            return finished
        except ItemRejected as rejected:
            return rejected
        except RequestProblem as problem:
            return MissingReply(problem.reason, problem.detail)

    async def _reply(self, step: StageRequest) -> Reply:
        """The reply from the ledger or a model. Items with the same request wait for one reply."""
        name = self._names[step.role]
        key = f"{name} {step.request.id}"
        shared: asyncio.Future[_DatedReply] = asyncio.get_running_loop().create_future()
        standing = self._requests.begin(key, shared)
        if standing is Standing.KEPT:
            dated = self._read(key)
        elif standing is Standing.UNDER_WAY:
            dated = await shared
        else:
            try:
                dated = await self._new_reply(step, name, key)
            except RequestProblem as problem:
                for waiting in self._requests.end(key):
                    waiting.set_exception(problem)
                raise
            for waiting in self._requests.end(key):
                waiting.set_result(dated)
        if key not in self._delivered:
            self._delivered.add(key)
            self.item_usage.add(step.stage, name, dated.reply)
            self.dates.add(dated.date)
        return dated.reply

    async def _new_reply(self, step: StageRequest, name: str, key: str) -> _DatedReply:
        """Ask a model, and store its reply."""
        await self._free.acquire()  # not released after an error that ends the run, so that nothing more is sent
        try:
            self._check_limits(step.stage, name)
            today = datetime.now(UTC).date().isoformat()
            self._sent += 1
            try:
                reply = await self._calls[name](step.request)
                if reply.picture and self._folder:
                    await asyncio.to_thread(self._folder.add, reply.text, reply.picture)
                self._ledger.add(key, {"reply": reply.to_json(), "date": today})
                self._count(name, reply)
            finally:
                self._sent -= 1
        except RequestProblem:
            self._free.release()
            raise
        self._free.release()
        return _DatedReply(reply, today)

    def _check_limits(self, stage: str, name: str) -> None:
        """Check that a request may be sent.

        Raises:
            RequestProblem: A limit is reached, or the run is offline.
        """
        limits, usage = self._options, self.ledger_usage
        if not self._models:
            raise RequestProblem(NOT_THERE, f"the ledger holds no reply of {name} at the stage {stage}")
        if limits.max_calls is not None and usage.calls.total() + self._sent >= limits.max_calls:
            raise RequestProblem(LIMIT, f"--max-calls {limits.max_calls} is reached")
        if limits.max_tokens is not None and usage.read + usage.written >= limits.max_tokens:
            raise RequestProblem(LIMIT, f"--max-tokens {limits.max_tokens} is reached")
        if limits.max_cost is not None and (usage.cost or 0.0) >= limits.max_cost:
            raise RequestProblem(LIMIT, f"--max-cost {limits.max_cost:g} is reached")

    def _count(self, name: str, reply: Reply) -> None:
        limited = self._options.max_tokens is not None or self._options.max_cost is not None
        if limited and not reply.usage and reply.outcome == ReplyOutcome.ANSWERED:
            raise EndpointError(
                "The server does not say how many tokens a reply took, so --max-tokens and --max-cost cannot be kept; "
                "leave them out, or give --max-calls."
            )
        self.ledger_usage.add("", name, reply)

    def _read(self, key: str) -> _DatedReply:
        """Read a reply in the ledger."""
        try:
            value = self._ledger[key]
            reply = Reply.from_json(value["reply"])
            # Days stand on the card, so nothing else may.
            return _DatedReply(reply, datetime.fromisoformat(value["date"]).date().isoformat())
        except (TypeError, KeyError, ValueError):
            raise OutputError(
                f"The ledger of the replies is damaged: what it keeps as {key[-80:]!r} is no reply; remove that line, "
                "whose reply is then asked for again, or name another --ledger."
            ) from None
