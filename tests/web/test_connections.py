"""Strangers who open connections and send next to nothing, in front of a real server."""

import asyncio
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest
import uvicorn

from vcrgen.web import limits
from vcrgen.web.connections import ConnectionLimits, protocol_of
from vcrgen.web.rate import client_network
from vcrgen.web.serve import listen

REQUEST = b"GET / HTTP/1.1\r\nHost: board\r\n\r\n"
HALF = b"GET / HTTP/1.1\r\nHost: bo"


@pytest.fixture(autouse=True)
def _time_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only tests that set another limit see connections closed that took too long."""
    monkeypatch.setattr(limits, "HEADER_SECONDS", 3600.0)


async def greet(scope: Any, receive: Any, send: Any) -> None:
    """A service that answers at once, but never to /slow; it never reads a body."""
    if scope["path"] == "/slow":
        await asyncio.sleep(3600)
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"hi"})


@pytest.fixture
def asked() -> list[str]:
    """The paths that the service was asked for."""
    return []


@pytest.fixture
def start(asked: list[str]) -> Iterator[Callable[..., tuple[str, int]]]:
    running: list[tuple[uvicorn.Server, threading.Thread]] = []

    def run(counted: ConnectionLimits, when_asked: Callable[[], None] = lambda: None) -> tuple[str, int]:
        async def app(scope: Any, receive: Any, send: Any) -> None:
            asked.append(scope["path"])
            when_asked()
            await greet(scope, receive, send)

        listening = listen("127.0.0.1", 0)
        config = uvicorn.Config(
            app, log_config=None, lifespan="off", http=protocol_of(counted), ws="none", timeout_graceful_shutdown=1
        )
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        running.append((server, thread))
        return listening.getsockname()  # type: ignore[no-any-return]

    yield run
    for server, thread in running:
        server.should_exit = True
        thread.join()


def visit(address: tuple[str, int], data: bytes, source: str = "127.0.0.1") -> socket.socket:
    opened = socket.create_connection(address, timeout=60, source_address=(source, 0))
    opened.sendall(data)
    return opened


def answer(of: socket.socket) -> bytes:
    received = b""
    with suppress(ConnectionError):
        while not received.endswith(b"hi") and (part := of.recv(1000)):
            received += part
    return received


def is_closed(one: socket.socket) -> bool:
    one.settimeout(0)
    try:
        return one.recv(1) == b""
    except BlockingIOError:
        return False
    except ConnectionError:
        return True


def until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < end, "did not happen"
        time.sleep(0.02)


def test_half_sent_headers_of_one_address_keep_nobody_out(start: Any) -> None:
    address = start(ConnectionLimits(total=40, per_address=10))
    waiting = [visit(address, HALF, "127.0.0.2") for _ in range(60)]
    until(lambda: sum(map(is_closed, waiting)) == 50)
    assert not any(map(is_closed, waiting[-10:])), "the oldest are closed"
    for source in ("127.0.0.1", "127.0.0.2"):  # also from the same address
        for _ in range(3):
            assert answer(visit(address, REQUEST, source)).startswith(b"HTTP/1.1 200")


def test_half_sent_headers_of_many_addresses(start: Any) -> None:
    address = start(ConnectionLimits(total=20, per_address=10))
    waiting = [visit(address, HALF, f"127.0.1.{number}") for number in range(1, 60)]
    until(lambda: sum(map(is_closed, waiting)) >= 39)
    assert answer(visit(address, REQUEST)).startswith(b"HTTP/1.1 200")


def test_what_is_being_answered_is_not_closed_for_others(start: Any, asked: list[str]) -> None:
    address = start(ConnectionLimits(total=40, per_address=3))
    busy = [visit(address, REQUEST.replace(b"/ ", b"/slow ")) for _ in range(3)]
    until(lambda: len(asked) == 3)
    fourth = visit(address, REQUEST)
    until(lambda: is_closed(fourth))
    assert not any(map(is_closed, busy))
    busy[0].close()
    until(lambda: answer(visit(address, REQUEST)).startswith(b"HTTP/1.1 200"))


@pytest.mark.parametrize(
    "sent", [b"", HALF, REQUEST + HALF, b"POST / HTTP/1.1\r\nHost: b\r\nContent-Length: 9\r\n\r\n"]
)
def test_a_connection_that_says_no_more(start: Any, monkeypatch: pytest.MonkeyPatch, sent: bytes) -> None:
    def shorten() -> None:
        monkeypatch.setattr(limits, "HEADER_SECONDS", 0.5)

    answered = sent[:1] == b"P" or len(sent) > len(REQUEST)
    if not answered:
        shorten()
    one = visit(start(ConnectionLimits(), shorten), sent)
    if answered:
        assert answer(one).startswith(b"HTTP/1.1 200")
    end = time.monotonic() + 120
    while not is_closed(one):  # a byte now and then does not help
        assert time.monotonic() < end
        with suppress(OSError):
            one.send(b"x")
        time.sleep(0.1)


def test_an_answer_that_never_comes_ends(start: Any, asked: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    address, slow = start(ConnectionLimits()), REQUEST.replace(b"/ ", b"/slow ")
    early = visit(address, slow)
    until(lambda: len(asked) == 1)
    monkeypatch.setattr(limits, "EXCHANGE_SECONDS", 0.5)
    late = visit(address, slow)
    until(lambda: is_closed(late))
    assert not is_closed(early)


def test_all_may_come_from_a_proxy(start: Any) -> None:
    address = start(ConnectionLimits(total=40, per_address=3, behind_proxy=True))
    opened = [visit(address, HALF) for _ in range(30)]
    assert answer(visit(address, REQUEST)).startswith(b"HTTP/1.1 200")
    assert not any(map(is_closed, opened))


def test_one_address() -> None:
    assert client_network("192.0.2.1") == "192.0.2.1" and client_network("unknown") == "unknown"
    assert client_network("2001:db8::1") == client_network("2001:db8::ffff:1") != client_network("2001:db8:0:1::1")
    assert client_network("::ffff:192.0.2.1") != client_network("::ffff:192.0.2.2")
    assert client_network("fe80::1%eth0") == client_network("fe80::2%eth0")
