"""A server of OpenAI's chat protocol that does on demand what real ones do at the worst time.

    with FaultServer(lambda call: Answer(status=500) if call.tries == 0 else Answer()) as server:
        ...  # http://127.0.0.1:{server.port}/v1

As a process, ``python fault_server.py [DELAY]`` prints its port and serves until it is ended.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import functools
import hashlib
import inspect
import io
import json
import random
import re
import select
import socket
import ssl
import struct
import sys
import threading
import time
import zlib
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

_TOKEN = re.compile(r"\n| *(?:[!-~]+|[^\0-~])")


@dataclass(frozen=True)
class Call:
    """One request as it came."""

    number: int  # from 0, in the order in which they came
    digest: str  # SHA-256 of the body
    tries: int  # how often the same body came before
    path: str
    headers: Mapping[str, str]
    data: bytes
    at: float  # seconds, of a monotonic clock

    @property
    def body(self) -> Any:
        return json.loads(self.data)


@dataclass(frozen=True)
class Answer:
    """Answer a call."""

    status: int = 200
    body: bytes | None = None  # a good reply if None
    text: str | None = None  # of a good reply; the digest of the request if None
    more: Mapping[str, Any] = field(default_factory=dict)  # keys of a good reply's body
    message: Mapping[str, Any] = field(default_factory=dict)  # keys of a good reply's message
    choice: Mapping[str, Any] = field(default_factory=dict)  # and of what the message stands in
    finish_reason: str = "stop"
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0
    gather: int = 0  # wait until so many requests are being answered at one time, but not for ever
    raw: bytes = b""  # what is sent in place of an answer
    fault: str = ""  # reset: before an answer; half: amid the body; hang; drip: byte by byte; flood: 100 MB


def good_reply(call: Call, answer: Answer) -> bytes:
    message = {"role": "assistant", "content": f"reply {call.digest[:24]}" if answer.text is None else answer.text}
    choice = {"index": 0, "message": message | answer.message, "finish_reason": answer.finish_reason, **answer.choice}
    usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
    found = re.match(rb'\{"model": ?"([^"]*)"', call.data)
    name = found[1].decode() if found else ""
    return json.dumps({"model": name, "choices": [choice], "usage": usage} | answer.more).encode()


def logprob(token: str) -> float:
    """The log-probability of a token, whatever stands before it."""
    return -(zlib.crc32(token.encode()) % 9973) / 1000


def with_likelihoods(call: Call, fault: str = "") -> Answer:
    """A good reply of a server that gives log-probabilities of a prompt's tokens in the form of vLLM.

    Words are tokens, with the space before them, and so are a line end and any letter that is not ASCII, of which a
    token shows no more than that it is a part of one. :func:`logprob` is the rule of their log-probabilities.

    Args:
        fault: ignores: nothing of the request is done. same: every token has one log-probability. merges: the prompt's
            last token is another one with an answer behind it. other: the tokens spell another answer. nan, positive,
            text: what the log-probabilities are. short: some are not there.
    """
    body = call.body
    if fault == "ignores" or not body.get("return_token_ids"):
        return Answer()
    *asked, last = body["messages"]
    begun = last["role"] == "assistant"
    tokens = ["<user>"]
    for part in (asked[-1] if begun else last)["content"]:
        tokens += _TOKEN.findall(part["text"]) if part["type"] == "text" else ["<image>"] * 10
    tokens.append("<assistant>")
    if begun:
        tokens[-1] += "+" * (fault == "merges")
        tokens += _TOKEN.findall(last["content"] if fault != "other" else last["content"][::-1])
    ids = [zlib.crc32(token.encode()) for token in tokens]
    more: dict[str, Any] = {"prompt_token_ids": ids}
    if body.get("prompt_logprobs") == 0:
        value = {"nan": float("nan"), "positive": 0.5, "text": "-1", "same": -1}.get(fault)
        entries = [
            {str(number): {"logprob": logprob(token) if value is None else value, "rank": 1, "decoded_token": token}}
            for number, token in zip(ids, (re.sub("[^\0-~]", "\ufffd", token) for token in tokens), strict=True)
        ]
        more["prompt_logprobs"] = [None, *entries[1:]][: -1 if fault == "short" else None]
    return Answer(more=more)


def generated(call: Call, fault: str = "", size: tuple[int, int] = (160, 120)) -> Answer:
    """A good reply of a server that generates pictures: coloured shapes that follow from the request.

    Args:
        fault: not base64, not an image, bomb (a small file of 20,000 x 20,000 pixels), tiny, empty, refusal, address,
            inside (an address that is the picture itself), no response_format, no seed, detail (the latter, said in
            FastAPI's way).
        size: Width and height, in pixels.
    """
    from PIL import Image, ImageDraw

    for name in ("response_format", "seed"):
        if fault == f"no {name}" and name in call.body:
            said = {"message": f"Unknown parameter: '{name}'.", "param": name, "code": "unknown_parameter"}
            return Answer(status=400, body=json.dumps({"error": said}).encode())
    if fault == "detail" and "seed" in call.body:
        said = {"type": "extra_forbidden", "loc": ["body", "seed"], "msg": "Extra inputs are not permitted"}
        return Answer(status=422, body=json.dumps({"detail": [said]}).encode())
    if fault == "refusal":
        said = {"code": "content_policy_violation", "message": "Your request was rejected.", "param": None}
        return Answer(status=400, body=json.dumps({"error": said}).encode())
    rng = random.Random(call.digest)
    picture = Image.new("RGB", size)
    for _ in range(24):
        x, y = rng.randrange(size[0]), rng.randrange(size[1])
        box = (x, y, x + rng.randrange(10, size[0]), y + rng.randrange(10, size[1]))
        shape = rng.choice((ImageDraw.Draw(picture).rectangle, ImageDraw.Draw(picture).ellipse))
        shape(box, fill=tuple(rng.randrange(256) for _ in range(3)))
    buffer = io.BytesIO()
    (picture.resize((4, 4)) if fault == "tiny" else picture).save(buffer, "PNG")
    others = {"not an image": lambda: b"not an image", "bomb": _bomb}
    text = base64.b64encode(others.get(fault, buffer.getvalue)()).decode()
    found: dict[str, Any] = {"b64_json": "?" + text if fault == "not base64" else text}
    if fault in ("address", "inside"):
        found = {
            "url": f"data:image/png;base64,{text}" if fault == "inside" else f"http://{call.headers['host']}/a.png"
        }
    return Answer(body=json.dumps({"created": 1, "data": [] if fault == "empty" else [found]}).encode())


@functools.cache
def _bomb() -> bytes:
    from PIL import Image

    buffer = io.BytesIO()
    Image.new("1", (20_000, 20_000)).save(buffer, "PNG")
    return buffer.getvalue()


class Held:
    """A plan whose answers to some requests wait until they are let go: who needs one can be killed meanwhile.

    Args:
        plan: What is answered.
        when: Which requests wait for their answer.

    Attributes:
        let_go: Set it, and all that wait are answered.
    """

    def __init__(self, plan: Callable[[Call], Answer], when: Callable[[Call], bool]) -> None:
        self._plan, self._when = plan, when
        self.let_go = threading.Event()

    async def __call__(self, call: Call) -> Answer:
        while self._when(call) and not self.let_go.is_set():
            await asyncio.sleep(0.01)
        return self._plan(call)


class FaultServer:
    """Serves in a thread of its own.

    Attributes:
        calls: Every request that came whole, without its body's bytes where ``keep_data`` is off.
        most: The largest number of requests that were being answered at one time.
    """

    def __init__(
        self,
        plan: Callable[[Call], Answer | Awaitable[Answer]] = lambda call: Answer(),
        *,
        keep_data: bool = True,
        tls: ssl.SSLContext | None = None,
        port: int = 0,
    ) -> None:
        self.plan, self._keep_data, self._tls = plan, keep_data, tls
        self.calls: list[Call] = []
        self.most = self._active = 0
        self._tries: Counter[str] = Counter()
        self._listener = socket.create_server(("127.0.0.1", port), backlog=1024)
        # As servers have it: or what follows the head of a reply waits 40 ms for the client's acknowledgement of that.
        self._listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.port = self._listener.getsockname()[1]
        self.url = f"{'https' if tls else 'http'}://127.0.0.1:{self.port}/v1"
        self._loop = asyncio.new_event_loop()
        self._stopped = asyncio.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> FaultServer:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        if not self._loop.is_closed():  # a test may have stopped it
            self._loop.call_soon_threadsafe(self._stopped.set)
        self._thread.join(30)

    def wait_until_left(self) -> None:
        """Wait until what clients had sent has come and all of them have gone; before, one must end them."""

        async def left() -> None:
            # Beside this task there is the one that serves; every connection that was taken has one of its own.
            while select.select([self._listener], [], [], 0)[0] or len(asyncio.all_tasks()) > 2:
                await asyncio.sleep(0.005)

        asyncio.run_coroutine_threadsafe(left(), self._loop).result(120)

    def _run(self) -> None:
        async def serve() -> None:
            server = await asyncio.start_server(self._connection, sock=self._listener, limit=1 << 16, ssl=self._tls)
            await self._stopped.wait()
            server.close()
            await asyncio.sleep(0)  # connections taken in this very turn become tasks
            others = asyncio.all_tasks() - {asyncio.current_task()}
            for task in others:
                task.cancel()
            await asyncio.gather(*others, return_exceptions=True)

        asyncio.set_event_loop(self._loop)
        with contextlib.closing(self._loop), contextlib.suppress(asyncio.CancelledError):
            self._loop.run_until_complete(serve())

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
                headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:])}
                data = await reader.readexactly(int(headers.get("content-length", 0)))
                self._active += 1
                self.most = max(self.most, self._active)
                try:
                    await self._answer(head[0].split()[1], headers, data, writer)
                finally:
                    self._active -= 1
        writer.close()

    async def _answer(self, path: str, headers: Mapping[str, str], data: bytes, writer: asyncio.StreamWriter) -> None:
        digest = hashlib.sha256(data).hexdigest()
        call = Call(len(self.calls), digest, self._tries[digest], path, headers, data, time.monotonic())
        self._tries[digest] += 1
        self.calls.append(call if self._keep_data else replace(call, data=b""))
        planned = self.plan(call)
        answer = await planned if inspect.isawaitable(planned) else planned
        await asyncio.sleep(answer.delay)
        while self.most < answer.gather and time.monotonic() < call.at + 120:
            await asyncio.sleep(0.02)
        if answer.fault == "hang":
            await asyncio.sleep(3600)
        if answer.raw:
            writer.write(answer.raw)
            await writer.drain()
            writer.close()
            raise ConnectionResetError
        if answer.fault == "reset":
            _break_off(writer)
        body = good_reply(call, answer) if answer.body is None else answer.body
        size = 100 << 20 if answer.fault == "flood" else len(body)
        lines = [f"HTTP/1.1 {answer.status} Said", f"Content-Length: {size}"]
        lines += [f"{name}: {value}" for name, value in {"Content-Type": "application/json", **answer.headers}.items()]
        writer.write("\r\n".join([*lines, "", ""]).encode("latin-1"))
        if answer.fault == "half":
            writer.write(body[: len(body) // 2])
            await writer.drain()
            await asyncio.sleep(0.01)
            _break_off(writer)
        for number in range(len(body) if answer.fault == "drip" else 0):
            writer.write(body[number : number + 1])
            await writer.drain()
            await asyncio.sleep(0.1)
        if answer.fault == "flood":
            for _ in range(100):
                writer.write(b" " * (1 << 20))
                await writer.drain()
            return
        writer.write(body)
        await writer.drain()


def _break_off(writer: asyncio.StreamWriter) -> None:
    sock = writer.get_extra_info("socket")
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()
    raise ConnectionResetError


if __name__ == "__main__":
    wait = float(sys.argv[1]) if len(sys.argv) > 1 else 0.0
    with FaultServer(lambda call: Answer(delay=wait), keep_data=False) as running:
        sys.stdout.write(f"{running.port}\n")
        sys.stdout.flush()
        with contextlib.suppress(KeyboardInterrupt):
            threading.Event().wait()
