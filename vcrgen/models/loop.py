"""An event loop in a thread of its own, for callers without one or inside another one, as notebooks are."""

import asyncio
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from typing import Any, Self, TypeVar

T = TypeVar("T")


class LoopThread:
    """An event loop that runs in a thread of its own while the block does.

        with LoopThread() as loop:
            client = loop.enter(open_client())
            pages = [loop.start(client.fetch(url)) for url in urls]
            ...

    At the end of the block, running work is cancelled, and the entered contexts are left. Work of
    ``asyncio.to_thread`` is waited for.
    """

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._stack = AsyncExitStack()

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        try:
            self.start(self._end()).result()
        finally:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()

    def start(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Start work in the loop; return its future."""
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def enter(self, context: AbstractAsyncContextManager[T]) -> T:
        """Enter a context in the loop until the end of the block."""
        return self.start(self._stack.enter_async_context(context)).result()

    async def _end(self) -> None:
        await asyncio.sleep(0)  # httpx2 leaves a warning of each connection that is called off before it begins
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        await self._stack.aclose()
        await self._loop.shutdown_default_executor()
