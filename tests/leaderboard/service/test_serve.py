"""The service as it runs: a server, its worker, and what becomes of them when something is killed."""

import contextlib
import hashlib
import io
import json
import os
import random
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
from filelock import FileLock
from sqlalchemy import text

from tests.leaderboard.common import Visit, statuses
from tests.leaderboard.conftest import PostgresServer
from vcrgen.leaderboard.board import FILE, Board
from vcrgen.leaderboard.intake import accept
from vcrgen.leaderboard.records import SubmissionStatus
from vcrgen.leaderboard.store.log import check_log, read_log
from vcrgen.leaderboard.store.submissions import list_submissions
from vcrgen.leaderboard.worker import LOCK, Worker
from vcrgen.scorer.answer_key import AnswerKey

pytestmark = pytest.mark.process

MIB = 1 << 20
FILES = 4  # to submit while the service is killed


def gone(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0] == "Z"
    except OSError:
        return True


def refuses(address: tuple[str, int]) -> bool:
    try:
        socket.create_connection(address, timeout=5).close()
    except OSError:
        return True
    return False


def lock_is_free(board: Board) -> bool:
    lock = FileLock(board.folder / LOCK)
    with contextlib.suppress(TimeoutError), lock.acquire(timeout=0):
        return True
    return False


def peak(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(re.search(r"VmHWM:\s+(\d+)", status)[1]) << 10  # type: ignore[index]


@pytest.fixture
def small(make_board: Any) -> Board:
    return make_board(file_mb=1, files_per_day=1000, failed_files_per_day=1000, requests_per_minute=10_000)


def test_bodies_without_end(small: Board, visit: Visit, raw: Any) -> None:
    """1 GB announced, and 1 GB that comes in chunks: little of it is read, and nothing is left of it."""
    server, desk = visit(small)
    pid, part = server.process.pid, b"b" * 65536
    desk.client.get("/about.html")
    before = peak(pid)
    limit = 1 << 30
    for path, bearer in (("/submit", []), ("/api/submissions", [f"Authorization: Bearer {desk.token}"])):
        announced = raw(server.url, f"POST {path} HTTP/1.1", raw.MULTIPART, f"Content-Length: {limit}", *bearer)
        refused_at = announced.sent
        answer = announced.answer()
        assert answer.startswith("HTTP/1.1 413 ") and refused_at < 1000, "refused before a byte of it was sent"
        assert "larger than 1 MiB" in answer and "connection: close" in answer.lower()
        pushed = raw(server.url, f"POST {path} HTTP/1.1", raw.MULTIPART, f"Content-Length: {limit}", *bearer)
        pushed.pour(part, 64 * MIB)
        assert pushed.sent < 16 * MIB, "the rest is between two sockets"
        pushed.answer()

        chunked = raw(server.url, f"POST {path} HTTP/1.1", raw.MULTIPART, "Transfer-Encoding: chunked", *bearer)
        head = desk.upload_head(0)
        chunked.send(b"%x\r\n%s\r\n" % (len(head), head))
        chunked.pour(b"%x\r\n%s\r\n" % (len(part), part), 64 * MIB)
        assert chunked.sent < 16 * MIB
        answer = chunked.answer()
        assert answer == "" or answer.startswith("HTTP/1.1 413 "), answer[:200]
        exact = raw(server.url, f"POST {path} HTTP/1.1", raw.MULTIPART, "Transfer-Encoding: chunked", *bearer)
        exact.send(b"%x\r\n%s\r\n" % (len(head), head))
        for _ in range(17):  # the last one is too much: whoever sent more might find the connection closed
            exact.send(b"%x\r\n%s\r\n" % (len(part), part))
        answer = exact.answer()
        assert answer.startswith("HTTP/1.1 413 ") and "larger than 1 MiB" in answer
    slightly = desk.api(b"a" * (MIB + 100_000))
    assert slightly.status_code == 413 and "larger than 1 MiB" in slightly.json()["error"]
    within = desk.api(b"a" * (MIB + 1))
    assert within.status_code == 400 and "larger than 1 MiB" in within.json()["error"], (
        "the form fits, the file does not"
    )
    assert desk.api(b"a" * MIB).status_code == 202
    assert peak(pid) - before < 32 * MIB
    server.until(lambda: not server.temporary_files())  # a client that was hung up on knows it before
    server.until(lambda: not list((small.folder / "files" / "incoming").glob("*")))
    kinds = {line["what"] for line in server.lines()}
    assert not kinds & {"fault", "library", "unavailable"}, kinds


def send_all(desk: Any, files: list[bytes], accepted: dict[str, str], stop: threading.Event) -> None:
    """Submit every file until it is accepted, whatever happens to the server."""

    def send(number: int) -> None:
        while not stop.is_set():
            with contextlib.suppress(httpx.TransportError):
                answer = desk.api(files[number], model=f"M{number}")
                if answer.status_code in (202, 409):
                    accepted[answer.json()["id"]] = f"M{number}"
                    return
                assert answer.status_code in (500, 502, 503), answer.text
            time.sleep(0.1)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(send, range(len(files))))


