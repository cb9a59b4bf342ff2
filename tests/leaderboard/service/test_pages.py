"""Pages that are kept: how they are sent, when they are made anew, and how little a file costs on a large board."""

import re
from typing import Any

import pytest
from sqlalchemy import event

from vcrgen.leaderboard import pages as service_pages
from vcrgen.leaderboard.board import Board
from vcrgen.leaderboard.pages import LivePages
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


def test_a_page_is_made_once_after_each_event(board: Board, place: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    place(board, "Model", ONE_CELL)
    pages = LivePages(board)
    wanted = (TABLE, names.INDEX, names.HISTORY, "about.html", "board.csv")
    strangers = ("model-0123456789ab.html", "board-public-easy-image.html")
    made: list[str] = []
    real = service_pages.CachedPage.of
    monkeypatch.setattr(service_pages.CachedPage, "of", lambda text: (made.append(text), real(text))[1])

    def look() -> dict[str, bytes]:
        assert [pages.get(name) for name in strangers] == [None, None]
        return {name: page.body for name in wanted if (page := pages.get(name))}

    before = look()
    assert look() == before and len(made) == len(wanted)
    place(board, "Second", ONE_CELL)
    after = look()
    assert len(made) == 2 * len(wanted)
    assert {name for name in wanted if b"Second" in after[name]} == {TABLE, names.INDEX, names.HISTORY, "board.csv"}
    assert not any(b"Second" in body for body in before.values())


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
