"""An event loop in a thread of its own."""

import asyncio
import threading
from collections.abc import AsyncIterator
from concurrent.futures import CancelledError, Future
from contextlib import asynccontextmanager

import pytest

from vcrgen.models.loop import LoopThread


def test_the_end_calls_off_what_runs_and_then_leaves_what_was_entered() -> None:
    told: list[str] = []
    began, read = threading.Event(), threading.Event()

    @asynccontextmanager
    async def client() -> AsyncIterator[str]:
        yield "client"
        told.append("left")

    async def endless() -> None:
        began.set()
        try:
            await asyncio.sleep(3600)
        finally:
            told.append("called off")

    def reads() -> None:
        told.append("read")
        read.set()

    before = set(threading.enumerate())
    with pytest.raises(KeyError), LoopThread() as loop:
        assert loop.enter(client()) == "client"
        work: list[Future[None]] = [loop.start(endless()), loop.start(asyncio.to_thread(reads))]
        assert began.wait(30) and read.wait(30)
        raise KeyError
    assert sorted(told) == ["called off", "left", "read"] and told[-1] == "left"
    with pytest.raises(CancelledError):
        work[0].result()
    assert set(threading.enumerate()) <= before