@contextlib.contextmanager
def submitting(desk: Any, files: list[bytes]) -> Iterator[dict[str, str]]:
    """Submit files beside a block, and wait after it until all are accepted: the model of each by its id."""
    accepted: dict[str, str] = {}
    stop = threading.Event()
    thread = threading.Thread(target=send_all, args=(desk, files, accepted, stop))
    thread.start()
    try:
        yield accepted
        thread.join(180)
        assert not thread.is_alive()
    finally:
        stop.set()
        thread.join()


def check_scored_once(board: Board, accepted: dict[str, str]) -> None:
    """Every accepted file has one score and two lines of the log, and the vault holds whole files."""
    assert statuses(board) == {SubmissionStatus.SCORED.value: FILES}
    with board.reading() as connection:
        runs = Counter(connection.execute(text("SELECT submission FROM runs")).scalars())
        log = list(read_log(connection))
        models = {one.id: one.facts.model for one in list_submissions(connection)}
        waiting = [one.file for one in list_submissions(connection)]
        cells = connection.execute(text("SELECT count(*) FROM cells WHERE ranked")).scalar_one()
    assert runs == dict.fromkeys(accepted, 1)
    assert models == accepted
    for what in ("accepted", "scored"):
        assert Counter(line.facts["model"] for line in log if line.what == what) == {f"M{n}": 1 for n in range(FILES)}
    assert check_log(iter(log)) == len(log)
    assert cells == 4 * FILES
    kept = list((board.folder / "files").glob("??/*"))
    assert {file.name for file in kept} >= set(waiting)
    for file in kept:
        assert hashlib.sha256(file.read_bytes()).hexdigest() == file.name


@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_killed_at_any_moment(
    database: str,
    request: pytest.FixtureRequest,
    make_board: Any,
    visit: Visit,
    hand: Any,
    public_key: AnswerKey,
    own_port: int,
) -> None:
    """Every answer of 202 is scored once, and the vault holds whole files."""
    url = request.getfixturevalue("postgres")() if database == "postgresql" else ""
    board = make_board(database=url, files_per_day=1000, requests_per_minute=100_000)
    server, desk = visit(board, "--port", str(own_port))
    files = [hand(public_key, right=2, note=f"n{number}").read_bytes() for number in range(FILES)]
    with submitting(desk, files) as accepted:
        time.sleep(random.Random(database).uniform(0.05, 1.2))
        server.process.kill()
        server.process.wait()
        server.restart()
        server.wait_for("serving")
    assert len(accepted) == FILES
    server.until(lambda: statuses(board)[SubmissionStatus.SCORED.value] >= FILES)
    assert server.stop() == 0

    check_scored_once(board, accepted)


def test_a_database_server_that_crashes(
    postgres_server: PostgresServer, postgres: Any, make_board: Any, visit: Visit, hand: Any, public_key: AnswerKey
) -> None:
    """While it is away every page says so; when it is back, what was accepted is scored once, by the same service."""
    board = make_board(database=postgres(), files_per_day=1000, requests_per_minute=100_000)
    server, desk = visit(board)
    server.wait_for("worker ready")
    files = [hand(public_key, right=2, note=f"n{number}").read_bytes() for number in range(FILES)]
    with submitting(desk, files) as accepted:
        for pause in (0.3, 1.5):
            time.sleep(pause)
            postgres_server.crash()
            try:
                for path in ("/", f"/api/submissions/{0:032}", "/health", f"/submission-{'0' * 32}.html"):
                    away = desk.client.get(path)
                    assert away.status_code == 503 and "Traceback" not in away.text
                away = desk.client.get("/")
                assert away.text == "The board cannot be read just now; try again soon."
            finally:
                postgres_server.start()
    server.until(lambda: statuses(board)[SubmissionStatus.SCORED.value] >= FILES)
    assert desk.client.get("/health").status_code == 200
    assert server.stop() == 0
    check_scored_once(board, accepted)
    assert not [line for line in server.lines() if line["what"] in ("fault", "library")]


