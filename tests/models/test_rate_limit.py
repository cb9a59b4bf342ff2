"""Requests are spread evenly, on a clock that does not wait."""

import asyncio
import random
import selectors
from collections.abc import Coroutine
from itertools import pairwise
from typing import Any

import pytest

from vcrgen.models.connection import RateLimiter


class Clock(selectors.DefaultSelector):  # type: ignore[misc]
    """Lets time go by where a loop would wait."""

    now = 1000.0

    def select(self, timeout: float | None = None) -> Any:
        assert timeout is not None, "waits for ever"
        self.now += max(timeout, 0.0)
        return super().select(0)


def run(main: Coroutine[Any, Any, None]) -> None:
    clock = Clock()
    loop = asyncio.SelectorEventLoop(clock)
    loop.time = lambda: clock.now  # type: ignore[method-assign]
    try:
        loop.run_until_complete(main)
    finally:
        loop.close()


def most_in_a_minute(times: list[float]) -> int:
    return max(sum(start <= time < start + 60 for time in times) for start in times)


@pytest.mark.parametrize("rpm", [1, 60, 500])
@pytest.mark.parametrize("held", [False, True])
def test_never_more_than_one_too_many_in_any_minute(rpm: int, held: bool) -> None:
    """Neither at the start, nor when a pause that a server asked for is over."""
    pace, sent, rng = RateLimiter(rpm=rpm), [], random.Random(0)

    async def work() -> None:
        for _ in range(20):
            await pace.wait()
            sent.append(asyncio.get_running_loop().time())
            if held and rng.random() < 0.05:
                pace.pause(rng.choice([1, 30, 90]))
            await asyncio.sleep(rng.random() * 3)

    async def main() -> None:
        await asyncio.gather(*(work() for _ in range(30)))

    run(main())
    assert len(sent) == 600 and most_in_a_minute(sent) <= rpm + 1
    if not held:  # and it is not slower than it has to be
        assert sent[-1] - sent[0] <= 600 * 60 / rpm + 1


def test_a_pause_holds_everybody() -> None:
    pace, sent = RateLimiter(), []

    async def work(number: int) -> None:
        await pace.wait()
        sent.append(asyncio.get_running_loop().time())

    async def main() -> None:
        pace.pause(7)
        pace.pause(5)  # a shorter one ends no longer one
        await asyncio.gather(*(work(number) for number in range(4)))

    run(main())
    assert min(sent) >= 1007


def test_tokens_a_minute() -> None:
    """Once it is known how many a request takes."""
    pace, used = RateLimiter(tpm=6000), []

    async def work() -> None:
        for _ in range(20):
            await pace.wait()
            await asyncio.sleep(2)
            pace.record_usage(600)
            used.append(asyncio.get_running_loop().time())

    async def main() -> None:
        await asyncio.gather(*(work() for _ in range(8)))

    run(main())
    assert most_in_a_minute(used) * 600 <= 6000 * 1.1
    gaps = [later - earlier for earlier, later in pairwise(used[40:])]
    assert 5 < sum(gaps) / len(gaps) < 7
