"""Taking files: on disk before they are accepted, once each, and no more than a team may submit."""

import io
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import timedelta
from typing import Any

import pytest

from tests.leaderboard.common import Facts, MakeBoard
from tests.leaderboard.examples import EACH_DATABASE
from vcrgen.core.errors import LeaderboardError
from vcrgen.leaderboard.board import Board
from vcrgen.leaderboard.intake import DuplicateSubmission, LimitReached, accept
from vcrgen.leaderboard.records import Event, ModelFacts, Submission, SubmissionStatus
from vcrgen.leaderboard.store import submissions
from vcrgen.leaderboard.store.log import check_log, now, read_log, record


def take(
    board: Board, facts: ModelFacts, content: str, *, set_name: str = "public", limited: bool = True
) -> Submission:
    return accept(
        board,
        facts,
        io.BytesIO(content.encode()),
        set_name=set_name,
        name="a/b.jsonl",
        channel="api",
        actor=f"team {facts.team}",
        limited=limited,
    )


def everything(board: Board) -> tuple[list[Submission], list[Event]]:
    with board.reading() as connection:
        return list(submissions.list_submissions(connection)), list(read_log(connection))[2:]


def fail(board: Board, submission: Submission) -> None:
    with board.writing() as connection:
        submissions.change(connection, submission.id, status="failed", problems=["no"])
        record(connection, actor="a test", what="failed", subject=submission.subject, facts={})


def test_what_is_accepted_is_kept_and_written_down(board: Board, facts: Facts) -> None:
    given = take(board, facts(), "{}")
    stored, told = everything(board)
    assert (
        stored == [given]
        and given.status is SubmissionStatus.QUEUED
        and given.file_name == "b.jsonl"
        and given.bytes == 2
    )
    assert len(given.id) == 32 and board.vault.path(given.file).read_bytes() == b"{}"
    assert [(line.actor, line.what, line.subject) for line in told] == [("team Team", "accepted", facts().entry)]
    assert told[0].facts == {"team": "Team", "model": "Model", "set": "public", "file": given.file}


def test_the_same_file_is_taken_once(board: Board, facts: Facts) -> None:
    first = take(board, facts(), "{}")
    for again in (facts(), facts("MODEL", "team")):
        with pytest.raises(DuplicateSubmission, match="was submitted for Model on public before") as caught:
            take(board, again, "{}")
        assert caught.value.id == first.id
    with pytest.raises(DuplicateSubmission):
        take(board, facts(), "{}", limited=False)
    others = [
        take(board, facts("Other"), "{}"),
        take(board, facts(), "{}", set_name="hidden-en"),
        take(board, facts(), "{} "),
    ]
    stored, told = everything(board)
    assert stored == [first, *others] and len(told) == 4
    assert {one.file for one in others[:2]} == {first.file}


def test_a_file_that_failed_may_be_handed_in_again(board: Board, facts: Facts) -> None:
    first = take(board, facts(), "{}")
    fail(board, first)
    second = take(board, facts(), "{}")
    assert second.id != first.id
    with pytest.raises(DuplicateSubmission) as caught:
        take(board, facts(), "{}")
    assert caught.value.id == second.id


@pytest.mark.parametrize(
    ("set_name", "content", "message"),
    [
        ("nowhere", "{}", "There is no set 'nowhere' on this board; there are public, hidden-en."),
        ("x" * 1000, "{}", "There is no set '" + "x" * 40 + "' on"),
        ("", "{}", "There is no set ''"),
        ("public", "", "The file is empty."),
        ("public", "PK\x03\x04", "boards take plain text only"),
    ],
)
def test_what_cannot_be_taken_leaves_nothing(
    set_name: str, content: str, message: str, board: Board, facts: Facts
) -> None:
    with pytest.raises(LeaderboardError) as caught:
        take(board, facts(), content, set_name=set_name)
    assert message in str(caught.value)
    assert everything(board) == ([], [])
    assert not [path for path in (board.folder / "files").rglob("*") if path.is_file()]


@pytest.mark.parametrize(
    ("settings", "set_name", "message"),
    [
        ({"files_per_day": 3}, "public", "submitted 3 files for public in 24 hours"),
        (
            {"hidden_scores_per_day": 3},
            "hidden-en",
            "used 3 scores of hidden-en in 24 hours, the most it may; files that wait count",
        ),
        (
            {"hidden_scores_per_day": 9, "hidden_scores_lifetime": 3},
            "hidden-en",
            "used 3 scores of hidden-en, the most",
        ),
    ],
)
def test_limits_of_a_team(
    settings: dict[str, Any], set_name: str, message: str, make_board: MakeBoard, facts: Facts
) -> None:
    board = make_board(**settings)
    for number in range(3):
        take(board, facts(f"Model {number}"), f"{number}", set_name=set_name)
    with pytest.raises(LimitReached, match=message):
        take(board, facts("Model 4", "TEAM"), "4", set_name=set_name)
    stored = len(everything(board)[0])
    assert stored == 3 and len([p for p in (board.folder / "files").rglob("*") if p.is_file()]) == 3
    take(board, facts("Model 4", "Other team"), "4", set_name=set_name)
    take(board, facts("Model 5"), "5", set_name={"public": "hidden-en", "hidden-en": "public"}[set_name])
    take(board, facts("Model 6"), "6", set_name=set_name, limited=False)
    assert len(everything(board)[0]) == 6


