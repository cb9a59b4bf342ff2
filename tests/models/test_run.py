"""Requests get replies, each is asked once, and a killed run asks only what is missing."""

import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from vcrgen.core.ledger import Ledger
from vcrgen.models.base import Reply, Request, RequestProblem
from vcrgen.models.run import OpenRequests, Standing, read_reply
from vcrgen.models.run import send as send_to_model
from vcrgen.models.threads import ModelPool


class Echo:
    """Gives the prompt back; counts its requests, and may fail or wait."""

    name = "echo-1"
    facts: Mapping[str, Any] = {"model": "echo-1"}

    def __init__(self, *, wait_for: Mapping[str, threading.Event] | None = None, dies_at: str = "") -> None:
        self.asked: list[str] = []
        self._wait_for, self._dies_at = wait_for or {}, dies_at
        self._busy = threading.Lock()

    def reply(self, request: Request) -> Reply:
        assert self._busy.acquire(blocking=False), "two requests at once"
        try:
            self.asked.append(request.text)
            if request.text in self._wait_for:
                assert self._wait_for[request.text].wait(60)
            if request.text == self._dies_at:
                raise KeyboardInterrupt
            if not request.text.isalnum():
                raise RequestProblem("refused", f"not a word: {request.text}")
            return Reply(text=request.text.upper(), model=self.name, usage={"output": 1})
        finally:
            self._busy.release()


def requests(text: str) -> Iterator[tuple[int, Request]]:
    return ((number, Request(text=word)) for number, word in enumerate(text.split()))


def send(requests: Iterator[tuple[int, Request]], readers: list[Echo], ledger: Ledger) -> Any:
    """Each request's number, and its problem or the key of its reply."""
    model = ModelPool(iter(readers).__next__, len(readers))
    for number, key, outcome in send_to_model(requests, model, ledger):
        yield number, outcome if isinstance(outcome, RequestProblem) else key


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "ledger.jsonl"


@pytest.mark.parametrize("workers", [1, 3])
def test_every_request_gets_a_reply_or_a_problem(file: Path, workers: int) -> None:
    words = "one two ! three ? four"
    with Ledger(file) as ledger:
        outcomes = dict(send(requests(words), [Echo() for _ in range(workers)], ledger))
        assert sorted(outcomes) == [0, 1, 2, 3, 4, 5] and len(ledger) == 4
        for number, word in enumerate(words.split()):
            outcome = outcomes[number]
            if isinstance(outcome, RequestProblem):
                assert (outcome.reason, outcome.detail) == ("refused", f"not a word: {word}")
            else:
                assert read_reply(ledger, outcome) == Reply(text=word.upper(), model="echo-1", usage={"output": 1})
    assert {number for number, outcome in outcomes.items() if isinstance(outcome, RequestProblem)} == {2, 4}


def test_what_is_in_the_ledger_is_not_asked_again(file: Path) -> None:
    first, second = Echo(), Echo()
    with Ledger(file) as ledger:
        list(send(requests("one two !"), [first], ledger))
    with Ledger(file) as ledger:
        outcomes = dict(send(requests("zero one two ! one"), [second], ledger))
        assert read_reply(ledger, str(outcomes[4])).text == "ONE"
    assert first.asked == ["one", "two", "!"]
    assert second.asked == ["zero", "!"]  # a problem is no reply: it is tried again


@pytest.mark.parametrize("workers", [1, 3])
def test_equal_requests_are_sent_once_and_share_what_comes_of_it(file: Path, workers: int) -> None:
    echoes = [Echo() for _ in range(workers)]
    with Ledger(file) as ledger:
        outcomes = dict(send(requests("one one ! ! one two ! two"), echoes, ledger))
    assert sorted(text for echo in echoes for text in echo.asked) == ["!", "one", "two"]
    assert sorted(outcomes) == list(range(8))
    assert outcomes[0] == outcomes[1] == outcomes[4] and outcomes[5] == outcomes[7]
    assert all(isinstance(outcomes[number], RequestProblem) for number in (2, 3, 6))


def test_where_a_request_stands(file: Path) -> None:
    with Ledger(file) as ledger:
        ledger.add("old", 1)
        open_requests: OpenRequests[str] = OpenRequests(ledger)
        assert open_requests.begin("old", "a") is Standing.KEPT
        assert [open_requests.begin("new", waiter) for waiter in "abc"] == [
            Standing.NEW,
            Standing.UNDER_WAY,
            Standing.UNDER_WAY,
        ]
        assert open_requests.end("new") == ["b", "c"]
        assert open_requests.begin("new", "d") is Standing.NEW  # it ended with a problem


def test_a_run_that_is_stopped_keeps_its_replies(file: Path) -> None:
    with pytest.raises(KeyboardInterrupt), Ledger(file) as ledger:
        list(send(requests("one two three four"), [Echo(dies_at="three")], ledger))
    model = Echo()
    with Ledger(file) as ledger:
        assert len(list(send(requests("one two three four"), [model], ledger))) == 4
    assert model.asked in (["three"], ["three", "four"])  # the last one may have been under way already


def test_a_caller_that_stops_keeps_what_was_being_answered(file: Path) -> None:
    with Ledger(file) as ledger:
        outcomes = send(requests("one two three four five six"), [Echo(), Echo()], ledger)
        next(outcomes)
        outcomes.close()  # waits for what is under way, and asks nothing more
        kept = len(ledger)
        assert 1 <= kept < 6
    assert file.read_bytes().count(b"\n") == kept


def test_a_slow_request_holds_nobody_up(file: Path) -> None:
    """The others are asked and answered while it waits."""
    slow = threading.Event()
    models = [Echo(wait_for={"one": slow}) for _ in range(2)]
    with Ledger(file) as ledger:
        order = []
        for number, _ in send(requests("one two three four five"), models, ledger):
            order.append(number)
            if len(order) == 3:
                slow.set()
    assert sorted(order) == [0, 1, 2, 3, 4] and 0 not in order[:3]


def test_only_a_few_requests_are_in_memory(file: Path) -> None:
    made = []

    def many() -> Iterator[tuple[int, Request]]:
        for number in range(50):
            made.append(number)
            yield number, Request(text=f"word{number}")

    with Ledger(file) as ledger:
        for count, _ in enumerate(send(many(), [Echo(), Echo()], ledger), start=1):
            assert len(made) <= count + 3
