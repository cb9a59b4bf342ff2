"""From what people typed to their row on a leaderboard."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.bloom.conftest import made_set, row
from tests.study.conftest import table_of
from vcrgen.core.errors import LeaderboardError
from vcrgen.leaderboard.backup import backup
from vcrgen.leaderboard.commands import quote
from vcrgen.leaderboard.export import export_tables
from vcrgen.leaderboard.new_board import init_board
from vcrgen.leaderboard.settings import Settings
from vcrgen.leaderboard.store.log import record
from vcrgen.study.raters import invite
from vcrgen.study.report import make_report
from vcrgen.study.store.database import StudyStore


def test_the_scores_of_a_study_stand_on_the_board_of_its_data(
    make: Callable[..., StudyStore], people: Any, typing: Any, pairs: Path, tmp_path: Path, run: Any
) -> None:
    store = make()
    people(store, 6)
    typing(store, lambda rater, _, place, answer: "Zebra4711" if (rater, place) == (1, 0) else answer)
    report = make_report(store)
    text = report.render("json")
    assert "Zebra4711" not in text and "secret" not in text and "r1" not in text
    scores = json.loads(text)["scores"]
    table = table_of(report, "People, exact").texts()
    assert [f"{100 * score['exact']:.2f}" for score in scores] == [row[4] for row in table]
    assert [score["raters"] for score in scores] == [6, 6] and {score["items"] for score in scores} == {6}
    (tmp_path / "people.json").write_text(text)
    board = init_board(tmp_path / "board", [f"public:{pairs}"], Settings(), with_reported=False)
    assert quote(board, [tmp_path / "people.json"]) == 2
    assert export_tables(board, "md").count("Humans (n = 6)") == 2
    code, out, err = run("leaderboard", "log", tmp_path / "board")
    assert code == 0 and "human baseline" in out, err
    assert run("leaderboard", "backup", tmp_path / "board", tmp_path / "board.tar.gz")[0] == 0
    assert run("leaderboard", "restore", tmp_path / "board.tar.gz", tmp_path / "again")[0] == 0
    board.engine.dispose()


def test_a_board_that_could_not_be_restored_is_not_backed_up(pairs: Path, tmp_path: Path) -> None:
    board = init_board(tmp_path / "board", [f"public:{pairs}"], Settings(), with_reported=False)
    with board.writing() as connection:
        record(connection, actor="me", what="set added", subject="public", facts={})
        connection.exec_driver_sql("DROP TRIGGER events_stay_UPDATE")
        connection.exec_driver_sql("UPDATE events SET actor = 'another'")
    with pytest.raises(LeaderboardError, match="log"):
        backup(board, tmp_path / "board.tar.gz")
    assert not (tmp_path / "board.tar.gz").exists()
    board.engine.dispose()


def test_the_report_and_the_file_have_a_score_of_each_level(
    make: Callable[..., StudyStore], people: Any, typing: Any, ladder: Path
) -> None:
    store = make(ladder, limit=10, raters=1)
    people(store, 8)
    typing(store)
    levels, report = ["ink-0.10", "ink-0.20", "ink-0.30", "ink-0.70"], make_report(store)
    assert sorted(score["mode"] for score in json.loads(report.render("json"))["scores"]) == levels
    assert sorted(row[1] for row in table_of(report, "People, exact").texts()) == [
        f"{level}, VI+TEI" for level in levels
    ]


def test_a_board_of_other_data_takes_no_scores(
    make: Callable[..., StudyStore], people: Any, typing: Any, pairs: Path, ladder: Path, tmp_path: Path
) -> None:
    store = make()
    people(store, 6)
    typing(store)
    (tmp_path / "people.json").write_text(make_report(store).render("json"))
    board = init_board(tmp_path / "board", [f"ladder:{ladder}"], Settings(), with_reported=False)
    with pytest.raises(LeaderboardError, match="other data"):
        quote(board, [tmp_path / "people.json"])
    board.engine.dispose()


def test_people_who_chose_stand_on_the_board_of_their_question_set(
    make: Callable[..., StudyStore], typing: Any, tmp_path: Path
) -> None:
    data = made_set(tmp_path / "set", [row(number) for number in range(8)])
    store = make(data, lang="ar", view="both", raters=1, training=0, checks=0, repeats=0)
    invite(store, 2, "ar")
    typing(store)
    text = make_report(store).render("json")
    file = json.loads(text)
    assert file["language"] == "en+ar" and [(score["mode"], score["view"]) for score in file["scores"]] == [
        ("ar", "image"),
        ("ar", "text-only"),
    ]
    assert {(score["items"], score["spans"], score["raters"]) for score in file["scores"]} == {(2, 6, 2)}
    (difference,) = file["differences"]
    assert (difference["mode"], difference["of"], difference["spans"]) == ("ar", "image - text-only", 6)
    assert difference["value"] == 0 and difference["low"] < 0 < difference["high"]
    (tmp_path / "people.json").write_text(text)
    board = init_board(tmp_path / "board", [f"questions:{data}"], Settings(), with_reported=False)
    assert quote(board, [tmp_path / "people.json"]) == 2
    assert export_tables(board, "md").count("Humans (n = 2)") == 2
    board.engine.dispose()
