"""Boards: made, opened, and rejected with a sentence."""

import stat
from pathlib import Path

import pytest
from sqlalchemy import Engine

from tests.leaderboard.examples import EACH_DATABASE
from vcrgen.core.errors import LeaderboardError, VcrgenError
from vcrgen.data.tasks.task import VCR_TASK
from vcrgen.leaderboard import records
from vcrgen.leaderboard.board import Board, open_board
from vcrgen.leaderboard.new_board import init_board, named_sets
from vcrgen.leaderboard.rotation import make_lifecycle
from vcrgen.leaderboard.settings import Settings
from vcrgen.leaderboard.store import results
from vcrgen.leaderboard.store.engine import open_engine
from vcrgen.leaderboard.store.log import maintainer, read_log
from vcrgen.report.published.results import read_reported, shipped_tables


def test_a_board_knows_its_sets(board: Board, public: Path, hidden: Path) -> None:
    first, second = open_board(board.folder).sets
    assert first == records.TestSet(
        name="public",
        path=str(public),
        hidden=False,
        language="en",
        questions=12,
        spans=first.spans,
        modes=("easy", "hard"),
        signature=first.signature,
        lifecycle=records.SetLifecycle(private=True),
        covers={"easy": "rows", "hard": "rows"},
        white_rows=True,
    )
    assert second == records.TestSet(
        name="hidden-en",
        path=str(hidden / "key"),
        hidden=True,
        language="en",
        questions=8,
        spans=second.spans,
        modes=("mixed",),
        signature=second.signature,
        lifecycle=make_lifecycle(feedback="instant"),
        covers={"easy": "rows", "hard": "rows"},
        white_rows=True,
    )
    assert first.spans >= 12 and second.spans >= 8 and first.signature != second.signature
    with board.reading() as connection:
        told = [(line.actor, line.what, line.subject, line.facts) for line in read_log(connection)]
    facts = [{"signature": first.signature}, {"signature": second.signature, "feedback": "instant"}]
    assert told == [
        (maintainer(), "set added", one.name, fact) for one, fact in zip((first, second), facts, strict=True)
    ]


def test_only_its_owner_can_look_into_a_board(board: Board) -> None:
    assert stat.S_IMODE(board.folder.stat().st_mode) == 0o700
    assert stat.S_IMODE((board.folder / "board.yaml").stat().st_mode) == 0o600


def test_a_board_may_begin_with_published_rows(public: Path, tmp_path: Path) -> None:
    made = init_board(tmp_path / "board", [f"public:{public}"], Settings(), with_reported=True)
    with made.reading() as connection:
        found = results.all_reported(connection)
    of_the_task = [row for file in shipped_tables() for row in read_reported(file) if row.task is VCR_TASK]
    assert found == of_the_task and len(found) > 100
    with made.writing() as connection:
        assert results.add_reported(connection, found[:10]) == 0
        assert results.all_reported(connection) == found


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (["public"], "A set is named as NAME:PATH"),
        (["public:"], "A set is named as NAME:PATH"),
        ([":{public}"], "A set's name is up to 40 small letters"),
        (["Public:{public}"], "A set's name is up to 40 small letters"),
        (["../x:{public}"], "A set's name is up to 40 small letters"),
        (["-a:{public}"], "A set's name is up to 40 small letters"),
        (["a" * 41 + ":{public}"], "A set's name is up to 40 small letters"),
        (["a:{public}", "a:{public}"], "Two sets are named 'a'"),
        (["a:/no/such/folder"], "The set 'a' cannot be used: /no/such/folder does not exist"),
        (["a:{here}"], "The set 'a' cannot be used"),
    ],
)
def test_wrong_sets_make_no_board(data: list[str], message: str, public: Path, tmp_path: Path) -> None:
    given = [text.format(public=public, here=tmp_path) for text in data]
    with pytest.raises(LeaderboardError) as caught:
        init_board(tmp_path / "board", given, Settings(), with_reported=False)
    assert message in str(caught.value)
    assert not (tmp_path / "board").exists()


def test_a_path_may_hold_colons() -> None:
    assert named_sets(["a:C:/b:c", "b-1:x"]) == {"a": Path("C:/b:c"), "b-1": Path("x")}


@pytest.mark.parametrize("there", ["file", "folder", "board"])
def test_nothing_is_overwritten(there: str, board: Board, public: Path, tmp_path: Path) -> None:
    target = board.folder if there == "board" else tmp_path / "there"
    if there == "file":
        target.write_text("mine")
    elif there == "folder":
        target.mkdir()
        (target / "mine").write_text("mine")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file() and path.suffix != ".jsonl"}
    with pytest.raises(LeaderboardError, match="is there and not empty; name a new folder"):
        init_board(target, [f"public:{public}"], Settings(), with_reported=False)
    assert {path: path.read_bytes() for path in before} == before


def test_an_empty_folder_is_taken(public: Path, tmp_path: Path) -> None:
    (tmp_path / "board").mkdir(0o755)
    init_board(tmp_path / "board", [f"public:{public}"], Settings(), with_reported=False)
    assert open_board(tmp_path / "board").sets[0].name == "public"
    assert stat.S_IMODE((tmp_path / "board").stat().st_mode) == 0o700


@pytest.mark.parametrize("was_there", [False, True])
def test_half_a_board_is_not_in_the_way_of_the_next_try(
    was_there: bool, public: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(*_: object) -> None:
        raise KeyboardInterrupt

    if was_there:
        (tmp_path / "board").mkdir()
    with monkeypatch.context() as patch:
        patch.setattr("vcrgen.leaderboard.new_board.write_settings", stopped)
        with pytest.raises(KeyboardInterrupt):
            init_board(tmp_path / "board", [f"public:{public}"], Settings(), with_reported=False)
    assert (tmp_path / "board").exists() == was_there
    init_board(tmp_path / "board", [f"public:{public}"], Settings(), with_reported=False)
    assert open_board(tmp_path / "board").sets[0].name == "public"


def test_a_board_that_somebody_else_finishes_meanwhile_stays(
    public: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "board"

    def late(place: Path, url: str) -> Engine:
        monkeypatch.undo()
        init_board(folder, [f"public:{public}"], Settings(), with_reported=False)
        return open_engine(place, url)

    monkeypatch.setattr("vcrgen.leaderboard.new_board.open_engine", late)
    with pytest.raises(LeaderboardError, match="The database holds a board already"):
        init_board(folder, [f"other:{public}"], Settings(), with_reported=False)
    assert [one.name for one in open_board(folder).sets] == ["public"]


@EACH_DATABASE
def test_a_database_holds_one_board(board: Board, public: Path, tmp_path: Path) -> None:
    url = board.settings.database or f"sqlite:///{board.folder}/board.sqlite3"
    with pytest.raises(LeaderboardError, match="The database holds a board already"):
        init_board(tmp_path / "second", [f"other:{public}"], Settings(database=url), with_reported=False)
    assert [one.name for one in open_board(board.folder).sets] == ["public", "hidden-en"]
    with pytest.raises(LeaderboardError, match="is no board"):
        open_board(tmp_path / "second")


def test_a_folder_that_cannot_be_made_is_a_sentence(public: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(VcrgenError, match="cannot be made: Not a directory"):
        init_board(tmp_path / "file" / "board", [f"public:{public}"], Settings(), with_reported=False)


@pytest.mark.parametrize("folder", ["missing", "empty"])
def test_what_is_no_board_is_said(folder: str, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(LeaderboardError, match=r"is no board \(it has no board.yaml\); `vcrgen leaderboard init"):
        open_board(tmp_path / folder)
