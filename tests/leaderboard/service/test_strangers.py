"""Strangers' texts and guesses stay text, stay in their place, and open nothing."""

import html
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from starlette.testclient import TestClient

from vcrgen.leaderboard.board import Board
from vcrgen.leaderboard.commands import score_waiting
from vcrgen.leaderboard.records import SubmissionStatus
from vcrgen.leaderboard.service.app import make_app
from vcrgen.leaderboard.store.submissions import list_submissions
from vcrgen.leaderboard.store.teams import all_teams
from vcrgen.scorer.answer_key import AnswerKey

MARKUP = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "'onmouseover='alert(1)",
    "</title></option><svg onload=alert(1)>",
    "{{ 7*7 }}{% raw %}<b>",
    "javascript:alert(1)//",
    "<!--</textarea>&lt;script&gt;",
)
SQL = (
    "'; DROP TABLE submissions; --",
    "' OR '1'='1",
    '" OR ""="',
    "%' AND 1=0 UNION SELECT hash FROM tokens --",
    "\\'; --",
)
PATHS = (
    "../../../../etc/passwd",
    "..\\..\\board.yaml",
    "/etc/passwd",
    "C:\\board.yaml",
    "..%2f..%2fboard.yaml",
    "....//",
)


def test_markup_in_names_is_text_on_every_page(
    make_board: Any, open_desk: Any, hand: Any, public_key: AnswerKey
) -> None:
    board = make_board()
    for number, text in enumerate(MARKUP):
        desk = open_desk(board, team=f"{text} team")
        answer = desk.api(hand(public_key, right=2, note=str(number)), name=f"{text}.jsonl", model=text)
        assert answer.status_code == 202, text
        rejected = desk.form(b"", model=text, link=text, size=text, released=text, access=text)
        assert rejected.status_code == 400
        assert_text(rejected.text, text)
    failing = desk.api(b'{"question_id": "<script>alert(2)</script>", "output": "x"}', name="<i>.jsonl", model="<u>")
    score_waiting(board)
    entries = {f"/model-{entry}.html" for entry in re.findall(r"model-([0-9a-f]{12})", desk.client.get("/").text)}
    assert len(entries) == len(MARKUP)
    pages = ["/", "/history.html", "/compare.html", "/submit.html", "/about.html", *entries]
    with board.reading() as connection:
        pages += [f"/submission-{one.id}.html" for one in list_submissions(connection)]
    first, second = sorted(entries)[:2]
    pages.append(f"/compare-{first[7:19]}-{second[7:19]}.html")
    for page in pages:
        answer = desk.client.get(page)
        assert answer.status_code == 200
        for text in (*MARKUP, "<script>alert(2)", "<u>", "<i>"):
            assert_text(answer.text, text)
    status = desk.client.get(failing.json()["page"]).text
    assert "&lt;script&gt;alert(2)" in status and "&lt;i&gt;.jsonl" in status
    board.engine.dispose()


