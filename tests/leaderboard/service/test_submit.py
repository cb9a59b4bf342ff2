"""`leaderboard submit`: against a real service, and against servers that refuse, stall, lie or are no board."""

import json
import re
import shlex
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.leaderboard.common import Hand, Run, Visit
from vcrgen.leaderboard import client
from vcrgen.leaderboard.board import Board
from vcrgen.leaderboard.client import TOKEN_VARIABLE, parse_board_url
from vcrgen.scorer.answer_key import AnswerKey

DOCS = Path(__file__).parents[3] / "docs" / "leaderboard-teams.md"
TOKEN = "vcr_" + "t" * 43
ID = "0123456789abcdef" * 2
Reply = tuple[int, Any, dict[str, str]]  # status, a JSON value or bytes, headers
SETS = {"public": {"task": "vcr", "language": "en", "modes": ["easy"], "hidden": False, "private": True, "view": None}}
QUOTA = {"daily_limit": 20, "left_today": 20, "lifetime_limit": None, "left_lifetime": None, "left": 20}
TEAM = {"team": "Team A", "files": [], "quotas": {"public": QUOTA}, "sets": SETS, "file_mb": 1}
DONE = {"id": ID, "set": "public", "status": "scored", "problems": [], "scores": []}


class FakeBoard:
    """A server whose answers are written down: a list for each path, of which the last one is given again and again."""

    def __init__(self, **replies: list[Reply]) -> None:
        told: list[tuple[str, str, dict[str, str], bytes]] = []

        class Handler(BaseHTTPRequestHandler):
            def answer(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length") or 0))
                if "chunked" in self.headers.get("transfer-encoding", ""):
                    while size := int(self.rfile.readline(), 16):
                        body += self.rfile.read(size)
                        self.rfile.readline()
                    self.rfile.readline()
                told.append((self.command, self.path, dict(self.headers.items()), body))
                kind = next((name for name in replies if name in self.path), "")
                left = replies.get(kind, [(404, b"<html>no</html>", {})])
                status, value, headers = left.pop(0) if len(left) > 1 else left[0]
                content = value if isinstance(value, bytes) else json.dumps(value).encode()
                self.send_response(status)
                for name, text in {**headers, "content-length": str(len(content))}.items():
                    self.send_header(name, text)
                self.end_headers()
                self.wfile.write(content)

            do_GET = do_POST = answer

            def log_message(self, *_: Any) -> None:
                pass

        self.told = told
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., FakeBoard]]:
    made = []
    monkeypatch.setenv(TOKEN_VARIABLE, TOKEN)
    monkeypatch.setattr(client.time, "sleep", lambda seconds: None)

    def make(**replies: list[Reply]) -> FakeBoard:
        made.append(FakeBoard(**replies))
        return made[-1]

    yield make
    for board in made:
        board.server.shutdown()
        board.server.server_close()


@pytest.fixture
def outputs(tmp_path: Path) -> str:
    file = tmp_path / "preds.jsonl"
    file.write_text('{"question_id": "q", "output": "o", "view": "stacked"}\n')
    return str(file)


def ok(value: Any, status: int = 200) -> Reply:
    return status, value, {}


