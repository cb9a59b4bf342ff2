"""Requests are spread evenly, and waits are told, on a clock that does not wait."""

import asyncio
import random
import selectors
from collections.abc import Coroutine
from itertools import pairwise
from typing import Any

import pytest

from vcrgen.core.progress import SILENT, ProgressListener
from vcrgen.models.rate import RateLimiter
from vcrgen.models.waits import Patience, Wait, Waits


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


def now() -> float:
    return asyncio.get_running_loop().time()


@pytest.mark.parametrize("rpm", [1, 60, 500])
@pytest.mark.parametrize("held", [False, True])
def test_never_more_than_one_too_many_in_any_minute(rpm: int, held: bool) -> None:
    """Neither at the start, nor when the server's own limit has room again, nor while it refuses some."""
    sent, rng = [], random.Random(0)

    async def work(pace: RateLimiter) -> None:
        for _ in range(20):
            at = await pace.wait()
            sent.append(at)
            if held and rng.random() < 0.05:
                pace.hold(rng.choice([1, 30, 90]))
            if held and rng.random() < 0.05:
                pace.record_refusal(at)
            await asyncio.sleep(rng.random() * 3)
            pace.record_reply(0)

    async def main() -> None:
        pace = RateLimiter(Waits(SILENT), rpm=rpm)
        await asyncio.gather(*(work(pace) for _ in range(30)))

    run(main())
    assert len(sent) == 600 and most_in_a_minute(sent) <= rpm + 1
    if not held:  # and it is not slower than it has to be
        assert sent[-1] - sent[0] <= 600 * 60 / rpm + 1


def test_what_the_server_has_no_room_for_waits_and_a_shorter_time_ends_no_longer_one() -> None:
    sent = []

    async def main() -> None:
        pace = RateLimiter(Waits(SILENT))
        pace.hold(7)
        pace.hold(5)
        sent.extend(await asyncio.gather(*(pace.wait() for _ in range(4))))

    run(main())
    assert sent == [1007] * 4


def test_tokens_a_minute() -> None:
    """Once it is known how many a request takes."""
    used = []

    async def work(pace: RateLimiter) -> None:
        for _ in range(20):
            await pace.wait()
            await asyncio.sleep(2)
            pace.record_reply(600)
            used.append(now())

    async def main() -> None:
        pace = RateLimiter(Waits(SILENT), tpm=6000)
        await asyncio.gather(*(work(pace) for _ in range(8)))

    run(main())
    assert most_in_a_minute(used) * 600 <= 6000 * 1.1
    gaps = [later - earlier for earlier, later in pairwise(used[40:])]
    assert 5 < sum(gaps) / len(gaps) < 7


def test_a_refusal_lowers_the_rate_once_and_replies_raise_it() -> None:
    """Of eight requests a second, three that were sent together are refused."""
    gaps = []

    async def main() -> None:
        pace = RateLimiter(Waits(SILENT))
        first = [await pace.wait() for _ in range(8)]
        assert first == [1000] * 8
        await asyncio.sleep(1)
        for at in first[:3]:
            pace.record_refusal(at)
        times = [await pace.wait() for _ in range(4)]
        for _ in range(20):
            pace.record_reply(0)
        times += [await pace.wait() for _ in range(2)]
        pace.record_refusal(times[-1])
        times += [await pace.wait() for _ in range(2)]
        gaps.extend(later - earlier for earlier, later in pairwise(times))

    run(main())
    assert gaps[:3] == pytest.approx([1 / 5.6] * 3)  # seven tenths of eight
    assert gaps[4] < 0.85 * gaps[0] and gaps[-1] == pytest.approx(gaps[4] / 0.7)


@pytest.mark.parametrize("allowed", [5, 10, 50])
def test_a_server_with_a_limit_of_its_own_is_used_well(allowed: int) -> None:
    """It answers so many requests in any ten seconds; of 32 at a time most get their reply at once."""
    answered, refused = list[float](), 0

    async def work(pace: RateLimiter) -> None:
        nonlocal refused
        for tries in range(100):
            at = await pace.wait()
            if sum(at - 10 < time for time in answered) < allowed:
                answered.append(at)
                await asyncio.sleep(0.3)
                return pace.record_reply(0)
            refused += 1
            pace.record_refusal(at)
            await asyncio.sleep(min(0.5 * 2**tries, 30))
        raise AssertionError("never answered")

    async def main() -> None:
        pace, slots = RateLimiter(Waits(SILENT)), asyncio.Semaphore(32)

        async def one() -> None:
            async with slots:
                await work(pace)

        await asyncio.gather(*(one() for _ in range(10 * allowed)))

    run(main())
    assert len(answered) == 10 * allowed and refused <= 1.5 * len(answered)
    assert answered[-1] - answered[0] < 2 * 100


class Told(ProgressListener):
    """Collects what is waited for, with the time."""

    def __init__(self) -> None:
        self.lines: list[tuple[float, str]] = []

    def waiting(self, what: str, until: str, /) -> None:
        self.lines.append((now() - 1000, f"{what}; {until}"))


def test_waits_are_told_at_once_and_every_half_minute() -> None:
    told, busy = Told(), "the server is busy (429)"

    async def request(waits: Waits, start: float, pause: float, tries: str) -> None:
        await asyncio.sleep(start)
        with waits.waiting(Wait(busy, now() + pause, tries)):
            await asyncio.sleep(pause)
        waits.note_reply()

    async def main() -> None:
        waits = Waits(told)
        saying = asyncio.create_task(waits.keep_saying())
        await asyncio.gather(
            request(waits, 5, 8, "1 of 40 tries"),
            request(waits, 6, 70, "5 of 40 tries"),
            request(waits, 60, 20, "12 of 40 tries"),
            request(waits, 200, 0.5, "1 of 40 tries"),
        )
        saying.cancel()

    run(main())
    assert told.lines == [
        (5, f"{busy}; next try in 8 s, 1 of 40 tries"),
        (35, f"{busy}; next try in 41 s, 5 of 40 tries"),
        (65, f"{busy}; next try in 11 s, 12 of 40 tries"),
        (200, f"{busy}; next try in 1 s, 1 of 40 tries"),
    ]


def test_a_slow_server_is_told_every_half_minute_without_a_reply() -> None:
    told = Told()

    async def main() -> None:
        waits = Waits(told)
        saying = asyncio.create_task(waits.keep_saying())
        with waits.under_way():
            with waits.under_way():
                await asyncio.sleep(65)
            waits.note_reply()
            await asyncio.sleep(31)
        await asyncio.sleep(300)
        saying.cancel()

    run(main())
    assert told.lines == [
        (30, "no reply for 30 s; 2 under way"),
        (60, "no reply for 60 s; 2 under way"),
        (95, "no reply for 30 s; 1 under way"),
    ]


def test_patience_counts_from_the_first_failure_after_a_reply() -> None:
    async def main() -> None:
        patience, none = Patience(60), Patience(0)
        await asyncio.sleep(100)
        assert patience.left == 60 and not patience.is_over
        for started in (patience, none):
            started.begin()
        await asyncio.sleep(40)
        patience.begin()
        assert patience.left == 20
        await asyncio.sleep(20)
        assert patience.is_over and not none.is_over and none.left == 0
        patience.end()
        assert patience.left == 60

    run(main())
