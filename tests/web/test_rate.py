"""Limits of how often a client may do something."""

import pytest

from vcrgen.web import limits
from vcrgen.web.rate import RateLimiter, client_network


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [1000.0]
    monkeypatch.setattr("vcrgen.web.rate.time.monotonic", lambda: now[0])
    return now


def test_a_client_that_did_it_often_enough_has_to_wait(clock: list[float]) -> None:
    limited = RateLimiter(2, 60)
    for _ in range(2):
        assert not limited.is_full("a")
        limited.record("a")
    assert limited.is_full("a") and not limited.is_full("b")
    clock[0] += 61
    assert not limited.is_full("a")


def test_times_run_out_one_by_one(clock: list[float]) -> None:
    limited = RateLimiter(2, 60)
    limited.record("a")
    clock[0] += 40
    limited.record("a")
    assert limited.is_full("a")
    clock[0] += 30
    assert not limited.is_full("a")


def test_many_clients_do_not_fill_the_memory(clock: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_CLIENTS", 10)
    limited = RateLimiter(1, 60)
    for number in range(100):
        limited.record(str(number))
    assert limited.is_full("99") and not limited.is_full("0")
    assert sum(limited.is_full(str(number)) for number in range(100)) == 10


def test_one_client_has_one_network() -> None:
    assert client_network("192.0.2.1") == "192.0.2.1" and client_network("unknown") == "unknown"
    assert client_network("2001:db8::1") == client_network("2001:db8::ffff:1") != client_network("2001:db8:0:1::1")
    assert client_network("::ffff:192.0.2.1") == "192.0.2.1" != client_network("::ffff:192.0.2.2")
    assert client_network("fe80::1%eth0") == client_network("fe80::2%eth0")
