"""Concurrent work: the loop that all runs of models share, and a pool of models with a thread each."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from queue import SimpleQueue
from typing import Any, TypeVar

from vcrgen.core.progress import SILENT, ProgressListener
from vcrgen.models.base import Reply, Request, RequestProblem, VisionModel

T = TypeVar("T")
R = TypeVar("R")


def as_completed(take: Callable[[], tuple[T, Future[R]] | None], most: int) -> Iterator[tuple[T, Future[R]]]:
    """Keep work under way, and yield each piece of it as soon as it is done.

    Args:
        take: Starts the next piece; None if there is none for now. Called again whenever one was yielded.
        most: Limit of work under way.

    Yields:
        The tag of a piece, and its future, which is done.
    """
    finished: SimpleQueue[Future[R]] = SimpleQueue()
    under_way: dict[Future[R], T] = {}
    while True:
        while len(under_way) < most and (piece := take()) is not None:
            what, future = piece
            under_way[future] = what
            future.add_done_callback(finished.put)
        if not under_way:
            return
        future = finished.get()
        yield under_way.pop(future), future


def answer_all(
    requests: Iterable[tuple[T, Request]], submit: Callable[[T, Request], Future[Reply]], most: int
) -> Iterator[tuple[T, Reply | RequestProblem]]:
    """Keep requests under way, and yield each outcome as soon as it is there.

    Args:
        requests: Each with a tag of the caller's.
        most: Limit of requests under way; no further one is taken from ``requests``.

    Yields:
        The tag of a request, and its reply or problem. Other exceptions of a request are raised here.
    """
    coming = iter(requests)

    def take() -> tuple[T, Future[Reply]] | None:
        for what, request in coming:
            return what, submit(what, request)
        return None

    for what, future in as_completed(take, most):
        outcome: Reply | RequestProblem
        try:
            outcome = future.result()
        except RequestProblem as problem:
            outcome = problem
        yield what, outcome


class ModelPool:
    """A pool of equal models, each of which answers in a thread of its own."""

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
            yield from answer_all(requests, lambda what, request: pool.submit(answer, what, request), most)
        finally:
            pool.shutdown(cancel_futures=True)
