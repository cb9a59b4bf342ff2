"""Requests to models, several at a time, each reply written down before it counts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import asdict
from queue import SimpleQueue
from typing import TypeVar

from vcrgen.models.base import Model, Reply, Request, RequestProblem
from vcrgen.work.ledger import Ledger

T = TypeVar("T")


def send(
    requests: Iterable[tuple[T, Request]], models: Sequence[Model], ledger: Ledger
) -> Iterator[tuple[T, str | RequestProblem]]:
    """Send requests to models until each has a reply in the ledger, or a problem.

    Args:
        requests: Each with what the caller knows it by. Only a few are in memory at a time.
        models: Of one kind. Each answers one request at a time, in a thread of its own.
        ledger: Holds replies by the id of their request; a request whose reply is there is not sent.

    Yields:
        What the caller knows a request by, and the key of its reply in the ledger, or its problem. They come as they
        are done, not in the order of the requests.
    """
    idle: SimpleQueue[Model] = SimpleQueue()
    for model in models:
        idle.put(model)

    def ask(key: str, request: Request) -> str:
        model = idle.get()
        try:
            ledger.add(key, asdict(model.reply(request)))
        finally:
            idle.put(model)
        return key

    pool = ThreadPoolExecutor(len(models))
    waiting: dict[Future[str], T] = {}
    try:
        for what, request in requests:
            key = request.id
            if key in ledger:
                yield what, key
                continue
            waiting[pool.submit(ask, key, request)] = what
            while len(waiting) > len(models):
                yield from _finished(waiting)
        while waiting:
            yield from _finished(waiting)
    finally:
        pool.shutdown(cancel_futures=True)


def read_reply(ledger: Ledger, key: str) -> Reply:
    """The reply to the request with this id.

    Raises:
        KeyError: There is none.
    """
    return Reply.from_json(ledger[key])


def _finished(waiting: dict[Future[str], T]) -> Iterator[tuple[T, str | RequestProblem]]:
    """Wait for the next request that is done; take it, and others that are, out of those that are waited for."""
    done = wait(waiting, return_when=FIRST_COMPLETED).done
    for future in [future for future in waiting if future in done]:
        what = waiting.pop(future)
        try:
            yield what, future.result()
        except RequestProblem as problem:
            yield what, problem
