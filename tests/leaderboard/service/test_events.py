"""The webhook of a board: told once and in order, whatever the other side does."""

import json
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest

from tests.leaderboard.common import until
from vcrgen.leaderboard.board import Board
from vcrgen.leaderboard.commands import give_token, remove
from vcrgen.leaderboard.service import events
from vcrgen.leaderboard.service.events import LAST_SENT_FILE, EventSender, sending_events


class Ear(HTTPServer):
    """Hears; the first answers are faults."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.faults = 2
        self.heard: list[dict[str, Any]] = []


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        server: Any = self.server
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        server.faults -= 1
        self.send_response(503 if server.faults >= 0 else 200)
        self.send_header("content-length", "0")
        self.end_headers()
        if server.faults < 0:
            server.heard.append(body)

    def log_message(self, *args: Any) -> None:
        """Say nothing."""


@pytest.fixture
def ear() -> Iterator[Ear]:
    server = Ear()
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def test_each_event_is_told_once(
    make_board: Any, ear: Ear, place: Any, monkeypatch: pytest.MonkeyPatch, capfd: Any
) -> None:
    monkeypatch.setattr(events, "POLL_SECONDS", 0.05)
    board: Board = make_board(webhook=f"http://127.0.0.1:{ear.server_address[1]}/")
    place(board, "Before", {("easy", "stacked"): [0.5, 0.5]})
    with sending_events(board):
        until(lambda: (board.folder / LAST_SENT_FILE).exists())
        one = place(board, "A", {("mixed", "stacked"): [0.123456, 0.123456]}, set_name="hidden-en")
        remove(board, one.id, "a reason")
        give_token(board, "Team", "x")
        until(lambda: len(ear.heard) >= 3)
    assert [line["what"] for line in ear.heard] == ["accepted", "scored", "removed"], "what was before is not told"
    assert ear.heard[2]["actor"] == "maintainer" and ear.heard[0]["facts"]["model"] == "A"
    assert "0.12" not in json.dumps(ear.heard) and one.id not in json.dumps(ear.heard)
    assert capfd.readouterr().err.count("event not sent") == 2
    with sending_events(board):  # a new start goes on where the old one ended
        two = place(board, "B", {("easy", "stacked"): [0.5, 0.5]})
        until(lambda: len(ear.heard) >= 5)
    assert [line["facts"]["model"] for line in ear.heard[3:]] == ["B", "B"] and two.id
    assert (board.folder / events.KEY).stat().st_mode & 0o077 == 0


def test_a_clock_that_jumps_by_days_loses_no_event(
    make_board: Any, ear: Ear, place: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "POLL_SECONDS", 0.05)
    ear.faults = 0
    board: Board = make_board(webhook=f"http://127.0.0.1:{ear.server_address[1]}/")
    with sending_events(board):
        until(lambda: (board.folder / LAST_SENT_FILE).exists())
        monkeypatch.setattr(events, "now", lambda: datetime.now(UTC) + timedelta(days=9))
        place(board, "A", {("easy", "stacked"): [0.5, 0.5]})
        until(lambda: len(ear.heard) == 2)


def test_what_is_told_while_the_service_stops_is_not_told_again(
    make_board: Any, ear: Ear, place: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "POLL_SECONDS", 0.05)
    ear.faults = 0
    board: Board = make_board(webhook=f"http://127.0.0.1:{ear.server_address[1]}/")
    with sending_events(board):
        until(lambda: (board.folder / LAST_SENT_FILE).exists())
    noted = EventSender._note

    def after_the_stop(sender: EventSender, number: int) -> None:
        sender._stopping.wait(120)
        time.sleep(0.5)  # a slow disk
        noted(sender, number)

    with monkeypatch.context() as patch:
        patch.setattr(EventSender, "_note", after_the_stop)
        with sending_events(board):
            place(board, "A", {("easy", "stacked"): [0.5, 0.5]})
            until(lambda: len(ear.heard) == 1)
    assert json.loads((board.folder / LAST_SENT_FILE).read_text())["sent"] == ear.heard[0]["number"]
    with sending_events(board):
        until(lambda: len(ear.heard) >= 2)
    assert [line["what"] for line in ear.heard] == ["accepted", "scored"]
