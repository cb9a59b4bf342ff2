"""Telling another program: signed, once, and nowhere but where the maintainer said."""

import hashlib
import hmac
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest

from vcrgen.errors import ServiceError
from vcrgen.web import webhook
from vcrgen.web.webhook import SIGNATURE, Webhook

KEY = b"key"


class Listener(HTTPServer):
    """A program that is told; it answers with the statuses that it is given, the last one for ever."""

    def __init__(self, statuses: list[int]) -> None:
        super().__init__(("127.0.0.1", 0), Answer)
        self.statuses = statuses
        self.heard: list[tuple[str, str, bytes]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/hook?a=b"


class Answer(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        server: Any = self.server
        body = self.rfile.read(int(self.headers["content-length"]))
        server.heard.append((self.path, self.headers[SIGNATURE], body))
        status = server.statuses.pop(0) if len(server.statuses) > 1 else server.statuses[0]
        self.send_response(status)
        self.send_header("location", f"http://127.0.0.1:{server.server_address[1]}/elsewhere")
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *args: Any) -> None:
        """Say nothing."""


@pytest.fixture
def listener() -> Iterator[Listener]:
    server = Listener([204])
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def test_what_is_told_is_signed(listener: Listener) -> None:
    Webhook(listener.url, KEY).send(b'{"a": 1}')
    ((path, signature, body),) = listener.heard
    assert (path, body) == ("/hook?a=b", b'{"a": 1}')
    seconds, mac = (part.partition("=")[2] for part in signature.split(","))
    assert hmac.compare_digest(mac, hmac.new(KEY, f"{seconds}.".encode() + body, hashlib.sha256).hexdigest())


@pytest.mark.parametrize("status", [301, 302, 307, 404, 500])
def test_no_redirection_is_followed(listener: Listener, status: int) -> None:
    listener.statuses = [status]
    with pytest.raises(OSError, match=f"it answered {status}"):
        Webhook(listener.url, KEY).send(b"{}")
    assert [path for path, _, _ in listener.heard] == ["/hook?a=b"]


@pytest.mark.parametrize(
    "url",
    [
        "http://example.org/",
        "http://192.168.1.1/",
        "ftp://example.org",
        "file:///etc/passwd",
        "https://",
        "x",
        "https://user:word@example.org/",
        "http://127.0.0.1.example.org/",
        "https://[::1",
        "https://a:b/",
    ],
)
def test_other_addresses_are_refused(url: str) -> None:
    with pytest.raises(ServiceError, match="webhook"):
        Webhook(url, KEY)


@pytest.mark.parametrize("address", ["127.0.0.1", "10.0.0.1", "169.254.169.254", "::1", "fd00::1", "192.168.0.7"])
def test_a_name_that_leads_into_a_private_network(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    found = [(family, socket.SOCK_STREAM, 6, "", (address, 443))]
    monkeypatch.setattr(webhook.socket, "getaddrinfo", lambda *args, **more: found)
    with pytest.raises(OSError, match="leads into a private network"):
        Webhook("https://hooks.example.org/", KEY).send(b"{}")


def test_nobody_answers() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        with pytest.raises(OSError):  # nobody listens, and nobody else can be given the port
            Webhook(f"http://localhost:{free.getsockname()[1]}/", KEY).send(b"{}")
