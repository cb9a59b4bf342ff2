"""Several servers of one model: who gets which calls, and what becomes of those that fail."""

import asyncio
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from vcrgen.errors import ConfigError, EndpointError
from vcrgen.models import endpoint
from vcrgen.models.address import Endpoint, parse_address, parse_endpoints
from vcrgen.models.balancing import Balancer
from vcrgen.models.base import Reply, Request, RequestProblem
from vcrgen.models.chat import CallError
from vcrgen.models.connection import Connection, Limits
from vcrgen.models.endpoint import EndpointModel
from vcrgen.work.progress import ProgressListener


@pytest.fixture(autouse=True)
def _no_long_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoint, "_FIRST_PAUSE", 0.02)
    monkeypatch.setattr(endpoint, "_LONGEST_PAUSE", 0.1)


class Warnings(ProgressListener):
    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []

    def warn(self, text: str) -> None:
        self.texts.append(text)


def ask(
    addresses: list[str],
    count: int,
    *,
    listener: ProgressListener | None = None,
    candidates: bool = False,
    **limits: Any,
) -> dict[int, Reply | RequestProblem]:
    model = EndpointModel(parse_endpoints(addresses, "m"), "m", limits=Limits(**{"timeout": 20, **limits}))

    def requests() -> Iterator[tuple[int, Request]]:
        likely = ("the right answer",) if candidates else ()
        return ((number, Request(text=f"question {number}", candidates=likely)) for number in range(count))

    return dict(model.answers(requests(), lambda what, reply: None, listener=listener or ProgressListener()))


def texts(outcomes: dict[int, Reply | RequestProblem]) -> list[str]:
    return [outcome.text if isinstance(outcome, Reply) else outcome.reason for _, outcome in sorted(outcomes.items())]


def test_equal_replies_whatever_server_answers(serve: Any, faults: Any) -> None:
    alone = texts(ask([serve().url], 40))

    def breaks(call: Any) -> Any:
        return faults.Answer(status=500, body=b"no") if call.number % 3 == 1 else faults.Answer(delay=0.005)

    first, second, third = serve(breaks), serve(), serve(lambda call: faults.Answer(fault="reset"))
    outcomes = ask([first.url, f"{second.url},2", third.url], 40, concurrency=8)
    assert texts(outcomes) == alone
    hosts = Counter(outcome.served["host"] for outcome in outcomes.values() if isinstance(outcome, Reply))
    assert set(hosts) == {f"127.0.0.1:{server.port}" for server in (first, second)}
    assert sum(hosts.values()) == 40


def test_weights_are_shares_of_the_calls_under_way(serve: Any, faults: Any) -> None:
    light, heavy = (serve(lambda call: faults.Answer(delay=0.05)) for _ in range(2))
    ask([light.url, f"{heavy.url},3"], 80, concurrency=16)
    assert (light.most, heavy.most) == (4, 12)


def test_one_call_at_a_time_goes_round(serve: Any) -> None:
    first, second = serve(), serve()
    ask([first.url, second.url], 10, concurrency=1)
    assert (len(first.calls), len(second.calls)) == (5, 5)


def test_a_server_that_fails_gets_one_call_after_each_cool_down(serve: Any, faults: Any) -> None:
    """Of 60 requests, a dead server costs a few calls, and no request its reply."""
    dead = serve(lambda call: faults.Answer(status=401, body=b'{"error": "no such key"}'))
    good = serve(lambda call: faults.Answer(delay=0.02))
    listener = Warnings()
    outcomes = ask([dead.url, good.url], 60, concurrency=4, listener=listener)
    assert all(isinstance(outcome, Reply) for outcome in outcomes.values())
    # Two of the first four, and one after each pause of 0.02, 0.04, 0.08, 0.1, 0.1, ... seconds.
    duration = good.calls[-1].at - dead.calls[0].at
    assert 3 <= len(dead.calls) <= 2 + 4 + duration / 0.1
    assert listener.texts == [
        f"127.0.0.1:{dead.port}: the server answers 401: no such key; meanwhile other endpoints are asked."
    ]


def test_a_server_that_comes_back_gets_its_share_again(serve: Any, faults: Any) -> None:
    ill = serve(lambda call: faults.Answer(status=503 if call.number < 3 else 200, delay=0.01))
    good = serve(lambda call: faults.Answer(delay=0.01))
    ask([ill.url, good.url], 400, concurrency=8)
    assert len(ill.calls) > 100 and len(good.calls) > 100


def test_a_busy_server_rests_as_long_as_it_asks(serve: Any, faults: Any) -> None:
    wait = {"Retry-After": "1"}
    busy = serve(lambda call: faults.Answer(**{"status": 429, "headers": wait} if call.number == 0 else {}))
    good = serve(lambda call: faults.Answer(delay=0.02))
    ask([busy.url, good.url], 200, concurrency=2)
    assert busy.calls[1].at - busy.calls[0].at >= 1
    between = [call for call in good.calls if busy.calls[0].at < call.at < busy.calls[1].at]
    assert len(between) >= 5


def test_a_request_that_is_refused_is_not_sent_to_the_others(serve: Any, faults: Any) -> None:
    def plan(call: Any) -> Any:
        return faults.Answer(status=400 if b"question 7" in call.data else 200)

    first, second = serve(plan), serve(plan)
    outcomes = ask([first.url, second.url], 12, concurrency=3)
    assert [number for number, outcome in outcomes.items() if isinstance(outcome, RequestProblem)] == [7]
    assert len(first.calls) + len(second.calls) == 12


