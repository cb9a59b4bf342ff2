"""Pages that are kept: how they are sent, when they are made anew, and how little a file costs on a large board."""

import re
from typing import Any

import pytest
from sqlalchemy import event

from tests.leaderboard.common import until
from vcrgen.leaderboard.board import Board
from vcrgen.leaderboard.commands import give_token
from vcrgen.leaderboard.service import pages as service_pages
from vcrgen.leaderboard.service.pages import LivePages
from vcrgen.leaderboard.site import names

TABLE = "board-public-easy-stacked.html"
ONE_CELL = {("easy", "stacked"): (0.5, 0.6)}


@pytest.fixture
def short_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables of which three rows stand on a page."""
    for module in ("listing", "names", "tables"):
        monkeypatch.setattr(f"vcrgen.leaderboard.site.{module}.PAGE_ROWS", 3)


def test_a_page_is_packed_and_is_not_sent_again(desk: Any, place: Any) -> None:
    place(desk.board, "Model", ONE_CELL)

    def fetch(path: str, **headers: str) -> Any:
        sent = {"accept-encoding": "identity", **{name.replace("_", "-"): value for name, value in headers.items()}}
        return desk.client.get(path, headers=sent)

    for path in ("/", f"/{TABLE}", "/board.json"):
        plain, packed = fetch(path), fetch(path, accept_encoding="br, gzip")
        assert "content-encoding" not in plain.headers
        assert packed.headers["content-encoding"] == "gzip" and packed.content == plain.content
        assert int(packed.headers["content-length"]) < len(plain.content)
        assert plain.headers["etag"] == packed.headers["etag"] and plain.headers["vary"] == "accept-encoding"
        again = fetch(path, if_none_match=f'"x", {plain.headers["etag"]}')
        assert (again.status_code, again.content) == (304, b"")
        assert fetch(path, if_none_match='W/"x"').status_code == 200
    tag = fetch(f"/{TABLE}").headers["etag"]
    place(desk.board, "Another", ONE_CELL)
    assert fetch(f"/{TABLE}", if_none_match=tag).status_code == 200
    # What holds a token is sent as it is: of what is packed the size tells something.
    for page in (desk.client.post("/team", data={"token": desk.token}), desk.client.get("/submit.html")):
        assert "content-encoding" not in page.headers and "etag" not in page.headers


def test_only_pages_of_the_set_that_changed_are_made_anew(board: Board, place: Any) -> None:
    track = next(f"board-hidden-en-{one.modes[0]}-stacked.html" for one in board.sets if one.hidden and one.modes)
    place(board, "Model", ONE_CELL)
    pages = LivePages(board)
    wanted = (TABLE, track, names.INDEX, names.HISTORY, "about.html", "board.csv")

    def look() -> dict[str, Any]:
        return {name: pages.get(name) for name in wanted}

    before = look()
    assert look() == before
    give_token(board, "Team X", "")
    after = look()
    assert {name for name in wanted if after[name] is not before[name]} == {names.HISTORY}
    place(board, "Second", ONE_CELL)
    last = look()
    assert {name for name in wanted if last[name] is after[name]} == {track}
    assert b"Second" in last[TABLE].body and b"Second" in last["board.csv"].body


def test_pages_are_made_anew_behind_those_that_are_read(
    board: Board, place: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service_pages, "POLL_SECONDS", 0.01)
    monkeypatch.setattr(service_pages, "PAUSE_SECONDS", 0.01)
    place(board, "Model", ONE_CELL)
    pages = LivePages(board)
    made: list[str] = []
    real = LivePages._make

    def make(self: LivePages, name: str, *rest: Any) -> Any:
        made.append(name)
        return real(self, name, *rest)

    monkeypatch.setattr(LivePages, "_make", make)

    def body(name: str) -> bytes:
        page = pages.get(name)
        assert page is not None
        return page.body

    with pages.watching():
        assert b"Second" not in body(TABLE)
        body("about.html")
        place(board, "Second", ONE_CELL)
        until(lambda: b"Second" in body(TABLE))
        count = made.count("about.html")
        place(board, "Third", ONE_CELL)
        until(lambda: b"Third" in body(TABLE))
        assert made.count("about.html") == count, "nobody has read it since"
    assert b"Third" in body(TABLE)


@pytest.mark.usefixtures("short_tables")
def test_a_long_table_is_read_page_by_page(desk: Any, place: Any) -> None:
    for number in range(8):
        team = "Odd" if number % 2 else "Even"
        place(desk.board, f"Model {number}", {("easy", "stacked"): (0.1 * number, 0.1 * number + 0.01)}, team=team)

    def models(query: str = "") -> list[str]:
        text = desk.client.get(f"/{TABLE}{query}").text
        return re.findall(r"<bdi>Model (\d)</bdi>", text.partition('class="panels"')[0])

    assert [models(f"?page={number}") for number in (1, 2, 3)] == [["7", "6", "5"], ["4", "3", "2"], ["1", "0"]]
    assert models("?page=4") == models("?page=3") and models("?page=-1") == models("?page=x") == models()
    assert models("?sort=model") == ["0", "1", "2"] and models("?sort=-exact-stacked") == ["7", "6", "5"]
    assert models("?search=odd&page=2") == ["1"] and models("?search=nothing") == []
    page = desk.client.get(f"/{TABLE}?search=even&sort=model").text
    assert "1 to 3 of 4 models, found among 8" in page
    assert 'href="?search=even&amp;sort=model&amp;page=2"' in page and 'value="even"' in page
    hostile = desk.client.get(f"/{TABLE}", params={"search": '"><script>alert(1)</script>'})
    assert "<script>alert" not in hostile.text and hostile.status_code == 200


def test_an_exported_page_has_every_row(desk: Any, place: Any, short_tables: None, tmp_path: Any) -> None:
    from vcrgen.leaderboard.export import export_site

    for number in range(5):
        place(desk.board, f"Model {number}", ONE_CELL)
    export_site(desk.board, tmp_path / "site")
    text = (tmp_path / "site" / TABLE).read_text("utf-8")
    assert len(re.findall(r"<bdi>Model \d</bdi></a>", text)) == 5 and 'data-page="3"' in text
    assert "?page" not in text


def test_finishing_a_file_asks_no_question_a_model(board: Board, place: Any) -> None:
    """The statements that one more model takes are as many on a board of nine models as on one of three."""
    counts = []
    for number in range(9):
        statements: list[str] = []

        def count(*args: Any, into: list[str] = statements) -> None:
            into.append(args[2])
            into.extend([args[2]] * (len(args[3]) - 1 if args[5] else 0))

        event.listen(board.engine, "before_cursor_execute", count)
        place(board, f"Model {number}", {("easy", "stacked"): (0.1 * number, 0.1 * number)})
        event.remove(board.engine, "before_cursor_execute", count)
        counts.append(len(statements))
    assert counts[8] <= counts[2]