def test_stopping(small: Board, visit: Visit, raw: Any) -> None:
    """Asked to stop, it finishes an upload that is on its way, and leaves nothing behind."""
    server, desk = visit(small)
    server.wait_for("worker ready")
    worker = server.children()
    assert len(worker) == 1
    body = desk.upload_head(200_000) + b"\r\n--x--\r\n"
    head = (raw.MULTIPART, f"Content-Length: {len(body)}", "Connection: close", "Expect: 100-continue")
    opened = raw(server.url, "POST /submit HTTP/1.1", *head)
    assert opened.socket.recv(1000).startswith(b"HTTP/1.1 100 "), "it has begun to read"
    opened.send(body[:100_000])
    server.process.terminate()
    server.until(lambda: refuses(opened.socket.getpeername()))
    assert server.process.poll() is None
    opened.send(body[100_000:])
    answer = opened.answer()
    assert answer.startswith("HTTP/1.1 303 "), answer[:300]
    assert server.process.wait(180) == 0
    assert server.lines()[-1]["what"] == "stopped"
    server.until(lambda: gone(worker[0]))
    assert lock_is_free(small)
    assert statuses(small)[SubmissionStatus.QUEUED.value] + statuses(small)[SubmissionStatus.FAILED.value] == 1


def test_ctrl_c_while_it_scores(small: Board, visit: Visit, hand: Any, public_key: AnswerKey) -> None:
    server, desk = visit(small)
    for n in range(3):
        assert desk.api(hand(public_key, note=f"n{n}"), model=f"M{n}").status_code == 202
    server.wait_for("scored")
    family = server.children()
    server.process.send_signal(signal.SIGINT)
    assert server.process.wait(180) == 0
    server.until(lambda: all(map(gone, family)))
    assert lock_is_free(small)
    assert statuses(small)[SubmissionStatus.SCORING.value] == 0
    assert not [line for line in server.lines() if line["what"] in ("library", "fault", "worker died")]


def test_a_killed_worker_is_started_again(
    small: Board, visit: Visit, hand: Any, public_key: AnswerKey, tmp_path: Path
) -> None:
    server, desk = visit(small)
    server.wait_for("worker ready")
    assert desk.client.get("/health").status_code == 200
    settings = (small.folder / FILE).rename(tmp_path / "elsewhere")  # without which no other one can go on
    os.kill(server.children()[0], signal.SIGKILL)
    died = server.until(lambda: (answer := desk.client.get("/health")).status_code == 503 and answer)
    assert died.json()["status"] == "nothing is scored: the worker is not there"
    answer = desk.api(hand(public_key))
    assert answer.status_code == 202, "handing in goes on"
    settings.rename(small.folder / FILE)
    server.wait_for("worker ready", count=2)
    assert desk.client.get("/health").json()["status"] == "ok"
    server.until(lambda: desk.status(answer)["status"] == "scored")
    codes = [line["code"] for line in server.lines() if line["what"] == "worker died"]
    assert codes[0] == -signal.SIGKILL and set(codes[1:]) <= {1}


@pytest.mark.parametrize("options", [(), ("--proxy", "127.0.0.1")], ids=["alone", "proxy"])
def test_addresses_behind_a_proxy(make_board: Any, visit: Visit, options: tuple[str, ...]) -> None:
    board = make_board(requests_per_minute=10)
    server, desk = visit(board, *options)
    seen = [
        desk.client.get("/about.html", headers={"x-forwarded-for": f"192.0.2.{number}", "x-forwarded-proto": "https"})
        for number in range(15)
    ]
    requests = lambda: [line for line in server.complete_lines() if line["what"] == "request"]  # noqa: E731
    server.until(lambda: len(requests()) == 15)  # a line comes after the answer
    clients = {line["client"] for line in requests()}
    if options:
        assert {answer.status_code for answer in seen} == {200}
        assert clients == {f"192.0.2.{number}" for number in range(15)}
    else:
        assert [answer.status_code for answer in seen] == [200] * 10 + [429] * 5
        assert clients == {"127.0.0.1"}