def test_servers_of_two_models(serve: Any, faults: Any) -> None:
    first, second = serve(), serve(lambda call: faults.Answer(more={"model": "another"}))
    with pytest.raises(EndpointError, match=r"serves '(another|m)', and another endpoint '(another|m)'"):
        ask([first.url, second.url], 9, concurrency=2)


def test_a_wrong_address_beside_a_right_one(serve: Any) -> None:
    gone, good = serve(), serve()
    gone.__exit__()
    listener = Warnings()
    assert "connect" not in texts(ask([gone.url, good.url], 8, concurrency=2, listener=listener))
    assert len(listener.texts) == 1 and "no server can be reached there" in listener.texts[0]


def test_no_server_at_all(serve: Any) -> None:
    gone, away = serve(), serve()
    gone.__exit__()
    away.__exit__()
    with pytest.raises(EndpointError, match="no server can be reached there"):
        ask([gone.url, away.url], 8)


def test_an_outage_of_all_is_waited_out(serve: Any, faults: Any) -> None:
    ends: list[float] = []  # of the outage, which begins when both have answered, however slow this machine is

    def plan(call: Any) -> Any:
        if call.number == 5:
            ends.append(time.monotonic() + 1)
        away = len(ends) > 0 and time.monotonic() < ends[0]
        return faults.Answer(status=503 if away else 200, delay=0.02)

    first, second = serve(plan), serve(plan)
    listener = Warnings()
    outcomes = ask([first.url, second.url], 100, concurrency=2, listener=listener)
    assert all(isinstance(outcome, Reply) for outcome in outcomes.values())
    assert any("waiting for it" in text for text in listener.texts)


def test_patience_with_all_of_them_ends(serve: Any, faults: Any) -> None:
    first, second = (serve(lambda call: faults.Answer(status=200 if call.number < 3 else 503)) for _ in range(2))
    with pytest.raises(EndpointError, match=rf"127.0.0.1:{first.port}, 127.0.0.1:{second.port} gave no reply to 10"):
        ask([first.url, second.url], 50, concurrency=4, patience=0.3)


def test_each_server_proves_its_log_probabilities(serve: Any, faults: Any) -> None:
    """The candidates of a request go where its reply came from, and each server gets an absurd text once."""
    first, second = serve(faults.with_likelihoods), serve(faults.with_likelihoods)
    ask([first.url, second.url], 10, concurrency=4, candidates=True)
    for server in (first, second):
        answers = sum(len(call.body["messages"]) == 1 for call in server.calls)
        assert answers and len(server.calls) == 2 * answers + 1


def test_one_that_ignores_log_probabilities_ends_the_run(serve: Any, faults: Any) -> None:
    good, bad = serve(faults.with_likelihoods), serve(lambda call: faults.with_likelihoods(call, "same"))
    with pytest.raises(EndpointError, match=rf"127.0.0.1:{bad.port}: .* not believed"):
        ask([good.url, bad.url], 10, concurrency=4, candidates=True)


@pytest.mark.parametrize(
    ("addresses", "keys", "message"),
    [
        (["http://a/v1", "http://a/v1,2"], [], "--endpoint a comes twice; leave it out."),
        (["http://a/v1", "http://b/v1,0"], [], "--endpoint b has the weight 0; leave it out."),
        (["http://a/v1", "b"], [], "--endpoint has to be an address"),
        (["http://a/v1,-2"], [], None),
        (["http://a/v1"], ["A", "B"], "Give --key-env once for all servers, or as often as --endpoint; there are 2"),
        (["http://a/v1"] * 3, ["A", "B"], "there are 2 for 3"),
    ],
)
def test_addresses(addresses: list[str], keys: list[str], message: str | None) -> None:
    if message is None:  # a comma is also a part of paths
        assert parse_endpoints(addresses, "m", keys=keys)[0].weight == 1
        return
    with pytest.raises(ConfigError, match=message):
        parse_endpoints(addresses, "m", keys=keys)


def test_keys_of_their_own(serve: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEY_A", "sk-aaaaaaaa")
    monkeypatch.setenv("KEY_B", "sk-bbbbbbbb")
    first, second = serve(), serve()
    for keys in (["KEY_A", "KEY_B"], ["KEY_A"]):
        servers = parse_endpoints([first.url, second.url], "m", keys=keys)
        model = EndpointModel(servers, "m", limits=Limits(concurrency=1))
        requests = ((number, Request(text=f"{keys}{number}")) for number in range(2))
        list(model.answers(requests, lambda what, reply: None))
    sent = [[call.headers["authorization"][-8:] for call in server.calls] for server in (first, second)]
    assert sent == [["aaaaaaaa", "aaaaaaaa"], ["bbbbbbbb", "aaaaaaaa"]]


def test_servers_of_two_kinds() -> None:
    addresses = ["https://api.openai.com/v1", "http://127.0.0.1:8000/v1"]
    with pytest.raises(
        ConfigError, match=r"127.0.0.1:8000 is a server of the kind vllm, and api.openai.com of the kind"
    ):
        EndpointModel(parse_endpoints(addresses, "gpt"), "gpt")


def test_failures_at_one_time_count_once() -> None:
    """Thirty calls that fail together do not make a cool-down of an hour."""

    async def run() -> float:
        connection = Connection(Endpoint(address=parse_address("http://a/v1", "m")), Limits())
        balancer = Balancer([connection, connection], ProgressListener())
        for _ in range(30):
            balancer.note_failure(connection, CallError("reset", "broken off"), 1.0, 3600.0)
        until: float = balancer._cool_until[connection] - asyncio.get_running_loop().time()
        await balancer.close()
        return until

    assert 0 < asyncio.run(run()) <= 1
