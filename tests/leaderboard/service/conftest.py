"""A client of a board's service in this process, and servers in processes of their own."""

import json
import os
import signal
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.testclient import TestClient

from tests.forked import Vcrgen
from vcrgen.leaderboard.board import Board
from vcrgen.leaderboard.commands import give_token
from vcrgen.leaderboard.service.app import make_app

PUBLIC, HIDDEN = "public", "hidden-en"
PATIENCE = 180.0


class Desk:
    """A team in front of a service: submits by API or by form.

    Args:
        client: Anything with httpx's methods.
    """

    def __init__(self, board: Board, client: Any, team: str = "Team A") -> None:
        self.board = board
        self.client = client
        self.token = give_token(board, team, "tests")

    def api(
        self, file: Path | bytes, name: str = "preds.jsonl", *, headers: Mapping[str, str] | None = None, **fields: str
    ) -> Any:
        """Submit as programs do."""
        sent = {"authorization": f"Bearer {self.token}", **(headers or {})}
        return self.client.post("/api/submissions", data=_fields(fields), files=_file(file, name), headers=sent)

    def form(
        self, file: Path | bytes, name: str = "preds.jsonl", *, headers: Mapping[str, str] | None = None, **fields: str
    ) -> Any:
        """Submit as browsers do; redirections are not followed."""
        data = _fields({"token": self.token, **fields})
        return self.client.post(
            "/submit", data=data, files=_file(file, name), headers=headers or {}, follow_redirects=False
        )

    def status(self, answer: Any) -> dict[str, Any]:
        """The status of an accepted submission, from the API."""
        found: dict[str, Any] = self.client.get(f"/api/submissions/{answer.json()['id']}").json()
        return found

    def upload_head(self, size: int, token: str = "") -> bytes:
        """The beginning of a form that was sent by a browser, up to and with so many bytes of its file."""
        fields = {"set": PUBLIC, "model": "M", "token": token or self.token}
        head = "".join(
            f'--x\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n' for name, value in fields.items()
        )
        file = '--x\r\nContent-Disposition: form-data; name="file"; filename="f"\r\n\r\n'
        return (head + file).encode() + b"a" * size


def _fields(fields: Mapping[str, str]) -> dict[str, str]:
    return {"set": PUBLIC, "model": "Model", **fields}


def _file(file: Path | bytes, name: str) -> dict[str, tuple[str, bytes]]:
    return {"file": (name, file if isinstance(file, bytes) else file.read_bytes())}


@pytest.fixture
def open_desk() -> Iterator[Callable[..., Desk]]:
    """Makes a desk of a board whose service runs in this process."""
    clients = []

    def make(board: Board, *, alive: bool = True, team: str = "Team A") -> Desk:
        client = TestClient(make_app(board, lambda: alive), raise_server_exceptions=False)
        clients.append(client)
        return Desk(board, client, team)

    yield make
    for client in clients:
        client.close()


@pytest.fixture
def desk(board: Board, open_desk: Callable[..., Desk]) -> Desk:
    """A desk of a board in SQLite."""
    return open_desk(board)


class Raw:
    """A connection of which every byte is counted."""

    MULTIPART = "Content-Type: multipart/form-data; boundary=x"

    def __init__(self, url: str, head: str, *lines: str) -> None:
        host, port = url.removeprefix("http://").split(":")
        self.socket = socket.create_connection((host, int(port)), timeout=30)
        self.sent = 0
        self.send("\r\n".join((head, "Host: board", *lines, "", "")).encode())

    def send(self, data: bytes) -> None:
        self.socket.sendall(data)
        self.sent += len(data)

    def pour(self, part: bytes, most: int) -> None:
        """Send until the server hangs up or has been sent so much."""
        with suppress(ConnectionError, TimeoutError):
            self.socket.settimeout(5)
            while self.sent < most:
                self.send(part)

    def answer(self) -> str:
        received = b""
        with suppress(ConnectionError, TimeoutError):
            while part := self.socket.recv(65536):
                received += part
        self.socket.close()
        return received.decode("utf-8", "replace")


