"""The log: lines are added and never changed, and a change shows."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from sqlalchemy import text, update
from sqlalchemy.exc import DBAPIError

from tests.leaderboard.examples import EACH_DATABASE
from vcrgen.core.errors import LeaderboardError
from vcrgen.leaderboard.board import Board
from vcrgen.leaderboard.records import Event
from vcrgen.leaderboard.store import log
from vcrgen.leaderboard.store.log import check_log, last_event, read_log, record
from vcrgen.leaderboard.store.results import check_scores
from vcrgen.leaderboard.store.schema import events


def write(board: Board, count: int) -> None:
    for number in range(count):
        with board.writing() as connection:
            facts = {"model": f"观海 {number}", "reason": '"quoted"\n\u2028'}
            record(connection, actor="team 视觉实验室", what="accepted", subject=f"entry {number}", facts=facts)


def lines(board: Board) -> list[Event]:
    with board.reading() as connection:
        return list(read_log(connection))


@EACH_DATABASE
def test_lines_are_numbered_and_chained(board: Board) -> None:
    before = datetime.now(UTC)
    write(board, 3)
    told = lines(board)
    assert [line.number for line in told] == [1, 2, 3, 4, 5]
    assert [(line.what, line.subject) for line in told[:2]] == [("set added", "public"), ("set added", "hidden-en")]
    assert told[2].facts == {"model": "观海 0", "reason": '"quoted"\n\u2028'}
    assert all(before <= line.at <= datetime.now(UTC) and line.at.tzinfo is not None for line in told[2:])
    assert check_log(iter(told)) == 5
    with board.reading() as connection:
        assert last_event(connection) == (5, told[-1].at)
        assert [line.number for line in read_log(connection, after=3)] == [4, 5]


def test_an_empty_log_is_whole() -> None:
    assert check_log(iter([])) == 0


@EACH_DATABASE
@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE events SET actor = 'nobody' WHERE number = 2",
        "UPDATE events SET number = 99 WHERE number = 2",
        "DELETE FROM events WHERE number = 2",
        "DELETE FROM events",
        "TRUNCATE events",
    ],
)
def test_the_database_itself_keeps_the_log(statement: str, board: Board) -> None:
    sqlite = board.engine.dialect.name == "sqlite"
    if sqlite and statement.startswith("TRUNCATE"):
        pytest.skip("SQLite has no TRUNCATE")
    before = lines(board)
    with pytest.raises(DBAPIError, match="the log is never changed"), board.engine.begin() as connection:
        connection.execute(text(statement))
    assert lines(board) == before


@EACH_DATABASE
def test_a_number_is_given_once(board: Board) -> None:
    with pytest.raises(DBAPIError), board.engine.begin() as connection:
        connection.execute(
            text(
                "INSERT INTO events (number, at, actor, what, subject, facts, chain) "
                "SELECT number, at, actor, what, subject, facts, chain FROM events WHERE number = 1"
            )
        )


@EACH_DATABASE
def test_a_line_of_a_transaction_that_fails_is_not_there(board: Board) -> None:
    before = lines(board)
    with pytest.raises(ZeroDivisionError), board.writing() as connection:
        record(connection, actor="a", what="b", subject="c", facts={})
        raise ZeroDivisionError
    assert lines(board) == before


@pytest.mark.parametrize(
    "change",
    [
        {"actor": "team Other"},
        {"what": "scored"},
        {"subject": "entry 7"},
        {"facts": {"model": "观海 0"}},
        {"facts": {"model": "观海 0", "reason": '"quoted"\n\u2028', "more": ""}},
        {"at": datetime(2026, 1, 1, tzinfo=UTC)},
        {"chain": "0" * 64},
    ],
)
def test_a_changed_line_shows(change: dict[str, Any], board: Board) -> None:
    """Also to those who can do anything to the database."""
    write(board, 3)
    with board.engine.begin() as connection:
        connection.execute(text("DROP TRIGGER events_stay_UPDATE"))
        connection.execute(update(events).where(events.c.number == 3).values(**change))
    with pytest.raises(LeaderboardError, match=r"Line [34] of the log was changed"):
        check_log(iter(lines(board)))


@pytest.mark.parametrize("number", [1, 3, 4])
def test_a_missing_line_shows(number: int, board: Board) -> None:
    write(board, 3)
    with board.engine.begin() as connection:
        connection.execute(text("DROP TRIGGER events_stay_DELETE"))
        connection.execute(text("DELETE FROM events WHERE number = :number"), {"number": number})
    with pytest.raises(LeaderboardError, match=f"Line {number} of the log was changed, or lines before it are missing"):
        check_log(iter(lines(board)))


def test_lines_that_change_places_show(board: Board) -> None:
    write(board, 2)
    told = lines(board)
    with pytest.raises(LeaderboardError, match="Line 3"):
        check_log(iter([*told[:2], told[3], told[2]]))


def test_the_zone_of_the_clock_does_not_matter(board: Board, monkeypatch: pytest.MonkeyPatch) -> None:
    moment = datetime(2026, 7, 1, 12, 30, 15, 123456, tzinfo=timezone(timedelta(hours=5, minutes=45)))
    clock: Callable[[], datetime] = lambda: moment  # noqa: E731
    monkeypatch.setattr(log, "now", clock)
    write(board, 1)
    told = lines(board)
    assert told[-1].at == moment and told[-1].at.utcoffset() == timedelta()
    assert check_log(iter(told)) == 3


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE cells SET estimates = replace(estimates, '0.5', '0.9')",
        "UPDATE cells SET hits = zeroblob(16)",
        "UPDATE runs SET result = replace(result, '8', '9')",
        "UPDATE runs SET signature = 'metric:other|seed:0'",
        "UPDATE cells SET mode = 'hard' WHERE mode = 'easy'",
    ],
)
def test_changed_scores_show(change: str, board: Board, place: Any) -> None:
    place(board, "A", {("easy", "stacked"): [0.5, 0.5], ("easy", "tei"): [0.25, 0.25]}, hits=b"\x01" * 16)
    place(board, "B", {("mixed", "stacked"): [0.5, 0.25]}, set_name="hidden-en")
    with board.reading() as connection:
        assert check_scores(connection, read_log(connection)) == 2
    with board.engine.begin() as connection:
        connection.execute(text(change))
    with board.reading() as connection:
        check_log(read_log(connection))
        with pytest.raises(LeaderboardError, match="The scores of A on public are not those that the log tells of"):
            check_scores(connection, read_log(connection))


def test_a_digest_of_scores_does_not_tell_them(board: Board, place: Any) -> None:
    """The same scores have another digest each time, so that nobody can try which ones have it."""
    for model in ("A", "B"):
        place(board, model, {("mixed", "stacked"): [0.5, 0.25]}, set_name="hidden-en")
    digests = [line.facts["scores"] for line in lines(board) if "scores" in line.facts]
    assert len(set(digests)) == len(digests) == 2
