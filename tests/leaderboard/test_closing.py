"""Closing a set: the final split of the files that count, once, and all of it seen at the same moment."""

import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, select

from tests.forked import Forked
from tests.leaderboard.common import SET, Drain, Facts, Guess, MakeBoard, Submit, table_of, until, want
from vcrgen.core.errors import LeaderboardError
from vcrgen.core.progress import ProgressListener
from vcrgen.data.key import FINAL
from vcrgen.leaderboard import closing, commands, maintainers
from vcrgen.leaderboard.board import Board, open_board
from vcrgen.leaderboard.closing import close
from vcrgen.leaderboard.disclosure import STEPS
from vcrgen.leaderboard.page_records import Ranking
from vcrgen.leaderboard.records import Submission, SubmissionStatus
from vcrgen.leaderboard.scoring import ScoringOutcome
from vcrgen.leaderboard.store import submissions
from vcrgen.leaderboard.store.comparisons import model_pairs
from vcrgen.leaderboard.store.log import now, read_log
from vcrgen.leaderboard.store.models import ladder_feedback, model_page
from vcrgen.leaderboard.store.reader import BoardReader
from vcrgen.leaderboard.store.schema import runs


@pytest.fixture(params=["sqlite", "postgresql"])
def each_ladder(request: pytest.FixtureRequest, make_board: MakeBoard) -> Board:
    url = request.getfixturevalue("postgres")() if request.param == "postgresql" else ""
    return make_board(database=url, feedback="ladder", hidden_scores_per_day=20)


@pytest.fixture
def filled(guess: Guess, facts: Facts, submit: Submit) -> Callable[[Board], list[Submission]]:
    """Hands in two files of one model, the first the better one in the end, and one of another model."""

    def fill(board: Board) -> list[Submission]:
        tries = (("a", "One", {"final": 5}), ("b", "One", {"feedback": 3}), ("c", "Two", {"feedback": 1, "final": 2}))
        both = ("stacked", "tei")
        return [submit(board, guess(name, right, both), facts(model), set_name=SET) for name, model, right in tries]

    return fill


def ranking(board: Board) -> Ranking | None:
    return next(iter(table_of(board).rankings), None)


def final_runs(board: Board) -> int:
    with board.reading() as connection:
        return connection.execute(select(func.count()).where(runs.c.split == FINAL)).scalar_one()


def events(board: Board) -> list[str]:
    with board.reading() as connection:
        return [line.what for line in read_log(connection) if line.subject == SET]


def test_closing(each_ladder: Board, filled: Any, facts: Facts, submit: Submit, guess: Guess) -> None:
    given = filled(each_ladder)  # and they still wait
    with pytest.raises(LeaderboardError, match="is queued"):
        commands.choose(each_ladder, given[0].id, team=None, actor="test")
    commands.score_waiting(each_ladder)
    commands.choose(each_ladder, given[0].id, team=None, actor="test")
    last = submit(each_ladder, guess("d", {}), facts("Three"), set_name=SET)
    assert ranking(each_ladder) is None and final_runs(each_ladder) == 0
    assert close(each_ladder, SET, ProgressListener(), early=True) == 3
    shown = ranking(each_ladder)
    assert shown is not None and [row.facts.model for row in shown.rows] == ["One", "Two", "Three"]
    assert "subset:final" in shown.signature and final_runs(each_ladder) == 3
    assert [row.scores["stacked"]["exact"].value for row in shown.rows][::2] == [1.0, 0.0]  # type: ignore[index]
    with each_ladder.reading() as connection:
        views = BoardReader(each_ladder.settings, connection)
        track = next(each for each in views.tracks() if each.set == SET)
        page = model_page(views, facts("One").entry)
        assert track.questions == 5 and track.step in STEPS
        assert {(each.set, each.view.value) for each in views.tracks() if each.set == SET} == {
            (SET, "stacked"),
            (SET, "tei"),
        }
        for row in shown.rows:
            for estimate in (each for estimates in row.scores.values() for each in estimates.values()):
                assert all(
                    abs(x / track.step - round(x / track.step)) < 1e-6
                    for x in (estimate.value, estimate.low, estimate.high)
                )
        assert page is not None and [run.split for run in page.runs if run.current] == ["final"]
        assert model_pairs(views) and ladder_feedback(views, given[1]) is None
        assert submissions.find(connection, last.id).status is SubmissionStatus.SCORED  # type: ignore[union-attr]
    assert events(each_ladder)[-2:] == ["closing", "closed"]
    for call in (
        lambda: close(each_ladder, SET, ProgressListener(), early=True),
        lambda: submit(each_ladder, guess("e", {}), facts("Four"), set_name=SET),
        lambda: commands.choose(each_ladder, given[1].id, team=None, actor="test"),
        lambda: want(each_ladder, changes={SET: {"closes": "2050-01-01"}}),
    ):
        with pytest.raises(LeaderboardError, match="closed"):
            call()
    commands.remove(each_ladder, given[0].id, "a mistake")
    shown = ranking(each_ladder)
    assert shown is not None and [row.facts.model for row in shown.rows] == ["Two", "Three"]


