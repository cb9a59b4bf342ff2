"""Strangers who send much, send nothing, or fill the disk, while others are served."""

import asyncio
import contextlib
import os
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.testclient import TestClient

from tests.leaderboard.common import statuses
from tests.leaderboard.service.conftest import PATIENCE, Desk, Server, running
from vcrgen.leaderboard.board import Board
from vcrgen.leaderboard.service.app import make_app
from vcrgen.scorer.answer_key import AnswerKey
from vcrgen.web import limits

MIB = 1 << 20
GENEROUS = {"file_mb": 4, "files_per_day": 1000, "failed_files_per_day": 1000, "requests_per_minute": 10_000}


@pytest.fixture
def small(make_board: Any) -> Board:
    return make_board(**GENEROUS)


@pytest.fixture(scope="module")
def flooded(board_in: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, Desk]]:
    """A server that outlives several floods, and a desk in front of it."""
    folder = tmp_path_factory.mktemp("flooded")
    board = board_in(folder / "board", **GENEROUS)
    with running(folder) as serve:
        server = serve(board)
        with httpx.Client(base_url=server.url, timeout=PATIENCE) as client:
            yield server, Desk(board, client)
    board.engine.dispose()


@pytest.mark.process
def test_uploads_that_break_off(flooded: tuple[Server, Desk], raw: Any) -> None:
    server, desk = flooded
    for cut in (0, 100, 300_000):
        opened = raw(server.url, "POST /submit HTTP/1.1", raw.MULTIPART, "Content-Length: 900000")
        opened.send(desk.upload_head(cut)[: cut or 10])
        opened.socket.close()
    server.until(lambda: sum(line.get("status") == 499 for line in server.complete_lines()) == 3)
    server.until(lambda: not server.temporary_files())
    assert not {line["what"] for line in server.complete_lines()} & {"fault", "library"}
    assert statuses(desk.board) == {}


@pytest.mark.process
def test_one_service_a_board_and_a_port(flooded: tuple[Server, Desk], make_board: Any, run: Any) -> None:
    server, desk = flooded
    port = server.url.rpartition(":")[2]
    other = make_board("other")
    code, _, err = run("leaderboard", "serve", other.folder, "--port", port)
    assert code == 2 and f"Port {port} of 127.0.0.1 cannot be listened on" in err
    code, _, err = run("leaderboard", "serve", desk.board.folder, "--port", 0)
    assert code == 2 and "Another service serves" in err
    assert server.process.poll() is None


def test_nothing_is_kept_for_a_wrong_token(flooded: tuple[Server, Desk], raw: Any) -> None:
    """Twelve clients with unknown tokens send files that do not end: no byte of them reaches the disk."""
    server, desk = flooded
    opened_all: list[Any] = []
    for number in range(12):
        bearer = ["Authorization: Bearer vcr_unknown"] if number % 2 else []
        path = "/api/submissions" if bearer else ("/submit", "/team", "/manage")[number % 3]
        opened = raw(server.url, f"POST {path} HTTP/1.1", raw.MULTIPART, f"Content-Length: {4 * MIB}", *bearer)
        with contextlib.suppress(ConnectionError):
            opened.send(desk.upload_head(3 * MIB, token="vcr_unknown"))
        opened_all.append(opened)
    server.until(lambda: sum(line.get("status") in (401, 429) for line in server.complete_lines()) == 12)
    assert server.temporary_files() == []
    for opened in opened_all:
        opened.socket.close()


def test_a_file_before_its_token(flooded: tuple[Server, Desk]) -> None:
    _, desk = flooded
    kind = {"content-type": "multipart/form-data; boundary=x"}
    file = b'--x\r\nContent-Disposition: form-data; name="file"; filename="f"\r\n\r\n' + b"a" * MIB + b"\r\n"
    token = f'--x\r\nContent-Disposition: form-data; name="token"\r\n\r\n{desk.token}\r\n--x--\r\n'.encode()
    answer = desk.client.post("/submit", content=file + token, headers=kind)
    assert answer.status_code == 401 and "before the file" in answer.text


def test_bodies_that_do_not_come(small: Board, monkeypatch: pytest.MonkeyPatch, open_desk: Callable[..., Any]) -> None:
    """A right token, and then nothing, or a byte now and then: the request ends."""
    desk = open_desk(small)
    head = desk.upload_head(100)
    app = make_app(small, lambda: True)

    async def hand_in(pause: float) -> int:
        sent: list[Any] = []

        async def receive() -> Any:
            first = not sent_parts
            sent_parts.append(1)
            if not first:
                await asyncio.sleep(pause)
            return {"type": "http.request", "body": head if first else b"a", "more_body": True}

        async def send(message: Any) -> None:
            sent.append(message)

        sent_parts: list[int] = []
        scope = {
            "type": "http",
            "method": "POST",
            "path": "/submit",
            "raw_path": b"/submit",
            "query_string": b"",
            "headers": [(b"content-type", b"multipart/form-data; boundary=x"), (b"content-length", b"1000000")],
            "client": ("192.0.2.1", 1),
            "server": ("board", 80),
            "scheme": "http",
            "http_version": "1.1",
        }
        await asyncio.wait_for(app(scope, receive, send), 30)
        assert (b"connection", b"close") in sent[0]["headers"]
        return int(sent[0]["status"])

    monkeypatch.setattr(limits, "PAUSE_SECONDS", 0.3)
    assert asyncio.run(hand_in(3600)) == 408
    monkeypatch.setattr(limits, "BODY_SECONDS", 1.0)
    assert asyncio.run(hand_in(0.05)) == 408


