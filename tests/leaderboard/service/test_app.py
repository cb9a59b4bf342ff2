"""Every route of the service: what it answers, in which form, and under which headers."""

import html
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from vcrgen.leaderboard import pages as service_pages
from vcrgen.leaderboard.board import Board
from vcrgen.leaderboard.commands import give_token, remove, revoke, score_waiting
from vcrgen.leaderboard.service.app import make_app
from vcrgen.leaderboard.store import submissions
from vcrgen.scorer.answer_key import AnswerKey
from vcrgen.web.guards import HEADERS

HTML, JSON = "text/html; charset=utf-8", "application/json"
UNKNOWN = "0" * 32

# Path, type, cache.
PAGES = (
    ("/", HTML, "no-cache"),
    ("/index.html", HTML, "no-cache"),
    ("/about.html", HTML, "no-cache"),
    ("/gap.html", HTML, "no-cache"),
    ("/history.html", HTML, "no-cache"),
    ("/reported.html", HTML, "no-cache"),
    ("/compare.html", HTML, "no-cache"),
    ("/submit.html", HTML, None),
    ("/board-public-easy-stacked.html", HTML, "no-cache"),
    ("/board-hidden-en-any-stacked.html", HTML, "no-cache"),
    ("/board.csv", "text/csv; charset=utf-8", "no-cache"),
    ("/board.md", "text/markdown; charset=utf-8", "no-cache"),
    ("/board.latex", "text/plain; charset=utf-8", "no-cache"),
    ("/board.json", JSON, "no-cache"),
    ("/health", JSON, None),
)
NOT_FOUND = (
    "/nothing",
    "/nothing.html",
    "/board.txt",
    "/board.",
    "/board-public-easy-stacked",
    "/robots.txt",
    "/board-other-easy-stacked.html",
    "/board-public-any-strip.html",
    "/model-0123456789ab.html",
    "/model-.html",
    "/compare-000000000000-000000000001.html",
    "/compare-000000000001-000000000000.html",
    f"/submission-{UNKNOWN}.html",
    "/submission-1.html",
    f"/api/submissions/{UNKNOWN}",
    "/api/submissions/1",
    "/api/nothing",
    "/docs",
    "/redoc",
    "/api/openapi.json",
)
WRONG_METHOD = (
    ("POST", "/"),
    ("POST", "/about.html"),
    ("PUT", "/index.html"),
    ("DELETE", f"/api/submissions/{UNKNOWN}"),
    ("GET", "/api/submissions"),
    ("PATCH", "/submit"),
    ("OPTIONS", "/"),
    ("OPTIONS", "/api/submissions"),
    ("TRACE", "/"),
    ("POST", "/health"),
)


