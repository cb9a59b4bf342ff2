"""Requests to a model whose replies are stored in a ledger before they count."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import count
from typing import TypeVar

from vcrgen.models.base import Model, Reply, Request, RequestProblem
from vcrgen.work.ledger import Ledger
from vcrgen.work.progress import SILENT, ProgressListener

T = TypeVar("T")

NOT_SENT = "not_sent"
_REFUSED, _UNUSABLE = "refused ", "unusable "  # before the id of a request, in keys of what is no reply to it


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
    """Return the tokens of unusable replies to requests that got no other, by kind."""
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
        model: The model.
        ledger: Replies by the id of their request; equal requests are sent once. It also holds refusals.
        may_send: Called before each request is sent; if False, the request gets the problem :data:`NOT_SENT`.
        retry_refused: Send requests again that were refused.
        listener: Is told of outages.

    Yields:
        The tag and the id of a request, and its new reply, its problem, or None if the reply was in the ledger; as
        they are done, not in the order of the requests.
    """
    proven = any(True for _ in reply_ids(ledger))
    refused: dict[str, RequestProblem] = {}  # not yet in the ledger
    sent: set[str] = set()
    problems: dict[str, RequestProblem] = {}
    not_sent: list[tuple[T, str]] = []  # those that wait for a reply which is there, or under way

    def missing() -> Iterator[tuple[tuple[T, str], Request]]:
        for what, request in requests:
            key = request.id
            if key in ledger or key in sent:
                not_sent.append((what, key))
                continue
            sent.add(key)
            if f"{_REFUSED}{key}" in ledger and not retry_refused:
                problems[key] = RequestProblem(**ledger[f"{_REFUSED}{key}"], refused=True)
            elif not may_send():
                problems[key] = RequestProblem(NOT_SENT, "the run ended before it was sent")
            else:
                yield (what, key), request
                continue
            not_sent.append((what, key))

    def there() -> Iterator[tuple[T, str, None]]:
        ready = [known for known in not_sent if known[1] in ledger]
        not_sent[:] = [known for known in not_sent if known[1] not in ledger]
        yield from ((what, key, None) for what, key in ready)

    def keep(known: tuple[T, str], reply: Reply) -> None:
        ledger.add(known[1], reply.to_json())

    answered = proven
    for (what, key), outcome in model.answers(missing(), keep, proven=proven, listener=listener):
        if isinstance(outcome, RequestProblem):
            problems[key] = outcome
            if outcome.usage:
                number = next(n for n in count() if f"{_UNUSABLE}{key} {n}" not in ledger)
                ledger.add(f"{_UNUSABLE}{key} {number}", dict(outcome.usage))
            if outcome.refused:
                refused[key] = outcome
        else:
            answered = True
        if answered:  # if all requests are refused, it may be for what they share, which can be mended at the server
            for refused_key, problem in refused.items():
                remember_refusal(ledger, refused_key, problem)
            refused.clear()
        yield from there()
        yield what, key, outcome
    yield from there()
    yield from ((what, key, problems[key]) for what, key in not_sent)


def read_reply(ledger: Ledger, key: str) -> Reply:
    """Return the reply to the request with this id; a KeyError if there is none."""
    return Reply.from_json(ledger[key])