@pytest.fixture
def raw() -> type[Raw]:
    """Opens connections of which every byte is counted."""
    return Raw


class Server:
    """`vcrgen leaderboard serve` in a process of its own.

    Args:
        log: File for what it writes.
        options: More of the command line.
    """

    def __init__(self, board: Path, log: Path, *options: str) -> None:
        self.log = log
        self._words = ["leaderboard", "serve", str(board), *options]
        self.restart()

    def lines(self) -> list[dict[str, Any]]:
        """Everything it has logged; a line that is no JSON is an error."""
        return [json.loads(line) for line in self.log.read_text("utf-8").splitlines()]

    def wait_for(self, what: str, *, count: int = 1) -> dict[str, Any]:
        """The newest line of a kind, once there are so many."""

        def look() -> dict[str, Any] | None:
            found = [line for line in self.complete_lines() if line["what"] == what]
            return found[-1] if len(found) >= count else None

        found: dict[str, Any] = self.until(look)
        return found

    def complete_lines(self) -> list[dict[str, Any]]:
        """The log so far, without a line that is being written."""
        text = self.log.read_text("utf-8")
        return [json.loads(line) for line in text[: text.rfind("\n") + 1].splitlines() if line.startswith("{")]

    @property
    def url(self) -> str:
        """The address of the service."""
        return str(self.wait_for("serving")["url"]).rstrip("/")

    def until(self, look: Callable[[], Any], seconds: float = PATIENCE) -> Any:
        """The first value that a look gives."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if found := look():
                return found
            time.sleep(0.05)
        raise AssertionError(f"it did not happen; the log ends with {self.log.read_text('utf-8')[-1000:]}")

    def temporary_files(self) -> list[str]:
        """Deleted files that it holds open: bodies of requests that are being read."""
        names = []
        for file in Path(f"/proc/{self.process.pid}/fd").iterdir():
            with suppress(OSError):
                names.append(str(file.readlink()))
        return [name for name in names if "(deleted)" in name]

    def children(self) -> list[int]:
        """Processes that it has started."""
        found = []
        for file in Path("/proc").glob("[0-9]*/stat"):
            with suppress(OSError):
                if int(file.read_text().rpartition(") ")[2].split()[1]) == self.process.pid:
                    found.append(int(file.parent.name))
        return found

    def restart(self) -> None:
        """Start it, with a log of its own if it is once more."""
        if self.log.exists():
            self.log = self.log.with_name(f"{self.log.name}.next")
        self.log.touch()
        self.process = Vcrgen(*self._words, log=self.log)

    def stop(self) -> int:
        """Stop it as a system does; the exit code."""
        self.process.terminate()
        return self.process.wait(PATIENCE)


@contextmanager
def running(folder: Path) -> Iterator[Callable[..., Server]]:
    """Starts servers, with logs in a folder; whatever of them is left at the end is killed."""
    servers: list[Server] = []

    def start(board: Board, *options: str) -> Server:
        options = options if "--port" in options else (*options, "--port", "0")
        servers.append(Server(board.folder, folder / f"server-{len(servers)}.log", *options))
        return servers[-1]

    yield start
    for server in servers:
        if server.process.poll() is None:
            for pid in [*server.children(), server.process.pid]:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            server.process.wait()


@pytest.fixture
def visit(tmp_path: Path) -> Iterator[Callable[..., tuple[Server, Desk]]]:
    """Starts a server for a board, and gives a desk in front of it, too."""
    with ExitStack() as stack:
        serve = stack.enter_context(running(tmp_path))

        def start(board: Board, *options: str) -> tuple[Server, Desk]:
            server = serve(board, *options)
            client = stack.enter_context(httpx.Client(base_url=server.url, timeout=PATIENCE))
            return server, Desk(board, client)

        yield start
