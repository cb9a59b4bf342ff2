"""Bodies that come at once: how much room all have, and how much one address or sender."""

import asyncio
from typing import Any

import pytest
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from vcrgen.web.guards import BodyRefused, Guard, name_sender

MAX_BYTES = 1000  # of a body; all together have 4,000, and one address or sender 2,000


class Uploads:
    """Requests whose bodies stay open: each has sent some bytes, and waits."""

    def __init__(self) -> None:
        self._tasks: list[asyncio.Task[None]] = []
        self._guard = Guard(
            self._read,
            refuse=lambda scope, status, text: PlainTextResponse(text, status),
            policy="",
            max_bytes=MAX_BYTES,
            requests_per_minute=100,
        )

    async def _read(self, scope: Scope, receive: Receive, send: Send) -> None:
        """A service that reads a body, and knows its sender when the first part has come."""
        try:
            while (await receive()).get("more_body"):
                if sender := scope["path"].removeprefix("/"):
                    name_sender(scope, sender)
            answer = PlainTextResponse("taken")
        except BodyRefused as refused:
            answer = PlainTextResponse(str(refused), refused.status)
        await answer(scope, receive, send)

    async def send(self, size: int, address: str, sender: str = "") -> str:
        """Send a part of a body that goes on: ``waits``, or what is answered."""
        parts = [{"type": "http.request", "body": b"x" * size, "more_body": True}]
        answered: list[bytes] = []

        async def receive() -> Any:
            return parts.pop() if parts else await asyncio.Event().wait()

        async def send(message: Any) -> None:
            answered.append(message.get("body", b""))

        scope = {
            "type": "http",
            "method": "POST",
            "path": f"/{sender}",
            "headers": [(b"content-length", b"1000")],
            "client": (address, 1),
        }
        task = asyncio.create_task(self._guard(scope, receive, send))
        self._tasks.append(task)
        for _ in range(20):
            await asyncio.sleep(0)
        return b"".join(answered).decode() or "waits"

    async def end(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


@pytest.mark.parametrize(
    ("sent", "last", "answer"),
    [
        ([("192.0.2.1", "")] * 2, ("192.0.2.1", ""), "You are handing in"),
        ([("192.0.2.1", "")] * 2, ("192.0.2.2", ""), "waits"),
        ([("2001:db8::1", ""), ("2001:db8::2", "")], ("2001:db8::3", ""), "You are handing in"),
        ([("192.0.2.1", "team A"), ("192.0.2.2", "team A")], ("192.0.2.3", "team A"), "You are handing in"),
        ([("192.0.2.1", "team A"), ("192.0.2.2", "team A")], ("192.0.2.3", "team B"), "waits"),
        ([("192.0.2.1", "team A"), ("192.0.2.1", "team B")], ("192.0.2.1", "team C"), "You are handing in"),
        ([(f"192.0.2.{n}", f"team {n}") for n in range(4)], ("192.0.2.9", "team 9"), "So much is being handed in"),
    ],
)
def test_half_of_the_room_is_the_most_for_one(sent: list[tuple[str, str]], last: tuple[str, str], answer: str) -> None:
    async def run() -> None:
        uploads = Uploads()
        assert [await uploads.send(MAX_BYTES, *one) for one in sent] == ["waits"] * len(sent)
        assert (await uploads.send(MAX_BYTES, *last)).startswith(answer)
        await uploads.end()
        assert await uploads.send(MAX_BYTES, *last) == "waits"  # there is room again
        await uploads.end()

    asyncio.run(run())