def secret_visit(server: Any, desk: Any, hand: Any, key: AnswerKey) -> dict[str, str]:
    """Everything that a log could hold too much of; gives what it must not."""
    sent = desk.api(
        hand(key, right=2, note="unheard-of output"), name="unheard-of name.jsonl", model="Unheard-of model"
    )
    number = sent.json()["id"]
    broken = desk.api(b'{"question_id": "unheard-of output"', model="Broken").json()["id"]
    server.wait_for("scored")
    server.wait_for("failed")
    for path in (f"/submission-{number}.html", f"/api/submissions/{number}", f"/api/submissions/{number}x", "/x%0ay"):
        desk.client.get(path)
    desk.form(b"\x80", token=desk.token + "x")
    desk.client.get("/", params={"token": desk.token})
    return {"token": desk.token, "output": "unheard-of output", "submission": number, "broken": broken}


def test_the_log(small: Board, visit: Visit, hand: Any, public_key: AnswerKey) -> None:
    """JSON lines, of which requests name no token, no output and no whole id."""
    server, desk = visit(small)
    secrets = secret_visit(server, desk, hand, public_key)
    assert server.stop() == 0
    lines = server.lines()
    assert {line["what"] for line in lines} == {"serving", "worker ready", "request", "scored", "failed", "stopped"}
    for line in lines:
        assert line["at"] and isinstance(line["what"], str)
        whole = json.dumps(line)
        assert secrets["token"] not in whole and secrets["output"] not in whole
        if line["what"] == "request":
            assert line.keys() == {"at", "what", "method", "path", "status", "ms", "client"}
            assert secrets["submission"] not in whole and secrets["broken"] not in whole
    assert not [line for line in lines if line.get("path") == "/health"]


def test_the_worker_logs_no_whole_id(small: Board, facts: Any) -> None:
    sent = accept(small, facts(), io.BytesIO(b"{"), set_name="public", name="x", channel="api", actor="x", limited=True)
    said: list[Any] = []
    worker = Worker(small, say=lambda what, **more: said.append((what, more)))
    with worker.exclusive(wait=5):
        assert worker.score_next()
    assert "failed" in str(said) and sent.id not in str(said)


def test_without_its_database(small: Board, visit: Visit) -> None:
    """The service says so, the log stays JSON, and both recover."""
    server, desk = visit(small)
    server.wait_for("worker ready")
    assert desk.client.get("/").status_code == 200
    with small.engine.connect() as connection:
        for name in ("events", "submissions"):
            connection.exec_driver_sql(f"ALTER TABLE {name} RENAME TO {name}_elsewhere")
        connection.exec_driver_sql("COMMIT")
    assert desk.client.get("/health").status_code == 503
    away = desk.client.get("/")
    assert away.status_code == 503 and away.text == "The board cannot be read just now; try again soon."
    assert desk.client.get(f"/submission-{'0' * 32}.html").status_code == 503
    assert desk.api(b"x").status_code == 503
    server.wait_for("worker died")
    with small.engine.connect() as connection:
        for name in ("events", "submissions"):
            connection.exec_driver_sql(f"ALTER TABLE {name}_elsewhere RENAME TO {name}")
        connection.exec_driver_sql("COMMIT")
    server.until(lambda: desk.client.get("/health").status_code == 200)
    assert desk.client.get("/").status_code == 200


def test_a_fault_of_the_worker_is_a_line(small: Board) -> None:
    with small.engine.connect() as connection:
        connection.exec_driver_sql("ALTER TABLE submissions RENAME TO elsewhere")
        connection.exec_driver_sql("COMMIT")
    command = [sys.executable, "-m", "vcrgen.leaderboard.worker", str(small.folder), str(os.getpid())]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode != 0 and done.stderr
    for line in done.stderr.splitlines():
        json.loads(line)
