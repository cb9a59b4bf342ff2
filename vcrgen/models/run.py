"""Requests to a model whose replies are stored in a ledger before they count."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from enum import Enum
from itertools import count
from pathlib import Path
from typing import Generic, TypeVar

from vcrgen.core.errors import OutputError
from vcrgen.core.ledger import Ledger
from vcrgen.core.lock import locked
from vcrgen.core.progress import SILENT, ProgressListener
from vcrgen.models.base import Model, Reply, Request, RequestProblem

T = TypeVar("T")
W = TypeVar("W")

NOT_SENT = "not_sent"
_REFUSED, _UNUSABLE = "refused ", "unusable "  # before the id of a request, in keys of what is no reply to it


@contextmanager
def open_replies(
    file: Path, listener: ProgressListener = SILENT, *, remedy: str = "name another --ledger", offline: bool = False
) -> Iterator[Ledger]:
    """Lock and open a ledger of replies; offline, only read it, maybe from a read-only disk.

    Args:
        listener: Is told of damaged lines.
        remedy: What the user may do while another run has it, besides waiting.
        offline: Whether nothing will be written.

    Raises:
        OutputError: Another run has it, it is no ledger, or it is offline and not there.
    """
    if offline:
        if not file.is_file():
            raise OutputError(f"There is no ledger {file}; name one with --ledger, or leave out --offline.")
        with Ledger(file, listener.warn, read_only=True) as ledger:
            yield ledger
        return
    busy = OutputError(f"Another run is writing to {file}; wait for it or {remedy}.")
    with locked(file.with_name(f".{file.name}.lock"), busy), Ledger(file, listener.warn) as ledger:
        yield ledger


def reply_ids(ledger: Ledger) -> Iterator[str]:
    """Yield the ids of the requests that have replies: the keys without a space."""
    return (key for key in ledger if " " not in key)


def is_refused(ledger: Ledger, key: str) -> bool:
    """Return whether the server refused the request with this id, and never answered it."""
    return f"{_REFUSED}{key}" in ledger and key not in ledger


def remember_refusal(ledger: Ledger, key: str, problem: RequestProblem) -> None:
    """Store that the server refused the request with this id."""
    ledger.add(f"{_REFUSED}{key}", {"reason": problem.reason, "detail": problem.detail})


def unusable_usage(ledger: Ledger) -> Counter[str]:
    """Tokens of unusable replies to requests that got no other, by kind; they were paid for."""
    return sum((Counter(ledger[key]) for key in ledger if key.startswith(_UNUSABLE)), Counter())


def send(
    requests: Iterable[tuple[T, Request]],
    model: Model,
    ledger: Ledger,
    *,
    may_send: Callable[[], bool] = lambda: True,
    retry_refused: bool = False,
    listener: ProgressListener = SILENT,
) -> Iterator[tuple[T, str, Reply | RequestProblem | None]]:
    """Send requests to a model until each has a reply in the ledger, or a problem.

    Args:
        requests: Each with a tag of the caller's; only a few are in memory at a time.
        ledger: Replies by the id of their request; equal requests are sent once. It also holds refusals.
        may_send: Called before each request is sent; if False, the request gets the problem :data:`NOT_SENT`.
        retry_refused: Send requests again that were refused.
        listener: Is told of outages.

    Yields:
        The tag and the id of a request, and its new reply, its problem, or None if the reply was in the ledger; as
        they are done, not in the order of the requests.
    """
    queue: _Queue[T] = _Queue(ledger, may_send, retry_refused)
    answered = proven = any(True for _ in reply_ids(ledger))

    def keep(tag_and_key: tuple[T, str], reply: Reply) -> None:
        _, key = tag_and_key
        ledger.add(key, reply.to_json())

    for (tag, key), outcome in model.answers(queue.to_send(requests), keep, proven=proven, listener=listener):
        answered |= not isinstance(outcome, RequestProblem)
        if isinstance(outcome, RequestProblem):
            queue.take_problem(key, outcome)
        if answered:  # if all requests are refused, it may be for what they share, which can be mended at the server
            queue.remember_refusals()
        yield from queue.take_settled()
        yield tag, key, outcome
        problem = outcome if isinstance(outcome, RequestProblem) else None
        yield from ((waiting, key, problem) for waiting in queue.requests.end(key))
    yield from queue.take_settled()


class Standing(Enum):
    """Where the reply to a request is."""

    KEPT = "in the ledger"
    UNDER_WAY = "under way"
    NEW = "to be sent"


class OpenRequests(Generic[W]):
    """The requests of a run whose replies a ledger keeps: equal ones are sent once, and share the reply.

    ``W`` is whatever waits for the reply to a request that another one has sent.
    """

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._waiting: dict[str, list[W]] = {}  # by key, of requests under way

    def begin(self, key: str, waiter: W) -> Standing:
        """Tell where the reply is. A new request is under way from now on; for one under way, ``waiter`` waits."""
        if key in self._ledger:
            return Standing.KEPT
        if key in self._waiting:
            self._waiting[key].append(waiter)
            return Standing.UNDER_WAY
        self._waiting[key] = []
        return Standing.NEW

    def end(self, key: str) -> list[W]:
        """End a request with a reply, which is in the ledger, or a problem; returns those that wait for it."""
        return self._waiting.pop(key)


class _Queue(Generic[T]):
    """The requests of a run with their tags, and those that are settled without being sent."""

    def __init__(self, ledger: Ledger, may_send: Callable[[], bool], retry_refused: bool) -> None:
        self.requests: OpenRequests[T] = OpenRequests(ledger)
        self._ledger, self._may_send, self._retry_refused = ledger, may_send, retry_refused
        self._problems: dict[str, RequestProblem] = {}  # by key
        self._settled: list[tuple[T, str, RequestProblem | None]] = []
        self._refused: dict[str, RequestProblem] = {}  # not yet in the ledger

    def to_send(self, requests: Iterable[tuple[T, Request]]) -> Iterator[tuple[tuple[T, str], Request]]:
        """Yield the requests to send, each with its tag and key."""
        for tag, request in requests:
            key = request.id
            if key in self._problems:
                self._settled.append((tag, key, self._problems[key]))
                continue
            standing = self.requests.begin(key, tag)
            if standing is Standing.KEPT:
                self._settled.append((tag, key, None))
            elif standing is Standing.NEW:
                if (problem := self._reason_not_to_send(key)) is None:
                    yield (tag, key), request
                else:
                    self._problems[key] = problem
                    self._settled.append((tag, key, problem))
                    self.requests.end(key)

    def _reason_not_to_send(self, key: str) -> RequestProblem | None:
        if f"{_REFUSED}{key}" in self._ledger and not self._retry_refused:
            return RequestProblem(**self._ledger[f"{_REFUSED}{key}"], refused=True)
        return None if self._may_send() else RequestProblem(NOT_SENT, "the run ended before it was sent")

    def take_settled(self) -> Iterator[tuple[T, str, RequestProblem | None]]:
        """Yield the requests that were settled since the last call: with a reply in the ledger, or a problem."""
        settled, self._settled = self._settled, []
        yield from settled

    def take_problem(self, key: str, problem: RequestProblem) -> None:
        """Keep a problem, and in the ledger the tokens of an unusable reply."""
        self._problems[key] = problem
        if problem.usage:
            number = next(n for n in count() if f"{_UNUSABLE}{key} {n}" not in self._ledger)
            self._ledger.add(f"{_UNUSABLE}{key} {number}", dict(problem.usage))
        if problem.refused:
            self._refused[key] = problem

    def remember_refusals(self) -> None:
        """Store the refusals so far in the ledger."""
        for key, problem in self._refused.items():
            remember_refusal(self._ledger, key, problem)
        self._refused.clear()


def read_reply(ledger: Ledger, key: str) -> Reply:
    """Read the reply to the request with this id; a KeyError if there is none."""
    return Reply.from_json(ledger[key])
