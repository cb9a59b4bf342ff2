"""Asking: many items side by side, each at a stage of its own; every reply is written down before it is used."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from concurrent.futures import Future
from datetime import UTC, datetime
from queue import SimpleQueue
from typing import Any, NamedTuple, TypeVar

from vcrgen.bloom.making.generated import PictureFolder
from vcrgen.bloom.making.records import ItemDropped, LocalWork, StageRequest, Steps
from vcrgen.config import AskingOptions
from vcrgen.errors import EndpointError, OutputError
from vcrgen.models.base import Reply, ReplyOutcome, Request, RequestProblem
from vcrgen.models.endpoint import EndpointModel
from vcrgen.models.loop import LoopThread
from vcrgen.plurals import counted
from vcrgen.work.ledger import Ledger

K = TypeVar("K")
T = TypeVar("T")
NOT_THERE = "not_in_the_ledger"  # --offline, and the reply is not there
LIMIT = "limit_reached"
_READING = 4  # items that read a picture at a time, about


class NotAsked(NamedTuple):
    """An item whose next request has no reply: what is known of it may change with another run."""

    reason: str
    detail: str


class Spent:
    """What replies took."""

    def __init__(self, options: AskingOptions) -> None:
        self._options = options
        self.calls: Counter[tuple[str, str]] = Counter()  # by stage and model
        self.pictures = 0
        self._tokens: Counter[tuple[str, str]] = Counter()  # by kind and model

    def add(self, stage: str, model: str, reply: Reply) -> None:
        """Count a reply."""
        self.calls[stage, model] += 1
        for kind in ("input", "output"):
            self._tokens[kind, model] += reply.usage.get(kind, 0)
        self.pictures += reply.usage.get("pictures", 0)

    @property
    def read(self) -> int:
        """Tokens that were read."""
        return sum(count for (kind, _), count in self._tokens.items() if kind == "input")

    @property
    def written(self) -> int:
        """Tokens that were written."""
        return sum(count for (kind, _), count in self._tokens.items() if kind == "output")

    @property
    def cost(self) -> float | None:
        """What it cost; None where there is no price."""
        own, judges = self._options.prices, self._options.judge_prices
        if own is None or judges is None:
            return None
        words = 0.0
        for (kind, model), count in sorted(self._tokens.items()):
            words += count * (own if model == self._options.model else judges)[kind == "output"]
        return words / 1_000_000 + self.pictures * self._options.picture_price

    @property
    def so_far(self) -> str:
        """Replies, and cost where there are prices, in a few words, as progress shows them."""
        return self._replies + ("" if self.cost is None else f", cost {self.cost:,.4g}")

    @property
    def told(self) -> str:
        """Replies, tokens, generated pictures, and cost where there are prices, for people."""
        pictures = f", {counted(self.pictures, 'picture')}" if self.pictures else ""
        cost = "" if self.cost is None else f", cost {self.cost:,.4g}"
        tokens = f"{counted(self.read, 'token')} read, {self.written:,} written"
        return f"{self._replies}, {tokens}{pictures}{cost}"

    @property
    def _replies(self) -> str:
        return counted(self.calls.total(), "reply", "replies")


class Desk:
    """Sends the requests of many items and gives each item the replies.

    Args:
        ledger: The replies, by model and request.
        names: Of the models, by role.
        models: The same models, or none of them where nobody is to be asked.
        options: How many requests may be under way, and what may be spent.
        folder: Takes the pictures that are generated, where any are.

    Attributes:
        used: What the replies took that the items were given, each once.
        dates: The first and the last day on which they were given, as 2026-11-22.
        spent: What all replies in the ledger took.
    """

    def __init__(
        self, ledger: Ledger, names: Sequence[str], models: Mapping[str, EndpointModel], options: AskingOptions,
        folder: PictureFolder | None = None,
    ) -> None:  # fmt: skip
        self._ledger, self._names, self._models, self._options = ledger, names, models, options
        self._folder = folder
        self.used, self.spent = Spent(options), Spent(options)
        self.dates: set[str] = set()
        self._given: set[str] = set()
        self._under_way: dict[str, asyncio.Task[tuple[Reply, str]]] = {}  # replies that items wait for, by their keys
        self._free = asyncio.Semaphore(options.concurrency)
        self._sent = 0  # requests that servers have
        self._calls: dict[str, Callable[[Request], Coroutine[Any, Any, Reply]]] = {}
        for key, _ in ledger.items():
            self.spent.add("", _model_of(key), self._read(key)[0])

    def work(
        self, next_chain: Callable[[], tuple[K, Steps[T]] | None]
    ) -> Iterator[tuple[K, T | ItemDropped | NotAsked]]:
        """Take items through their stages, all of them in one event loop.

        Some more items are begun than requests may be under way, so that there is one to send while others read a
        picture or have their reply looked at.

        Args:
            next_chain: Gives an item's stages and what the caller knows it by, or None where there is none for now;
                asked again after each outcome.

        Yields:
            What the caller knows an item by, and what came of it; in the order in which they are done.

        Raises:
            EndpointError: The server cannot be reached, or refuses one request after another.
        """
        most = self._options.concurrency
        begun = 0
        done: SimpleQueue[tuple[K, Future[T | ItemDropped | NotAsked]]] = SimpleQueue()
        with LoopThread() as loop:
            self._calls = {name: loop.enter(model.calling()) for name, model in self._models.items()}

            def start(what: K, steps: Steps[T]) -> None:
                outcome = loop.start(self._outcome(steps))
                outcome.add_done_callback(lambda whole: done.put((what, whole)))

            while True:
                while begun < most + most // 2 + _READING and (new := next_chain()) is not None:
                    start(*new)
                    begun += 1
                if not begun:
                    return
                what, whole = done.get()
                begun -= 1
                yield what, whole.result()

    async def _outcome(self, steps: Steps[T]) -> T | ItemDropped | NotAsked:
        """Take an item through its stages."""
        given = None
        try:
            while True:
                asked = steps.send(given)
                if isinstance(asked, LocalWork):
                    given = await asyncio.to_thread(asked.call)
                else:
                    given = await self._reply(asked)
        except StopIteration as stop:
            made: T = stop.value
            return made
        except ItemDropped as dropped:
            return dropped
        except RequestProblem as refused:
            return NotAsked(refused.reason, refused.detail)

    async def _reply(self, asked: StageRequest) -> Reply:
        """The reply to a request: out of the ledger, or of a model. Items with the same request wait for one reply."""
        name = self._names[asked.role]
        key = f"{name} {asked.request.id}"
        if key in self._ledger:
            reply, date = self._read(key)
        else:
            if key not in self._under_way:
                self._under_way[key] = asyncio.create_task(self._new_reply(asked, name, key))
                self._under_way[key].add_done_callback(lambda _: self._under_way.pop(key))
            reply, date = await self._under_way[key]
        if key not in self._given:
            self._given.add(key)
            self.used.add(asked.stage, name, reply)
            self.dates.add(date)
        return reply

    async def _new_reply(self, asked: StageRequest, name: str, key: str) -> tuple[Reply, str]:
        """The reply of a model, which is written down, and the day on which it was asked."""
        await self._free.acquire()  # and not let go after an error that ends the run, so that nothing more is sent
        try:
            self._check_limits(asked.stage, name)
            today = datetime.now(UTC).date().isoformat()
            self._sent += 1
            try:
                reply = await self._calls[name](asked.request)
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
        return reply, today

    def _check_limits(self, stage: str, name: str) -> None:
        """See that a request may be sent.

        Raises:
            RequestProblem: Nothing more may be.
        """
        limits, spent = self._options, self.spent
        if not self._models:
            raise RequestProblem(NOT_THERE, f"the ledger holds no reply of {name} at the stage {stage}")
        if limits.max_calls is not None and spent.calls.total() + self._sent >= limits.max_calls:
            raise RequestProblem(LIMIT, f"--max-calls {limits.max_calls} is reached")
        if limits.max_tokens is not None and spent.read + spent.written >= limits.max_tokens:
            raise RequestProblem(LIMIT, f"--max-tokens {limits.max_tokens} is reached")
        if limits.max_cost is not None and (spent.cost or 0.0) >= limits.max_cost:
            raise RequestProblem(LIMIT, f"--max-cost {limits.max_cost:g} is reached")

    def _count(self, name: str, reply: Reply) -> None:
        limited = self._options.max_tokens is not None or self._options.max_cost is not None
        if limited and not reply.usage and reply.outcome == ReplyOutcome.ANSWERED:
            raise EndpointError(
                "The server does not say how many tokens a reply took, so --max-tokens and --max-cost cannot be kept; "
                "leave them out, or give --max-calls."
            )
        self.spent.add("", name, reply)

    def _read(self, key: str) -> tuple[Reply, str]:
        """A reply in the ledger, and its day."""
        try:
            value = self._ledger[key]
            reply = Reply.from_json(value["reply"])
            texts = reply.text, reply.finish_reason
            if not all(isinstance(text, str) for text in texts) or {*map(type, reply.usage.values())} - {int}:
                raise ValueError
            # Days stand on the card, so nothing else may.
            return reply, datetime.fromisoformat(value["date"]).date().isoformat()
        except (TypeError, KeyError, AttributeError, ValueError):
            raise OutputError(
                f"The ledger of the replies is damaged: what it keeps as {key[-80:]!r} is no reply; remove that line, "
                "whose reply is then asked for again, or name another --ledger."
            ) from None


def _model_of(key: str) -> str:
    return key.rpartition(" ")[0]
