"""Concurrent requests: the loop that all models share, and a pool of models with a thread each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from queue import SimpleQueue
from typing import Any, TypeVar

from vcrgen.models.base import Reply, Request, RequestProblem, VisionModel
from vcrgen.work.progress import SILENT, ProgressListener

T = TypeVar("T")


def as_completed(
    requests: Iterable[tuple[T, Request]], submit: Callable[[T, Request], Future[Reply]], most: int
) -> Iterator[tuple[T, Reply | RequestProblem]]:
    """Keep requests under way and yield each outcome as soon as it is there.

    Args:
        requests: Each with a tag of the caller's.
        submit: Starts a request.
        most: Limit of requests under way; no further one is taken from ``requests``.

    Yields:
        The tag of a request, and its reply or problem. Other exceptions of a request are raised here.
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


class ModelPool:
    """A pool of equal models, each of which answers in a thread of its own.

    Args:
        make: Makes a model.
        workers: Number of models.
    """

    def __init__(self, make: Callable[[], VisionModel], workers: int = 1) -> None:
        self._models = [make() for _ in range(workers)]
        self.name = self._models[0].name
        self.facts: Mapping[str, Any] = self._models[0].facts

    def answers(
        self,
        requests: Iterable[tuple[T, Request]],
        keep: Callable[[T, Reply], None],
        *,
        proven: bool = False,
        listener: ProgressListener = SILENT,
    ) -> Iterator[tuple[T, Reply | RequestProblem]]:
        """As :meth:`vcrgen.models.base.Model.answers`; replies under way when the caller stops are stored, too."""
        idle: SimpleQueue[VisionModel] = SimpleQueue()
        for model in self._models:
            idle.put(model)

        def answer(what: T, request: Request) -> Reply:
            model = idle.get()
            try:
                reply = model.reply(request)
            finally:
                idle.put(model)
            keep(what, reply)
            return reply

        pool = ThreadPoolExecutor(len(self._models))
        try:
            most = len(self._models) + 1  # so that no thread waits for its next request
            yield from as_completed(requests, lambda what, request: pool.submit(answer, what, request), most)
        finally:
            pool.shutdown(cancel_futures=True)
