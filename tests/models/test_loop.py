"""An event loop in a thread of its own."""

import asyncio
import threading
from collections.abc import AsyncIterator
from concurrent.futures import CancelledError, Future
from contextlib import asynccontextmanager

import pytest

from vcrgen.models.loop import LoopThread


async def thread_name() -> str:
    return threading.current_thread().name


def test_work_runs_in_another_thread_also_where_a_loop_runs_already() -> None:
    async def as_in_a_notebook() -> set[str]:
        with LoopThread() as loop:
            return {loop.start(thread_name()).result(), threading.current_thread().name}

    assert len(asyncio.run(as_in_a_notebook())) == 2


def test_an_error_is_that_of_the_result() -> None:
    async def fails() -> None:
        raise ValueError("of the work")

    with LoopThread() as loop, pytest.raises(ValueError, match="of the work"):
        loop.start(fails()).result()


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