class Elements(HTMLParser):
    """Elements of a page with attributes, as a browser sees them."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(re.sub(r"<(style|script)>.*?</\1>", "", page, flags=re.S))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def assert_text(page: str, text: str) -> None:
    """A text of a stranger is nowhere on a page as it was written, unless there is nothing in it to escape."""
    if html.escape(text) != text:
        assert text not in re.sub(r"<(style|script)>.*?</\1>", "", page, flags=re.S), text
    for tag, attributes in Elements(page).found:
        assert tag not in ("script", "img", "iframe", "object", "u", "i", "textarea"), text
        assert not [name for name in attributes if name.startswith("on")], text
        for name in ("href", "src", "action", "formaction"):
            assert not (attributes.get(name) or "").strip().lower().startswith(("javascript", "data:text")), text
        assert "alert" not in (attributes.get("style") or "")


def test_sql_in_every_field_changes_nothing(board: Board, open_desk: Any, hand: Any, public_key: AnswerKey) -> None:
    desk = open_desk(board)
    file = hand(public_key)
    for number, text in enumerate(SQL):
        assert desk.api(file, name=text, model=text).status_code == 202
        for field in ("set", "link", "access", "size", "released"):
            assert desk.api(file, model="M", **{field: text}).status_code == 400, field
        client = TestClient(
            make_app(board, lambda: True), client=(f"192.0.2.{number}", 1), raise_server_exceptions=False
        )
        assert client.post("/submit", data={"token": text, "set": text}).status_code == 401
        answer = client.post("/api/submissions", headers={"authorization": f"Bearer {text}"})
        assert answer.status_code == 401
        for path in (
            f"/api/submissions/{quote(text, safe='')}",
            f"/submission-{quote(text, safe='')}.html",
            f"/{quote(text)}",
        ):
            assert client.get(path).status_code == 404, path
        assert client.get("/compare.html", params={"a": text, "b": SQL[0]}).status_code == 200
    for text in ("\0", "a\0b", "\ud800".encode("utf-8", "surrogatepass").decode("latin-1"), "x" * 5000):
        for path in (f"/api/submissions/{quote(text)}", f"/model-{quote(text)}.html", f"/{quote(text)}"):
            assert desk.client.get(path).status_code == 404, path
    with board.reading() as connection:
        assert [one.facts.model for one in list_submissions(connection)] == list(SQL)
        assert {one.status for one in list_submissions(connection)} == {SubmissionStatus.QUEUED}
        assert [name for name, _ in all_teams(connection)] == ["Team A"]


def test_paths_in_every_field_lead_nowhere(desk: Any, hand: Any, public_key: AnswerKey, tmp_path: Path) -> None:
    board = desk.board.folder
    desk.api(hand(public_key))
    (board / "secret.html").write_text("not for the world")
    before = {file for file in tmp_path.rglob("*") if file.is_file()}
    for number, text in enumerate(PATHS):
        answer = desk.api(hand(public_key, note=str(number), name="outputs.jsonl"), name=text, model=text)
        assert answer.status_code == 202
        shown = html.unescape(desk.client.get(answer.json()["page"]).text)
        name = re.search(r"<dt>Name</dt><dd><bdi>(.*?)</bdi>", shown)
        assert name and not re.search(r"[/\\]", name[1]), text
        assert desk.api(hand(public_key), set=text).status_code == 400
    with_nul = desk.client.post(
        "/api/submissions",
        headers={"authorization": f"Bearer {desk.token}", "content-type": "multipart/form-data; boundary=x"},
        content=b'--x\r\nContent-Disposition: form-data; name="file"; filename="a\0../b"\r\n\r\nhello\r\n'
        b'--x\r\nContent-Disposition: form-data; name="set"\r\n\r\npublic\r\n'
        b'--x\r\nContent-Disposition: form-data; name="model"\r\n\r\nnul\r\n--x--\r\n',
    )
    assert with_nul.status_code == 202
    for path in (
        "/board.yaml",
        "/board.sqlite3",
        "/secret.html",
        "/../secret.html",
        "/..%2fsecret.html",
        "/%2e%2e/secret.html",
        "/%2fetc%2fpasswd",
        "//etc/passwd",
        "/..%5csecret.html",
        "/files/",
        "/index.html%00.html",
        "/%00",
        "/board-../secret-any-stacked.html",
        "/model-..%2f..%2fsecret.html",
        "/api/submissions/..%2f..%2fboard.yaml",
    ):
        answer = desk.client.get(path)
        assert answer.status_code == 404, path
        assert "not for the world" not in answer.text
    score_waiting(desk.board)
    after = {file for file in tmp_path.rglob("*") if file.is_file()}
    new = {file.relative_to(tmp_path) for file in after - before}
    assert all(
        re.fullmatch(
            r"board/files/[0-9a-f]{2}/[0-9a-f]{64}|(outputs|preds)\.jsonl|board/\S*lock|board/\S*-(wal|shm)", str(name)
        )
        for name in new
    ), new


def test_guessed_tokens(desk: Any, hand: Any, public_key: AnswerKey) -> None:
    file = hand(public_key)
    answers = [desk.api(file, headers={"authorization": f"Bearer vcr_{number}"}) for number in range(5)]
    answers += [desk.form(file, token=f"vcr_{number}") for number in range(5)]
    assert {answer.status_code for answer in answers} == {401}
    assert len({answer.text for answer in answers[:5]}) == len({answer.text for answer in answers[5:]}) == 1
    for answer in (desk.form(file, token="x"), desk.api(file, headers={"authorization": "Bearer x"})):
        assert answer.status_code == 429
        assert "unknown tokens" in answer.text and int(answer.headers["retry-after"]) > 0
    assert desk.api(file).status_code == 202, "a right token always passes"


def test_tokens_are_kept_as_hashes(desk: Any, hand: Any, public_key: AnswerKey, capfd: Any) -> None:
    assert desk.api(hand(public_key)).status_code == 202
    assert desk.form(hand(public_key, note="x"), model="Other").status_code == 303
    desk.client.get(f"/{desk.token}", params={"token": desk.token})
    desk.client.get("/", headers={"authorization": f"Bearer {desk.token}"})
    score_waiting(desk.board)
    secret = desk.token.removeprefix("vcr_").encode()
    for file in desk.board.folder.rglob("*"):
        assert not file.is_file() or secret not in file.read_bytes(), file
    logged = capfd.readouterr().err
    assert logged.count("POST") == 2
    assert secret.decode() not in "".join(
        line for line in logged.splitlines() if desk.token not in line or "GET" not in line
    )


# Headers of a post, and whether it may come in.
POSTS: tuple[tuple[dict[str, str], bool], ...] = (
    ({}, True),
    ({"origin": "http://testserver"}, True),
    ({"sec-fetch-site": "same-origin"}, True),
    ({"sec-fetch-site": "none"}, True),
    ({"sec-fetch-site": "same-origin", "host": "10.0.0.5:8000", "origin": "https://board.example"}, True),
    ({"host": "board.example", "origin": "https://board.example"}, True),
    ({"host": "board.example:8443", "origin": "https://board.example:8443"}, True),
    ({"origin": "https://evil.example"}, False),
    ({"origin": "null"}, False),
    ({"origin": ""}, False),
    ({"origin": "http://["}, False),
    ({"origin": "http://testserver.evil.example"}, False),
    ({"origin": "http://testserver:81"}, False),
    ({"origin": "http://evil.example", "x-forwarded-host": "evil.example"}, False),
    ({"sec-fetch-site": "cross-site"}, False),
    ({"sec-fetch-site": "same-site"}, False),
    ({"sec-fetch-site": "cross-site", "origin": "http://testserver"}, False),
    ({"sec-fetch-site": "nonsense"}, False),
)


@pytest.mark.parametrize("way", ["api", "form"])
def test_posts_from_other_sites(desk: Any, hand: Any, public_key: AnswerKey, way: str) -> None:
    allowed = 0
    for number, (headers, fine) in enumerate(POSTS):
        answer = getattr(desk, way)(hand(public_key), model=f"M{number}", headers=headers)
        assert answer.status_code == ({"api": 202, "form": 303}[way] if fine else 403), headers
        assert "content-security-policy" in answer.headers
        allowed += fine
        if not fine:
            assert "a page of another site" in answer.text
    with desk.board.reading() as connection:
        assert len(list_submissions(connection)) == allowed
    assert (
        desk.client.get("/", headers={"origin": "https://evil.example", "sec-fetch-site": "cross-site"}).status_code
        == 200
    )
    assert "access-control-allow-origin" not in desk.client.get("/", headers={"origin": "https://evil.example"}).headers


@pytest.mark.parametrize("link", ["http://example.org/\0", "http://example.org/\x01", "http://example.org/\x7f"])
def test_control_characters_in_links(desk: Any, hand: Any, public_key: AnswerKey, link: str) -> None:
    assert desk.api(hand(public_key), link=link).status_code == 400