def test_all_bodies_together(flooded: tuple[Server, Desk], raw: Any, hand: Any, public_key: AnswerKey) -> None:
    """With right tokens a team keeps two of the largest files at once; when they end, there is room again."""
    server, desk = flooded
    opened_all: list[Any] = []
    for _ in range(5):
        opened = raw(server.url, "POST /submit HTTP/1.1", raw.MULTIPART, f"Content-Length: {4 * MIB}")
        with contextlib.suppress(ConnectionError):
            opened.send(desk.upload_head(7 * MIB // 2))
        opened_all.append(opened)
    server.until(lambda: any(line.get("status") == 503 for line in server.complete_lines()))
    server.until(lambda: len(server.temporary_files()) == 2)
    assert desk.client.get("/").status_code == 200
    rejected = desk.api(b"b" * (4 * MIB))
    assert rejected.status_code == 503 and int(rejected.headers["retry-after"]) > 0
    assert "no room" in rejected.json()["error"]
    assert desk.client.get("/health").status_code == 200
    for opened in opened_all:
        opened.socket.close()
    server.until(lambda: not server.temporary_files())
    assert desk.api(hand(public_key)).status_code == 202


def test_a_right_token_always_passes(make_board: Any, hand: Any, public_key: AnswerKey, open_desk: Any) -> None:
    """Others at the same address have used up its wrong tokens and its requests."""
    board = make_board(requests_per_minute=10)
    desk = open_desk(board)
    for number in range(20):
        desk.form(b"x", token=f"vcr_{number}")
        desk.api(b"x", headers={"authorization": f"Bearer vcr_{number}"})
        desk.client.get("/about.html")
    assert desk.client.get("/about.html").status_code == 429
    for path in ("/", "/api/submissions/" + "0" * 32, "/submit"):
        assert desk.client.get(path, headers={"authorization": "Bearer x"}).status_code == 429, "a word is no token"
    guess = desk.form(b"x", token="vcr_more")
    assert guess.status_code == 429 and "unknown tokens" in guess.text
    assert desk.api(hand(public_key)).status_code == 202
    assert desk.form(hand(public_key), model="Other").status_code == 303


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 16 MiB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=16m", "none", str(folder)]
    if os.name != "posix" or os.geteuid() or subprocess.run(command, check=False, capture_output=True).returncode:
        pytest.skip("needs the right to mount a small disk")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


@pytest.mark.parametrize("which", ["files", "database", "temporary files"])
def test_a_full_disk(
    board_in: Any,
    tmp_path: Path,
    disk: Path,
    which: str,
    open_desk: Any,
    hand: Any,
    public_key: AnswerKey,
    monkeypatch: pytest.MonkeyPatch,
    capfd: Any,
) -> None:
    """The log and the health page say what is the matter, and the team gets a sentence."""
    small = board_in((disk if which == "database" else tmp_path) / "board", **GENEROUS)
    if which == "temporary files":
        monkeypatch.setattr(tempfile, "tempdir", str(disk))
    else:
        elsewhere = tmp_path / "elsewhere" if which == "database" else disk
        elsewhere.mkdir(exist_ok=True)
        (small.folder / "files").symlink_to(elsewhere)
    desk = open_desk(small)
    assert desk.client.get("/health").status_code == 200
    filler = disk / "filler"
    with filler.open("wb", buffering=0) as out, contextlib.suppress(OSError):
        while True:
            out.write(bytes(4096))
    for way, status in ((desk.api, 503), (desk.form, 503)):
        answer = way(b"a" * (3 * MIB))
        assert answer.status_code == status and "has no room for files" in answer.text
    health = desk.client.get("/health")
    assert health.status_code == 503 and health.json()["status"] == "the disk is full"
    logged = capfd.readouterr().err
    assert logged.count('"disk full"') == 2 and "No space left on device" in logged
    filler.unlink()
    assert desk.client.get("/health").status_code == 200
    assert desk.api(hand(public_key)).status_code == 202


def test_redirects_behind_a_prefix(small: Board, hand: Any, public_key: AnswerKey, open_desk: Any) -> None:
    """Behind a proxy that serves the board under /board/, every redirection leads to a page."""
    desk = open_desk(small)
    inner = make_app(small, lambda: True)

    async def proxy(scope: Any, receive: Any, send: Any) -> None:
        assert scope["path"].startswith("/board/"), "it left the board"
        await inner({**scope, "path": scope["path"].removeprefix("/board")}, receive, send)

    desk.client = client = TestClient(proxy, base_url="https://example.org")
    answer = client.get("/board/submit", follow_redirects=False)
    assert answer.status_code == 303 and "//" not in answer.headers["location"]
    assert client.get("/board/submit").status_code == 200
    for path in ("/board/submit/", "/board/health/", "/board/api/submissions/"):
        answer = client.get(path, follow_redirects=False, headers={"host": "evil.example"})
        assert answer.status_code == 404 and "location" not in answer.headers
    sent = client.post(
        "/board/submit",
        data={"token": desk.token, "set": "public", "model": "M"},
        files={"file": ("p.jsonl", hand(public_key).read_bytes())},
    )
    assert sent.status_code == 200 and "Waiting to be scored" in sent.text