def test_events_are_read_on_from_a_number(desk: Any, place: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the history shows, and nothing of a hidden score, an id or a maintainer's account."""
    one = place(desk.board, "A", {("mixed", "stacked"): [0.123456, 0.123456]}, set_name="hidden-en")
    remove(desk.board, one.id, "a reason")

    def read(after: str) -> list[dict[str, Any]]:
        answer = desk.client.get("/events.json", params={"after": after})
        assert answer.status_code == 200 and "0.12" not in answer.text and one.id not in answer.text
        return list(answer.json()["events"])

    everything = read("0")
    assert [line["number"] for line in everything] == list(range(1, len(everything) + 1))
    assert [line["what"] for line in everything][-3:] == ["accepted", "scored", "removed"]
    assert everything[-1]["actor"] == "maintainer" and everything[-1]["facts"]["reason"] == "a reason"
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d\+00:00", everything[-1]["at"]), "to the minute"
    assert desk.client.get("/events.json").json()["events"] == everything
    monkeypatch.setattr("vcrgen.leaderboard.service.app.MAX_EVENTS", 2)
    assert read("1") == everything[1:3] and read(str(len(everything))) == read("999999999") == []
    for after in ("", "-1", "x", "1.5", "\u0663", "1" * 10):
        answer = desk.client.get("/events.json", params={"after": after})
        assert_error(answer, 400)
        assert "number of a line" in answer.json()["error"]


def test_refusals_of_programs_are_json(desk: Any) -> None:
    for answer in (
        desk.client.get("/nothing.json"),
        desk.client.post("/events.json"),
        desk.client.delete("/health"),
        desk.client.get("/api/nothing"),
    ):
        assert_error(answer, answer.status_code)
        assert answer.status_code in (404, 405) and answer.headers["content-type"] == JSON
    assert "html" in desk.client.get("/nothing.html").headers["content-type"]


def hidden_track(board: Board) -> str:
    mode = next(one for one in board.sets if one.hidden).modes or ("any",)
    return f"/board-hidden-en-{mode[0]}-stacked.html"


def assert_guarded(answer: Any) -> None:
    for name, value in HEADERS.items():
        assert answer.headers[name] == value, (answer.url, name)
    assert "server" not in answer.headers
    assert answer.headers["content-security-policy"].startswith("default-src 'none'")
    assert answer.headers["x-content-type-options"] == "nosniff"


def assert_error(answer: Any, status: int) -> None:
    """An error has its form, and says something."""
    assert answer.status_code == status, (answer.url, answer.text)
    assert_guarded(answer)
    if answer.url.path.startswith("/api/") or answer.url.path.endswith(".json") or answer.url.path == "/health":
        assert answer.headers["content-type"] == JSON
        assert answer.json()["error"].strip()
    else:
        assert answer.headers["content-type"] in (HTML, "text/plain; charset=utf-8")
        assert "Traceback" not in answer.text


@pytest.mark.parametrize("filled", [False, True], ids=["empty", "filled"])
def test_every_page(
    board: Board, open_desk: Callable[..., Any], hand: Any, public_key: AnswerKey, hidden_key: AnswerKey, filled: bool
) -> None:
    desk = open_desk(board)
    if filled:
        for name, key in (("public", public_key), ("hidden-en", hidden_key)):
            assert desk.api(hand(key, right=2), set=name).status_code == 202
        assert score_waiting(board) == 2
    for path, kind, cache in PAGES:
        path = hidden_track(board) if path.startswith("/board-hidden") else path
        answer = desk.client.get(path)
        assert (answer.status_code, answer.headers["content-type"]) == (200, kind), path
        assert answer.headers.get("cache-control") == cache, path
        assert_guarded(answer)
        if kind == HTML:
            assert answer.text.startswith("<!doctype html>") and answer.text.rstrip().endswith("</html>")
        if kind == JSON:
            answer.json()
        head = desk.client.head(path)
        assert (head.status_code, head.content) == (200, b""), path
        assert {**head.headers} == {**answer.headers}, path
        assert_guarded(head)
    assert desk.client.get("/submit", follow_redirects=False).headers["location"] == "submit.html"
    for path in NOT_FOUND:
        assert_error(desk.client.get(path), 404)
        assert desk.client.head(path).status_code == 404
    for method, path in WRONG_METHOD:
        answer = desk.client.request(method, path)
        assert_error(answer, 405)
        assert answer.headers["allow"], (method, path)


@pytest.mark.parametrize("way", ["api", "form"])
def test_from_upload_to_score(
    board: Board, open_desk: Callable[..., Any], hand: Any, public_key: AnswerKey, way: str
) -> None:
    desk = open_desk(board)
    facts = {"link": "https://example.org/m", "access": "open", "size": "7B", "released": "2026-01-31"}
    answer = getattr(desk, way)(hand(public_key, right=2), **facts)
    assert_guarded(answer)
    if way == "api":
        assert answer.status_code == 202
        assert answer.json().keys() == {"id", "status", "page"} and answer.json()["status"] == "queued"
        page, number = answer.json()["page"], answer.json()["id"]
    else:
        assert answer.status_code == 303
        page = f"/{answer.headers['location']}"
        number = re.fullmatch(r"/submission-([0-9a-f]{32})\.html", page)[1]  # type: ignore[index]
    json_page = f"/api/submissions/{number}"
    waiting = desk.client.get(json_page).json()
    assert (waiting["status"], waiting["scores"], waiting["problems"], waiting["finished"]) == ("queued", [], [], None)
    assert (waiting["set"], waiting["team"], waiting["model"]) == ("public", "Team A", "Model")
    status = desk.client.get(page)
    assert status.headers["cache-control"] == desk.client.get(json_page).headers["cache-control"] == "no-store"
    assert "Waiting to be scored" in status.text and 'http-equiv="refresh"' in status.text
    assert desk.client.get("/health").json() == {"status": "ok", "waiting": 1}

    assert score_waiting(board) == 1
    scored = desk.client.get(json_page).json()
    assert scored["status"] == "scored" and scored["finished"] and len(scored["scores"]) == 4
    assert {(cell["mode"], cell["view"], cell["rank"]) for cell in scored["scores"]} == {
        (mode, view, 1) for mode in ("easy", "hard") for view in ("stacked", "tei")
    }
    assert all(0 < cell["exact"]["low"] <= cell["exact"]["value"] <= cell["exact"]["high"] for cell in scored["scores"])
    status = desk.client.get(page).text
    assert "<h1>Scored</h1>" in status and 'http-equiv="refresh"' not in status
    for path in ("/", "/board-public-easy-stacked.html", "/board.csv", "/board.json", "/history.html"):
        assert "Model" in desk.client.get(path).text
    entry = re.search(r"model-[0-9a-f]{12}\.html", desk.client.get("/").text)
    assert entry and "https://example.org/m" in desk.client.get(f"/{entry[0]}").text
    assert desk.client.get("/health").json()["waiting"] == 0

    remove(board, number, "a reason")
    assert desk.client.get(json_page).json()["status"] == "removed"
    assert "a reason" in desk.client.get(page).text


def test_what_cannot_be_scored_fails_with_lines(desk: Any, hand: Any, public_key: AnswerKey, tmp_path: Path) -> None:
    lines = hand(public_key).read_text().splitlines()
    cases = {
        "broken line": ([*lines[:6], lines[6][:-1], *lines[7:]], "preds.jsonl, line 7: not JSON"),
        "no output": ([*lines, '{"question_id": "x"}'], f"preds.jsonl, line {len(lines) + 1}: no `output`"),
        "one missing": (lines[:-1], "Questions without an output: 1 ("),
        "one twice": (
            [*lines, lines[0]],
            f"Further outputs for a question that had the same one: 1 (line {len(lines) + 1}",
        ),
        "another id": ([*lines, '{"question_id": "other", "output": ""}'], "Ids that the dataset does not have: 1"),
        "null": ([lines[0].replace(json.dumps(json.loads(lines[0])["output"]), "null"), *lines[1:]], "line 1"),
        "other format": (
            ["index,answer", "1,2"],
            "a table needs the columns question_id or index, and output or prediction",
        ),
    }
    sent = {name: desk.api("\n".join(text).encode(), model=name) for name, (text, _) in cases.items()}
    assert {answer.status_code for answer in sent.values()} == {202}
    assert score_waiting(desk.board) == len(cases)
    for name, answer in sent.items():
        found = desk.status(answer)
        assert (found["status"], found["scores"]) == ("failed", []), name
        assert any(cases[name][1] in problem for problem in found["problems"]), (name, found["problems"])
        page = desk.client.get(answer.json()["page"]).text
        assert "<h1>Not scored</h1>" in page and cases[name][1].split("`")[0].split("(")[0] in page
        assert str(desk.board.folder) not in page + json.dumps(found)
    again = desk.api("\n".join(cases["one missing"][0]).encode(), model="one missing")
    assert again.status_code == 202, "what failed may be tried again"


def test_the_same_file_is_taken_once(desk: Any, hand: Any, public_key: AnswerKey) -> None:
    file = hand(public_key)
    first = desk.api(file)
    for again in (desk.api(file), desk.api(file, model="mODEL", name="other.jsonl")):
        assert_error(again, 409)
        assert again.json()["id"] == first.json()["id"]
    by_form = desk.form(file)
    assert_error(by_form, 409)
    assert "was submitted for Model on public before" in by_form.text
    score_waiting(desk.board)
    assert desk.api(file).status_code == 409
    assert desk.api(file, model="Other").status_code == 202


# What is sent beside a good file, the status, and a part of the sentence.
REFUSED = (
    ({"model": ""}, 400, "The name of the model is missing"),
    ({"model": "x" * 2001}, 400, "The form cannot be read"),
    ({"model": "a\u202eb"}, 400, "U+202E"),
    ({"link": "javascript:alert(1)"}, 400, "The link has to be"),
    ({"access": "free"}, 400, "The access is one of"),
    ({"size": "big"}, 400, "The size is written like"),
    ({"released": "yesterday"}, 400, "The date of release"),
    ({"set": "other"}, 400, "There is no set"),
)


@pytest.mark.parametrize("way", ["api", "form"])
def test_refused_facts(desk: Any, hand: Any, public_key: AnswerKey, way: str) -> None:
    file = hand(public_key)
    for fields, status, sentence in REFUSED:
        answer = getattr(desk, way)(file, **{"size": "7B", **fields})
        assert_error(answer, status)
        said = answer.json()["error"] if way == "api" else answer.text
        assert sentence in said, (fields, said)
        if way == "form":
            assert desk.token not in answer.text
            assert "form cannot be read" in sentence or fields.get("size", "7B") in answer.text
    assert not list((desk.board.folder / "files").rglob("*.jsonl")) and not desk.client.get("/health").json()["waiting"]


def test_forms_that_are_none(desk: Any) -> None:
    bearer = {"authorization": f"Bearer {desk.token}"}
    multipart = "multipart/form-data"
    part = b'--x\r\nContent-Disposition: form-data; name="model"\r\n\r\n\xff\xfe\r\n--x--\r\n'
    cases = (
        (b"", None),
        (b"{}", "application/json"),
        (b"model=x", "application/x-www-form-urlencoded"),
        (b"a=" + b"b" * 5000, "application/x-www-form-urlencoded"),
        (b"&".join(b"a=1" for _ in range(100)), "application/x-www-form-urlencoded"),
        (b"%ff=%zz;&&==", "application/x-www-form-urlencoded"),
        (part, multipart),
        (part, f"{multipart}; boundary="),
        (part, f"{multipart}; boundary={'x' * 500}"),
        (part, f"{multipart}; boundary=y"),
        (part, f"{multipart}; boundary=x"),
        (part, f"{multipart}; boundary=x; charset=undefined"),
        (part, f"{multipart}; boundary=x; charset=punycode"),
        (part, f"{multipart}; boundary=x; charset=utf-16"),
        (part, f"{multipart}; boundary=x; charset=nothing"),
        (part.replace(b"\xff\xfe", b"+2AA-"), f"{multipart}; boundary=x; charset=utf-7"),
        (part[:-10], f"{multipart}; boundary=x"),
        (part.replace(b'name="model"', b""), f"{multipart}; boundary=x"),
        (part.replace(b"model", b"file") * 2, f"{multipart}; boundary=x"),
        (part.replace(b"\r\n\r\n", b'; filename="a"\r\n\r\n', 1) * 3, f"{multipart}; boundary=x"),
        (b"--x\r\n" + b"A: b\r\n" * 20_000 + b"\r\n--x--\r\n", f"{multipart}; boundary=x"),
        (b"--x\r\nA: " + b"b" * 200_000 + b"\r\n\r\n--x--\r\n", f"{multipart}; boundary=x"),
    )
    for number, (body, kind) in enumerate(cases):
        headers = {"content-type": kind} if kind else {}
        assert_error(desk.client.post("/api/submissions", content=body, headers={**headers, **bearer}), 400)
        browser = TestClient(make_app(desk.board, lambda: True), client=(f"192.0.2.{number}", 1))
        answer = browser.post("/submit", content=body, headers=headers)
        assert answer.status_code in (400, 401), (body[:80], kind)
        assert_guarded(answer)
        assert answer.headers["content-type"] == HTML


def test_limits_of_a_team(
    make_board: Any, open_desk: Callable[..., Any], hand: Any, public_key: AnswerKey, hidden_key: AnswerKey
) -> None:
    board = make_board(files_per_day=2, hidden_scores_per_day=1, hidden_scores_lifetime=1, failed_files_per_day=2)
    desk = open_desk(board)
    other, careless = open_desk(board, team="Team B"), open_desk(board, team="Team C")

    def assert_full(answer: Any, sentence: str) -> None:
        assert_error(answer, 429)
        assert int(answer.headers["retry-after"]) > 0
        assert sentence in answer.text

    for number in range(2):
        assert desk.api(hand(public_key), model=f"M{number}").status_code == 202
    assert_full(desk.api(hand(public_key), model="M3"), "submitted 2 files for public in 24 hours")
    assert_full(desk.form(hand(public_key), model="M3"), "submitted 2 files for public in 24 hours")
    assert desk.api(hand(hidden_key), set="hidden-en").status_code == 202
    assert_full(desk.api(hand(hidden_key), set="hidden-en", model="M2"), "hidden-en")
    assert not list((board.folder / "files" / "incoming").glob("*"))
    assert other.api(hand(public_key)).status_code == 202, "limits are a team's own"
    score_waiting(board)
    assert_full(desk.api(hand(public_key), model="M3"), "submitted 2 files")
    for number in range(2):
        assert careless.api(b'{"question_id": %d}' % number).status_code == 202
        score_waiting(board)
    assert_full(careless.api(hand(public_key)), "2 files of your team were rejected")


def test_limit_of_an_address(make_board: Any, open_desk: Callable[..., Any]) -> None:
    board = make_board(requests_per_minute=10)
    client = open_desk(board).client
    assert {client.get("/about.html").status_code for _ in range(10)} == {200}
    for path in ("/about.html", "/", "/api/nothing", "/health"):
        answer = client.get(path)
        assert_error(answer, 429)
        assert answer.headers["retry-after"] == "60"
    elsewhere = TestClient(make_app(board, lambda: True), client=("192.0.2.7", 1))
    assert elsewhere.get("/about.html").status_code == 200


def test_health_of_worker_and_database(board: Board, open_desk: Callable[..., Any], tmp_path: Path) -> None:
    answer = open_desk(board, alive=False).client.get("/health")
    assert (answer.status_code, answer.json()["status"]) == (503, "nothing is scored: the worker is not there")
    desk = open_desk(board)
    assert desk.client.get("/health").json() == {"status": "ok", "waiting": 0}
    desk.client.get("/about.html")
    break_database(board)
    answer = desk.client.get("/health")
    assert (answer.status_code, answer.json()) == (503, {"status": "database cannot be reached"})
    assert_guarded(answer)
    for path in ("/", "/about.html", "/nothing", "/submit.html", f"/api/submissions/{UNKNOWN}", "/board.json"):
        assert_error(desk.client.get(path), 404 if path == "/nothing" else 503)
    for sent in (desk.api(b"x"), desk.form(b"x")):
        assert_error(sent, 503)
        assert "sql" not in sent.text.lower()
    assert desk.client.get("/", headers={"host": "x"}).headers["retry-after"]


def break_database(board: Board) -> None:
    """Take a board's tables away from under its service."""
    with board.engine.connect() as connection:
        connection.exec_driver_sql("ALTER TABLE events RENAME TO elsewhere")
        connection.exec_driver_sql("ALTER TABLE tokens RENAME TO tokens_elsewhere")
        connection.exec_driver_sql("ALTER TABLE submissions RENAME TO submissions_elsewhere")
        connection.commit() if board.engine.dialect.name == "postgresql" else connection.exec_driver_sql("COMMIT")


def test_tokens(desk: Any, hand: Any, public_key: AnswerKey, board: Board) -> None:
    file = hand(public_key)
    second = give_token(board, "Team A", "")
    assert desk.api(file, headers={"authorization": f"bearer {second}"}).status_code == 202
    assert revoke(board, "team a") == 2
    for headers in (
        {"authorization": f"Bearer {desk.token}"},
        {"authorization": f"Bearer {second}"},
        {"authorization": "Bearer x"},
        {"authorization": f"Basic {desk.token}"},
        {"authorization": ""},
    ):
        answer = desk.api(file, model="Other", headers=headers)
        assert_error(answer, 401)
        assert answer.headers["www-authenticate"] == "Bearer"
        assert "not one of this board, or was revoked" in answer.json()["error"]
    by_form = desk.form(file, model="Other")
    assert_error(by_form, 401)
    assert "not one of this board, or was revoked" in by_form.text and 'value="Other"' in by_form.text


def test_a_fault_says_a_number_and_nothing_else(
    desk: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: Any, **__: Any) -> Any:
        raise RuntimeError("a secret answer")

    monkeypatch.setattr(submissions, "find", broken)
    for path in (f"/submission-{UNKNOWN}.html", f"/api/submissions/{UNKNOWN}"):
        answer = desk.client.get(path)
        assert_error(answer, 500)
        number = re.search(r"number ([0-9a-f]{12})", answer.text)
        logged = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
        assert number and "secret" not in answer.text + str(logged)
        fault = next(line for line in logged if line["what"] == "fault")
        assert (fault["number"], fault["kind"]) == (number[1], "RuntimeError")


def test_comparing_redirects(desk: Any, hand: Any, public_key: AnswerKey) -> None:
    for model in ("M1", "M2"):
        desk.api(hand(public_key, right=2, note=model), model=model)
    score_waiting(desk.board)
    a, b = sorted(set(re.findall(r"model-([0-9a-f]{12})", desk.client.get("/").text)))

    def named(entry: str) -> str:
        return str(desk.client.get(f"/model-{entry}.html").text)

    for first, second in ((a, b), (b, a)):
        answer = desk.client.get(f"/compare.html?a={first}&b={second}", follow_redirects=False)
        assert (answer.status_code, answer.headers["location"]) == (303, f"compare-{a}-{b}.html")
        assert_guarded(answer)
        page = desk.client.get(f"/compare.html?a={first}&b={second}")
        assert page.status_code == 200 and "M1" in page.text and "M2" in page.text
    for query in (
        "first=m1&second=m2",
        "first=M1+team&second=2",
        f"a={a}&second={'m2' if '>M1<' in named(a) else 'm1'}",
    ):
        answer = desk.client.get(f"/compare.html?{query}", follow_redirects=False)
        assert answer.headers["location"] == f"compare-{a}-{b}.html", query
    several = desk.client.get("/compare.html?first=m&second=nobody").text
    assert several.count('type="radio"') == 2 and "No model has these words" in several
    for query in (f"a={a}&b={a}", f"a={a}", "a=&b=", "a=x&b=y", "a=//evil.example&b=1", f"a={a}%0d%0aX:&b={b}"):
        assert desk.client.get(f"/compare.html?{query}", follow_redirects=False).status_code == 200, query


def test_pages_are_kept_until_something_happens(
    desk: Any, hand: Any, public_key: AnswerKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = []
    real = service_pages.page_of
    monkeypatch.setattr(service_pages, "page_of", lambda *args: made.append(args[2]) or real(*args))  # type: ignore[func-returns-value]
    for _ in range(3):
        assert "Model" not in desk.client.get("/history.html").text.split("<tbody>")[-1].split("Test board")[0]
    assert made == ["history.html"]
    desk.api(hand(public_key))
    for _ in range(2):
        assert "accepted" in desk.client.get("/history.html").text
    assert made == ["history.html"] * 2


def test_the_examples_of_the_page_are_taken(
    board: Board, open_desk: Callable[..., Any], public_key: AnswerKey, hidden_key: AnswerKey
) -> None:
    """Every line that About shows for a set, filled in for all of its questions, is scored."""
    desk = open_desk(board)
    about = desk.client.get("/about.html").text
    shown = re.findall(r"<p>For (.*?):</p>\s*<pre[^>]*><code>(.*?)</code>", about, re.S)
    keys = {"public": public_key, "hidden-en": hidden_key}
    found = {name: line for names, line in shown for name in keys if f"<bdi>{name}</bdi>" in names}
    assert found.keys() == keys.keys()
    for name, key in keys.items():
        line = json.loads(html.unescape(found[name]))
        lines = [line | {"question_id": question.question_id} for question in key.questions]
        answer = desk.api("\n".join(map(json.dumps, lines)).encode(), set=name)
        assert answer.status_code == 202
        score_waiting(board)
        assert desk.status(answer)["status"] == "scored", desk.status(answer)["problems"]