def test_who_is_over_a_limit_fills_no_disk(make_board: MakeBoard, facts: Facts) -> None:
    board = make_board(files_per_day=1)
    take(board, facts(), "1")

    class Unread(io.RawIOBase):
        def read(self, size: int = -1) -> bytes:
            raise AssertionError("was read")

    stream: Any = Unread()
    with pytest.raises(LimitReached):
        accept(board, facts("B"), stream, set_name="public", name="x", channel="api", actor="a", limited=True)


def test_what_fails_counts_as_failed_only(make_board: MakeBoard, facts: Facts) -> None:
    board = make_board(files_per_day=1, failed_files_per_day=3)
    for number in range(3):
        fail(board, take(board, facts(), f"{number}"))
    for set_name in ("public", "hidden-en"):
        with pytest.raises(LimitReached, match="3 files of your team were rejected in the last 24 hours"):
            take(board, facts(), "4", set_name=set_name)
    take(board, facts(team="Other"), "4")


def test_a_day_ends(make_board: MakeBoard, facts: Facts, monkeypatch: pytest.MonkeyPatch) -> None:
    board = make_board(files_per_day=1, failed_files_per_day=1, hidden_scores_per_day=1, hidden_scores_lifetime=2)
    start = now()

    def at(hours: float) -> None:
        monkeypatch.setattr(submissions, "now", lambda: start + timedelta(hours=hours))

    at(0)
    take(board, facts(), "1")
    take(board, facts(), "1", set_name="hidden-en")
    at(23.9)
    for set_name in ("public", "hidden-en"):
        with pytest.raises(LimitReached):
            take(board, facts(), "2", set_name=set_name)
    at(24.1)
    take(board, facts(), "2")
    fail(board, take(board, facts(), "2", set_name="hidden-en"))
    at(48.2)
    take(board, facts(), "3", set_name="hidden-en")
    at(1000)
    take(board, facts(), "4")
    with pytest.raises(LimitReached, match="the most it ever may"):
        take(board, facts(), "4", set_name="hidden-en")


@EACH_DATABASE
def test_a_clock_that_jumps_by_a_day_gives_nothing_away(
    board: Board, facts: Facts, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Set back, it had a team's files of the future count neither for its limits nor as its last ones."""
    start, given = now(), []
    for days in (1, 0, -1):
        monkeypatch.setattr(submissions, "now", lambda days=days: start + timedelta(days=days))
        for number in range(2):
            with suppress(LimitReached):
                given.append(take(board, facts(), f"{days} {number}", set_name="hidden-en"))
    stored, _ = everything(board)
    assert stored == given and len(given) == 2, "one day's figures"
    last = take(board, facts(), "last", set_name="hidden-en", limited=False)
    assert everything(board)[0][-1] == last


@EACH_DATABASE
def test_limits_hold_when_many_files_come_at_once(board: Board, facts: Facts) -> None:
    """A team may submit two files for a hidden set in a day."""

    def one(number: int) -> str:
        try:
            take(board, facts(f"Model {number}"), f"{number}", set_name="hidden-en")
        except LimitReached:
            return "limit"
        return "accepted"

    with ThreadPoolExecutor(50) as pool:
        assert Counter(pool.map(one, range(50))) == {"accepted": 2, "limit": 48}
    stored, told = everything(board)
    assert len(stored) == 2 and [line.what for line in told] == ["accepted"] * 2


@EACH_DATABASE
def test_one_file_that_comes_many_times_at_once_is_taken_once(board: Board, facts: Facts) -> None:
    def one(_: int) -> str:
        try:
            return take(board, facts(), "{}", limited=False).id
        except DuplicateSubmission as there:
            return there.id

    with ThreadPoolExecutor(20) as pool:
        assert len(set(pool.map(one, range(20)))) == 1
    stored, told = everything(board)
    assert len(stored) == len(told) == 1


def test_files_that_come_at_once_are_all_there(board: Board, facts: Facts) -> None:
    with ThreadPoolExecutor(16) as pool:
        given = list(pool.map(lambda n: take(board, facts(f"Model {n % 7}"), f"{n}", limited=False), range(40)))
    stored, told = everything(board)
    assert {one.id for one in stored} == {one.id for one in given} and len(stored) == 40
    assert [line.number for line in told] == list(range(3, 43))
    assert {line.facts["file"] for line in told} == {one.file for one in given}
    with board.reading() as connection:
        assert check_log(read_log(connection)) == 42
    assert all(board.vault.path(one.file).is_file() for one in given)


@EACH_DATABASE
@pytest.mark.parametrize("where", ["submissions.add", "add_team", "record"])
def test_a_crash_before_the_commit_leaves_no_submission_and_no_event(
    where: str, board: Board, facts: Facts, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(*_: object, **__: object) -> None:
        raise RuntimeError("crash")

    with monkeypatch.context() as patch:
        patch.setattr(f"vcrgen.leaderboard.intake.{where}", crash)
        with pytest.raises(RuntimeError, match="crash"):
            take(board, facts(), "{}")
    assert everything(board) == ([], [])
    assert take(board, facts(), "{}").status is SubmissionStatus.QUEUED  # the file that is there already is no obstacle
    assert len(everything(board)[0]) == 1
