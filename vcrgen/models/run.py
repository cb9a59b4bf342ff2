"""Requests to a model whose replies are stored in a ledger before they count."""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from vcrgen.models.base import Model, Reply, Request, RequestProblem
from vcrgen.work.ledger import Ledger

T = TypeVar("T")

NOT_SENT = "not_sent"


def send(
    requests: Iterable[tuple[T, Request]], model: Model, ledger: Ledger, *, may_send: Callable[[], bool] = lambda: True
) -> Iterator[tuple[T, str, Reply | RequestProblem | None]]:
    """Send requests to a model until each has a reply in the ledger, or a problem.

    Args:
        requests: Each with a tag of the caller's; only a few are in memory at a time.
        model: The model.
        ledger: Replies by the id of their request; equal requests are sent once.
        may_send: Called before each request is sent; if False, the request gets the problem :data:`NOT_SENT`.

    Yields:
        The tag and the id of a request, and its new reply, its problem, or None if the reply was in the ledger; as
        they are done, not in the order of the requests.
    """
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
            if not may_send():
                problems[key] = RequestProblem(NOT_SENT, "the run ended before it was sent")
                not_sent.append((what, key))
                continue
            yield (what, key), request

    def there() -> Iterator[tuple[T, str, None]]:
        ready = [known for known in not_sent if known[1] in ledger]
        not_sent[:] = [known for known in not_sent if known[1] not in ledger]
        yield from ((what, key, None) for what, key in ready)

    def keep(known: tuple[T, str], reply: Reply) -> None:
        ledger.add(known[1], reply.to_json())

    for (what, key), outcome in model.answers(missing(), keep):
        if isinstance(outcome, RequestProblem):
            problems[key] = outcome
        yield from there()
        yield what, key, outcome
    yield from there()
    yield from ((what, key, problems[key]) for what, key in not_sent)


def read_reply(ledger: Ledger, key: str) -> Reply:
    """Return the reply to the request with this id; a KeyError if there is none."""
    return Reply.from_json(ledger[key])
