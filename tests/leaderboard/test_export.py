"""A board as files, and not a word of a hidden set's answers in any of them."""

from pathlib import Path

import pytest

from tests.leaderboard.common import Facts, Place
from vcrgen.errors import OutputError
from vcrgen.leaderboard.board import Board
from vcrgen.leaderboard.commands import remove
from vcrgen.leaderboard.export import export_site, export_tables

EASY = ("easy", "stacked")


def texts(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): path.read_text("utf-8") for path in folder.rglob("*") if path.is_file()
    }


def test_a_site_is_a_folder_of_pages_and_tables(board: Board, place: Place, facts: Facts, tmp_path: Path) -> None:
    for model, value in (("A", 0.5), ("B", 0.75)):
        place(board, model, {EASY: [value] * 20})
    count = export_site(board, tmp_path / "site")
    pages = texts(tmp_path / "site")
    first, second = sorted((facts("A").entry, facts("B").entry))
    assert len(pages) == count and set(pages) == {
        ".vcrgen-site", ".nojekyll", "index.html", "gap.html", "history.html", "reported.html", "about.html", "compare.html",  # noqa: E501
        "board-public-easy-stacked.html", "board-public-hard-stacked.html", "board-hidden-en-mixed-stacked.html",
        f"model-{first}.html", f"model-{second}.html", f"compare-{first}-{second}.html", "board.csv", "board.json",
    }  # fmt: skip
    for form in ("csv", "json"):
        assert pages[f"board.{form}"] == export_tables(board, form)
    assert str(tmp_path) not in "".join(pages.values())


def test_an_export_is_replaced_as_a_whole(board: Board, place: Place, tmp_path: Path) -> None:
    one = place(board, "A", {EASY: [0.5] * 20})
    export_site(board, tmp_path / "site")
    before = texts(tmp_path / "site")
    export_site(board, tmp_path / "site")
    assert texts(tmp_path / "site") == before
    remove(board, one.id, "a reason")
    export_site(board, tmp_path / "site")
    assert f"model-{one.facts.entry}.html" in before
    assert f"model-{one.facts.entry}.html" not in texts(tmp_path / "site")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["board", "site"]


@pytest.mark.parametrize("there", ["file", "folder"])
def test_what_is_something_else_stays(there: str, board: Board, tmp_path: Path) -> None:
    target = tmp_path / "site"
    if there == "file":
        target.write_text("mine")
    else:
        target.mkdir()
        (target / "mine.txt").write_text("mine")
    with pytest.raises(OutputError, match="holds something else; choose a new or an empty folder"):
        export_site(board, target)
    assert (target if there == "file" else target / "mine.txt").read_text() == "mine"


def test_an_export_that_fails_leaves_the_last_one(
    board: Board, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    export_site(board, tmp_path / "site")
    before = texts(tmp_path / "site")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("vcrgen.leaderboard.export.write_text", full)
    with pytest.raises(OutputError, match="cannot be written: the disk is full"):
        export_site(board, tmp_path / "site")
    assert texts(tmp_path / "site") == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["board", "site"]


def test_the_folder_where_one_is_may_be_the_target(
    board: Board, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    assert export_site(board, Path()) > 5
    assert (tmp_path / "here" / "index.html").is_file()
