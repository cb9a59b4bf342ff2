"""Many requests under way at once: the loop that all models share, and models of which each thread has its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from queue import SimpleQueue
from typing import Any, TypeVar

from vcrgen.models.base import Reader, Reply, Request, RequestProblem

T = TypeVar("T")


def as_done(
    requests: Iterable[tuple[T, Request]], submit: Callable[[T, Request], Future[Reply]], most: int
) -> Iterator[tuple[T, Reply | RequestProblem]]:
    """Keep requests under way and give each one's outcome as soon as it is there.

    Args:
        requests: Each with what the caller knows it by.
        submit: Starts to answer one.
        most: How many may be under way. No further one is taken from ``requests`` before.

    Yields:
        What the caller knows a request by, and its reply or why it gets none. Whatever else ``submit`` raises is raised
        here; who started the others calls them off.
    """
    finished: SimpleQueue[tuple[T, Future[Reply]]] = SimpleQueue()
    waiting: set[Future[Reply]] = set()

    def start(what: T, request: Request) -> None:
        future = submit(what, request)
        waiting.add(future)
        future.add_done_callback(lambda done: finished.put((what, done)))

    for what, request in requests:
        start(what, request)
        if len(waiting) >= most:
            yield _next(finished, waiting)
    while waiting:
        yield _next(finished, waiting)


def _next(
    finished: SimpleQueue[tuple[T, Future[Reply]]], waiting: set[Future[Reply]]
) -> tuple[T, Reply | RequestProblem]:
    """Wait for the next outcome."""
    what, future = finished.get()
    waiting.remove(future)
    try:
        return what, future.result()
    except RequestProblem as problem:
        return what, problem


class Readers:
    """A model of several readers of one kind, each of which answers in a thread of its own.

    Args:
        make: Makes a reader.
        workers: How many.
    """

    def __init__(self, make: Callable[[], Reader], workers: int = 1) -> None:
        self._readers = [make() for _ in range(workers)]
        self.name = self._readers[0].name
        self.facts: Mapping[str, Any] = self._readers[0].facts

    def answers(
        self, requests: Iterable[tuple[T, Request]], keep: Callable[[T, Reply], None]
    ) -> Iterator[tuple[T, Reply | RequestProblem]]:
        """As :meth:`vcrgen.models.base.Model.answers`; what is being answered when the caller stops is kept, too."""
        idle: SimpleQueue[Reader] = SimpleQueue()
        for reader in self._readers:
            idle.put(reader)

        def answer(what: T, request: Request) -> Reply:
            reader = idle.get()
            try:
                reply = reader.reply(request)
            finally:
                idle.put(reader)
            keep(what, reply)
            return reply

        pool = ThreadPoolExecutor(len(self._readers))
        try:
            most = len(self._readers) + 1  # so that no thread waits for its next request
            yield from as_done(requests, lambda what, request: pool.submit(answer, what, request), most)
        finally:
            pool.shutdown(cancel_futures=True)