def test_a_file_is_sent_and_its_scores_are_printed(
    board: Board, visit: Visit, run: Run, hand: Hand, public_key: AnswerKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    server, desk = visit(board)
    monkeypatch.setenv(TOKEN_VARIABLE, desk.token)
    (command,) = re.findall(r"^vcrgen (leaderboard submit .*)$", DOCS.read_text("utf-8"), re.MULTILINE)
    _, _, address, file, *options = shlex.split(command)
    assert (address, file) == ("https://board.example.org", "preds.jsonl")
    words = ("leaderboard", "submit", server.url, *options)
    code, out, err = run(*words, str(hand(public_key, right=2)))
    assert code == 0 and "Page: http://127.0.0.1" in out and "is scored" in out and "queued" in err
    assert [line.split()[:3] for line in out.splitlines() if "stacked" in line or "tei" in line] == [
        [mode, view, "40.00"] for mode in ("easy", "hard") for view in ("stacked", "tei")
    ]
    again = run(*words, str(hand(public_key, right=2)))
    assert again[0] == 0 and "submitted before" in again[2]
    missing = hand(public_key, right=2, modes=["easy"])
    missing.write_text("".join(missing.read_text().splitlines(keepends=True)[1:]))
    code, out, err = run(*words, str(missing))
    assert code == 1 and "is not sent" in out and "Questions without an output: 1" in out
    hidden = run("leaderboard", "submit", server.url, "--model", "M", str(missing))
    assert hidden[0] == 2 and "Name the set with --set; the board takes files for: hidden-en, public." in hidden[2]
    assert len([line for line in server.lines() if line.get("path") == "/api/submissions"]) == 2
    assert all(desk.token not in text for text in (*missing.parts, out, err, server.log.read_text("utf-8")))


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("http://example.org", "A token is not sent to example.org by plain http"),
        ("ftp://example.org", "Name the address of a board"),
        ("example.org", "Name the address of a board"),
        ("https://me:secret@example.org", "may hold no user, password or parameters"),
        ("https://example.org/?token=secret", "may hold no user, password or parameters"),
    ],
)
def test_addresses_that_are_refused(
    url: str, message: str, run: Run, outputs: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(TOKEN_VARIABLE, TOKEN)
    code, out, err = run("leaderboard", "submit", url, outputs, "--model", "M")
    assert code == 2 and message in " ".join(err.split()) and "secret" not in out + err


def test_an_address_is_that_of_the_board_whatever_page_it_names() -> None:
    for url in ("https://b.org/x", "https://b.org/x/", "https://b.org/x/index.html"):
        assert parse_board_url(url) == "https://b.org/x"
    assert parse_board_url("http://localhost:8000/") == "http://localhost:8000"
    assert parse_board_url("http://[::1]:8000") == "http://[::1]:8000"


@pytest.mark.parametrize("token", [None, "", "short", "a b c d e f g h", "vcr_\nx-evil: 1 " + "a" * 20, "ü" * 20])
def test_what_is_no_token_is_not_sent_nor_shown(
    token: str | None, run: Run, outputs: str, fake: Callable[..., FakeBoard], monkeypatch: pytest.MonkeyPatch
) -> None:
    board = fake()
    if token is None:
        monkeypatch.delenv(TOKEN_VARIABLE)
    else:
        monkeypatch.setenv(TOKEN_VARIABLE, token)
    code, out, err = run("leaderboard", "submit", board.url, outputs, "--model", "M")
    assert code == 2 and TOKEN_VARIABLE in err and board.told == []
    assert not token or token not in out + err


@pytest.mark.parametrize(
    ("replies", "message"),
    [
        ({"team": [ok({"error": "no"}, 401)]}, "is not one of 127.0.0.1"),
        ({"team": [ok({"error": "no"}, 404)]}, "is not the address of a board"),
        ({"team": [ok(b"<html>", 200)]}, "is not the address of a board"),
        ({"team": [ok(b"<html>", 401)]}, "is not the address of a board"),
        ({"team": [ok({"team": 7}, 200)]}, "is not the address of a board"),
        ({"team": [ok([[[]]], 200)]}, "is not the address of a board"),
        ({"team": [(302, b"", {"location": "https://elsewhere.org/"})]}, "is not the address of a board"),
        ({"team": [ok(b"x" * (5 << 20))]}, "answers with more than 4 MiB"),
        ({"team": [ok(b"", 500)]}, "has a fault (status 500)"),
        (
            {"team": [(429, {"error": "Your team is over it."}, {"retry-after": "3600"})]},
            "Your team is over it. It says to try again in 60 min.",
        ),
        ({"team": [ok(TEAM)], "submissions": [ok({"error": f"{TOKEN} \x1b[2J"}, 400)]}, "[token] \\x1b[2J"),
        ({"team": [ok(TEAM | {"sets": {}})]}, "Name the set with --set; the board takes files for: none."),
    ],
)
def test_what_a_board_refuses_is_a_sentence(
    replies: dict[str, list[Reply]], message: str, run: Run, outputs: str, fake: Callable[..., FakeBoard]
) -> None:
    board = fake(**replies)
    code, out, err = run("leaderboard", "submit", board.url, outputs, "--model", "M")
    assert code == 2 and message in " ".join(err.split()), err
    assert TOKEN not in out + err and all(TOKEN not in path + body.decode() for _, path, _, body in board.told)


@pytest.mark.parametrize(
    ("file", "team", "words", "message"),
    [
        (b"", TEAM, (), "The file is empty."),
        (b"PK\x03\x04", TEAM, (), "The file is a zip archive or an xlsx table"),
        (b"a" * (2 << 20), TEAM, (), "The file is larger than 1 MiB"),
        (b"\xff\xfea\x00", TEAM, (), "The file is UTF-16 text"),
        (
            b"{}",
            TEAM | {"quotas": {"public": QUOTA | {"left_today": 0}}},
            (),
            "submitted 20 files for public in 24 hours",
        ),
        (
            b"{}",
            TEAM | {"sets": {"public": SETS["public"] | {"private": False}}},
            ("--private",),
            "takes no private files",
        ),
    ],
)
def test_what_the_board_would_refuse_is_not_sent(
    file: bytes,
    team: Any,
    words: tuple[str, ...],
    message: str,
    run: Run,
    tmp_path: Path,
    fake: Callable[..., FakeBoard],
) -> None:
    board = fake(team=[ok(team)])
    (tmp_path / "f.jsonl").write_bytes(file)
    code, out, _ = run("leaderboard", "submit", board.url, str(tmp_path / "f.jsonl"), "--model", "M", *words)
    assert code == 1 and "is not sent" in out and message in " ".join(out.split())
    assert [method for method, *_ in board.told] == ["GET"]


def test_the_board_says_when_to_ask_again(
    run: Run, outputs: str, fake: Callable[..., FakeBoard], monkeypatch: pytest.MonkeyPatch
) -> None:
    pauses: list[float] = []
    monkeypatch.setattr(client.time, "sleep", pauses.append)
    busy = (429, {"error": "Wait."}, {"retry-after": "7"})
    board = fake(
        team=[busy, ok(TEAM)],
        template=[ok(b"not a template")],
        **{
            f"submissions/{ID}": [ok(DONE | {"status": "queued"}), (503, b"", {"retry-after": "9"}), ok(DONE)],
            "submissions": [busy, ok({"id": ID}, 202)],
        },
    )
    code, out, err = run("leaderboard", "submit", board.url, outputs, "--model", "M", "--private")
    assert code == 0 and f"Page: {board.url}/submission-{ID}.html" in out
    assert [pause for pause in pauses if pause >= 7] == [7, 7, 9] and "next try in 7 s" in err
    posts = [(headers, body) for method, _, headers, body in board.told if method == "POST"]
    assert len(posts) == 2
    for headers, body in posts:
        assert headers["authorization"] == f"Bearer {TOKEN}" and b'"question_id": "q"' in body and b"Team" not in body
        assert body.index(b'name="private"') < body.index(b'name="file"')


def test_a_failed_file_has_its_problems_and_exit_code_1(run: Run, outputs: str, fake: Callable[..., FakeBoard]) -> None:
    failed = DONE | {"status": "failed", "problems": ["Null instead of an output: 1 (line 1).", "\x1b]0;x\x07"]}
    board = fake(team=[ok(TEAM)], **{f"submissions/{ID}": [ok(failed)], "submissions": [ok({"id": ID}, 202)]})
    code, out, _ = run("leaderboard", "submit", board.url, outputs, "--model", "M")
    assert code == 1 and "is rejected" in out and "Null instead of an output: 1 (line 1)." in out and "\x1b" not in out


def test_a_board_that_is_gone_is_named_without_the_token(
    run: Run, outputs: str, fake: Callable[..., FakeBoard]
) -> None:
    board = fake()
    board.server.server_close()
    code, out, err = run("leaderboard", "submit", board.url, outputs, "--model", "M")
    assert code == 2 and "cannot be reached" in err and TOKEN not in out + err
