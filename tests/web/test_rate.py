"""How often a client may do something within a time."""

import pytest

from vcrgen.web import rate
from vcrgen.web.rate import Rate


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [1000.0]
    monkeypatch.setattr("vcrgen.web.rate.time.monotonic", lambda: now[0])
    return now


def test_a_client_that_did_it_often_enough_has_to_wait(clock: list[float]) -> None:
    limited = Rate(2, 60)
    for _ in range(2):
        assert not limited.full("a")
        limited.note("a")
    assert limited.full("a") and not limited.full("b")
    clock[0] += 61
    assert not limited.full("a")


def test_times_run_out_one_by_one(clock: list[float]) -> None:
    limited = Rate(2, 60)
    limited.note("a")
    clock[0] += 40
    limited.note("a")
    assert limited.full("a")
    clock[0] += 30
    assert not limited.full("a")


def test_many_clients_do_not_fill_the_memory(clock: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rate, "CLIENTS", 10)
    limited = Rate(1, 60)
    for number in range(100):
        limited.note(str(number))
    assert limited.full("99") and not limited.full("0")
    assert sum(limited.full(str(number)) for number in range(100)) == 10