def test_nothing_is_seen_before_all_is_there(
    stepped: Board, filled: Any, drain: Drain, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stopped at any moment, the board looks as before; called again, closing scores only what is left."""
    filled(stepped)
    drain(stepped)
    run, calls = closing.score_in_subprocess, 0

    def stopping(*words: Any, **more: Any) -> ScoringOutcome | None:
        nonlocal calls
        calls += 1
        if calls == 2:
            raise KeyboardInterrupt
        return run(*words, **more)

    monkeypatch.setattr(closing, "score_in_subprocess", stopping)
    with pytest.raises(KeyboardInterrupt):
        close(stepped, SET, ProgressListener(), early=True)
    assert ranking(stepped) is None and final_runs(stepped) == 1 and events(stepped)[-1] == "closing"
    with stepped.reading() as connection:
        assert all(run.split == "feedback" for page in _pages(stepped, connection) for run in page.runs)
    assert close(stepped, SET, ProgressListener(), early=True) == 2 and calls == 3
    assert ranking(stepped) is not None and events(stepped).count("closing") == 1


def _pages(board: Board, connection: Any) -> list[Any]:
    views = BoardReader(board.settings, connection)
    return [model_page(views, facts.entry) for facts in views.site(live=True).models]


def close_and_wait(folder: Path) -> None:
    """Close the set but for the last step."""

    def wait(*_: object) -> int:
        (folder / "ready").touch()
        time.sleep(60)
        return 0

    closing._disclose_scores = wait
    close(open_board(folder), SET, ProgressListener(), early=True)


@pytest.mark.process
def test_killed_while_closing(stepped: Board, filled: Any, drain: Drain) -> None:
    filled(stepped)
    drain(stepped)
    process = Forked(close_and_wait, stepped.folder)
    until((stepped.folder / "ready").is_file)
    process.kill()
    process.wait()
    assert ranking(stepped) is None and final_runs(stepped) == 2
    assert close(stepped, SET, ProgressListener(), early=True) == 2 and final_runs(stepped) == 2


def test_a_file_that_cannot_be_scored_keeps_all_closed(
    stepped: Board, filled: Any, drain: Drain, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(stepped)
    drain(stepped)
    with monkeypatch.context() as patch:
        patch.setattr(
            closing, "score_in_subprocess", lambda *_, **__: ScoringOutcome(problems=("Scoring took too long.",))
        )
        with pytest.raises(LeaderboardError, match=r"so nothing is shown: Scoring took too long\."):
            close(stepped, SET, ProgressListener(), early=True)
        patch.setattr(closing, "score_in_subprocess", lambda *_, **__: None)
        with pytest.raises(LeaderboardError, match="broke off 3 times"):
            close(stepped, SET, ProgressListener(), early=True)
    assert ranking(stepped) is None
    assert close(stepped, SET, ProgressListener(), early=True) == 2


def test_when_a_set_can_be_closed(stepped: Board) -> None:
    with pytest.raises(LeaderboardError, match="There is no set 'nothing' on this board; there are public, hidden-en"):
        close(stepped, "nothing", ProgressListener())
    with pytest.raises(LeaderboardError, match="The set 'public' has no ladder"):
        close(stepped, "public", ProgressListener())
    with pytest.raises(LeaderboardError, match=r"has no last day: write one as its `closes` into .*/board.yaml and"):
        close(stepped, SET, ProgressListener())
    want(stepped, changes={SET: {"closes": (now() + timedelta(days=1)).isoformat()}})
    with pytest.raises(LeaderboardError, match=r"is open until .*; close it now, for good, with --early"):
        close(stepped, SET, ProgressListener())
    assert events(stepped)[-1] == "dates changed"
    assert close(stepped, SET, ProgressListener(), early=True) == 0
    retired = events(stepped)
    want(stepped, changes={SET: {"retired": True}})
    with pytest.raises(LeaderboardError, match="is closed already"):
        close(stepped, SET, ProgressListener(), early=True)
    assert retired[-1] == "closed"


def test_files_that_wait_for_approval_come_first(
    make_board: MakeBoard, facts: Facts, submit: Submit, guess: Guess
) -> None:
    board = make_board(feedback="ladder", approval=True)
    one = submit(board, guess("a", {"final": 2}), facts("One"), set_name=SET, limited=True)
    with pytest.raises(LeaderboardError, match="wait for approval: 1; approve or decline them"):
        close(board, SET, ProgressListener(), early=True)
    assert "closing" not in events(board)
    maintainers.approve(board, one.id, actor="Ada")
    assert close(board, SET, ProgressListener(), early=True) == 1


def test_what_is_stored_before_is_of_the_feedback_part(stepped: Board, filled: Any, drain: Drain) -> None:
    filled(stepped)
    drain(stepped)
    with stepped.reading() as connection:
        stored = connection.execute(select(runs.c.split, runs.c.result)).all()
    assert {row.split for row in stored} == {"feedback"}
    assert {(score["images"], score["view"]) for row in stored for score in row.result["scores"]} == {(3, "stacked")}
