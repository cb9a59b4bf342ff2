"""The log: lines are added and never changed, and a change shows."""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy import Connection, Engine, text, update
from sqlalchemy.exc import DBAPIError

from tests.leaderboard.common import Place, want
from tests.leaderboard.examples import EACH_DATABASE
from vcrgen.core.errors import LeaderboardError, VcrgenError
from vcrgen.data.views import View
from vcrgen.leaderboard.backup import backup
from vcrgen.leaderboard.board import Board, open_board
from vcrgen.leaderboard.commands import choose, give_token, quote, remove, rescore, revoke
from vcrgen.leaderboard.export import export_site
from vcrgen.leaderboard.page_records import PixelScore
from vcrgen.leaderboard.records import Event
from vcrgen.leaderboard.store import log, results, teams
from vcrgen.leaderboard.store.engine import open_engine
from vcrgen.leaderboard.store.log import (
    check_board,
    check_head,
    check_log,
    check_unchanged,
    last_event,
    log_head,
    note_foreign_change,
    read_log,
    record,
)
from vcrgen.leaderboard.store.schema import events, metadata, submissions
from vcrgen.leaderboard.store.sets import all_sets
from vcrgen.leaderboard.store.state import DERIVED, counted_sums, store_sums, stored_sums
from vcrgen.leaderboard.worker import Worker
from vcrgen.report.published.human_baseline import HumanBaseline, HumanScore
from vcrgen.report.published.results import ReportedResult
from vcrgen.web.database.schema import Moment


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


def test_a_line_tells_its_time_to_nobody(board: Board) -> None:
    """Two lines with the same words have other states, so that nobody finds the microsecond of a line by trying."""
    write(board, 2)
    states = [line.state for line in lines(board)]
    assert len({state["nonce"] for state in states}) == len(states)
    assert len({state["sets"] for state in states}) == len(states)


@pytest.fixture(scope="module")
def full_board(
    board_in: Callable[..., Board], place: Place, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Path]:
    """The folder of a board with rows in every table."""
    folder = tmp_path_factory.mktemp("full") / "board"
    board = board_in(folder)
    for model, value in (("A", 0.5), ("B", 0.75)):
        place(board, model, {("easy", "stacked"): [value, 0.5], ("easy", "tei"): [0.25, 0.25]}, hits=b"\x01" * 16)
    place(board, "C", {("mixed", "stacked"): [0.5, 0.25]}, set_name="hidden-en")
    with board.writing() as connection:
        teams.make_token(connection, "Lab", "label")
        teams.put_into_group(connection, "Lab", "group")
        teams.add_identity(connection, "Lab", "0" * 64)
        (public, _) = all_sets(connection)
        people = HumanScore(
            mode="easy", view=View.STACKED, raters=3, items=4, spans=9, exact=0.5, low=0.25, high=0.75, sd=0.1
        )
        study = HumanBaseline(study="0123456789abcdef", data=public.data, language="en", scores=(people,))
        results.put_human(connection, "public", study)
        pixels = PixelScore(mode="easy", images=4, spans=9, unread=0, exact=0.5, low=0.25, high=0.75, bits=3.0)
        results.put_pixels(connection, "public", public.data, [pixels])
        row = ReportedResult(source="P", language="en", mode="easy", view=View.TEI, model="Q", exact=0.5)
        results.add_reported(connection, [row])
        record(connection, actor="a test", what="filled", subject="board", facts={})
    board.engine.dispose()
    yield folder


def other_value(column: sa.Column[Any], value: Any) -> Any:
    """A value of the same kind: what somebody would write who wants another figure on a page."""
    kind = column.type
    if isinstance(kind, sa.JSON):
        stored = json.loads(value) if value is not None else None
        return json.dumps([*stored, "x"] if isinstance(stored, list) else {**(stored or {}), "x": 1})
    if isinstance(kind, sa.LargeBinary):
        return b"\x02" * 8 if value is None else bytes([value[0] ^ 1, *value[1:]])
    if isinstance(kind, sa.Boolean):
        return not value
    if isinstance(kind, sa.Integer | sa.Float):
        return 7 if value is None else value + 1
    if isinstance(kind, sa.Date):
        return "2001-02-03"
    if isinstance(kind, sa.String):
        return f"{value or ''}x"
    return "2001-02-03 04:05:06.000000"  # a Moment


SHOWN = [
    pytest.param(column, id=f"{table.name}.{column.name}")
    for table in metadata.sorted_tables
    for column in table.columns
    # Not of the queue, of which no page shows anything, nor of ranks, which are checked by what they follow from.
    if column is not submissions.c.attempts and table not in DERIVED
]


@pytest.fixture(scope="module")
def full_engine(full_board: Path) -> Iterator[Engine]:
    engine = open_engine(full_board, "")
    yield engine
    engine.dispose()


@contextmanager
def edited(engine: Engine, statement: str = "", values: Sequence[Any] = ()) -> Iterator[Connection]:
    """The database after a statement of somebody who can do anything to it; nothing of it stays."""
    with engine.connect() as connection, connection.begin() as transaction:
        connection.exec_driver_sql("PRAGMA defer_foreign_keys=ON")
        for trigger in ("UPDATE", "DELETE"):
            connection.exec_driver_sql(f"DROP TRIGGER events_stay_{trigger}")
        if statement:
            assert connection.exec_driver_sql(statement, tuple(values)).rowcount == 1
        yield connection
        transaction.rollback()


def last_row(engine: Engine, table: sa.Table, *names: str) -> list[Any]:
    """Number and values of the last row of a table, as SQLite stores them."""
    listing = ", ".join(f'"{name}"' for name in names)
    with engine.connect() as connection:
        return list(connection.exec_driver_sql(f"SELECT rowid, {listing} FROM {table} ORDER BY rowid DESC").first())  # type: ignore[arg-type]


@pytest.mark.parametrize("column", SHOWN)
def test_no_column_can_be_changed_unseen(column: sa.Column[Any], full_engine: Engine) -> None:
    """Whatever a page shows: an edit of any column is noticed, also after the next change of the board."""
    row, value = last_row(full_engine, column.table, column.name)
    change = f'UPDATE {column.table} SET "{column.name}" = ? WHERE rowid = ?'
    with edited(full_engine, change, (other_value(column, value), row)) as connection:
        with pytest.raises(LeaderboardError, match="the log"):
            check_board(connection)
        note_foreign_change(connection)
        record(connection, actor="worker", what="scored", subject="x", facts={})
        with pytest.raises(LeaderboardError, match="the log"):
            check_board(connection)
            check_unchanged(read_log(connection))


@pytest.mark.parametrize("value", ["x", "[[]]", 7, b"\xff"])
def test_what_no_vcrgen_writes_is_told_in_a_sentence(value: Any, full_engine: Engine) -> None:
    """SQLite has a value of any type in any column; those of packed and parsed columns are not read."""
    packed = (sa.JSON, sa.LargeBinary, Moment, sa.Date)
    columns = [
        column for table in metadata.sorted_tables for column in table.columns if isinstance(column.type, packed)
    ]
    for column in columns:
        row, _ = last_row(full_engine, column.table, column.name)
        change = f'UPDATE {column.table} SET "{column.name}" = ? WHERE rowid = ?'
        with (
            edited(full_engine, change, (value, row)) as connection,
            pytest.raises(VcrgenError, match=r"edited by hand|the log"),
        ):
            all_sets(connection)
            check_board(connection)


@pytest.mark.parametrize(
    "table", [table for table in metadata.sorted_tables if table not in (events, *DERIVED)], ids=str
)
def test_no_row_can_be_removed_or_added_unseen(table: sa.Table, full_engine: Engine) -> None:
    names = [column.name for column in table.columns]
    row, *stored = last_row(full_engine, table, *names)
    values, key = dict(zip(names, stored, strict=True)), list(table.primary_key.columns)[-1]
    values[key.name] = other_value(key, values[key.name])
    listing, marks = ", ".join(f'"{name}"' for name in names), ", ".join("?" * len(names))
    for statement, parameters in (
        (f"INSERT INTO {table} ({listing}) VALUES ({marks})", list(values.values())),
        (f"DELETE FROM {table} WHERE rowid = ?", [row]),
    ):
        with (
            edited(full_engine, statement, parameters) as connection,
            pytest.raises(LeaderboardError, match="the log"),
        ):
            check_board(connection)


@EACH_DATABASE
def test_sums_are_kept_by_every_change(board: Board, place: Place, public: Path, tmp_path: Path) -> None:
    """What a line costs does not depend on the number of rows, and the sums are those of all rows all the same."""

    def check() -> None:
        with board.reading() as connection:
            assert stored_sums(connection) == counted_sums(connection)
            check_board(connection)

    check()
    cells = {("easy", "stacked"): [0.5, 0.25], ("hard", "stacked"): [0.25, 0.25]}
    files = [place(board, model, cells) for model in ("A", "B", "A")]
    check()
    remove(board, files[2].id, "a reason")
    check()
    choose(board, files[0].id, team=None, actor="a test")
    give_token(board, "Lab", "label", group="Group")
    revoke(board, "Lab")
    file = tmp_path / "q.csv"
    file.write_text("source,language,mode,view,model,exact\nP,en,easy,stacked,M,50\nP,en,easy,stacked,N,50\n")
    assert quote(board, [file]) == 2
    check()
    want(board, f"second:{public}")
    rescore(board)
    with board.queueing() as connection:
        connection.execute(update(submissions).values(attempts=1))
    check()
    with pytest.raises(ZeroDivisionError), board.writing() as connection:
        connection.execute(sa.delete(results.pixel_baselines))
        connection.execute(update(submissions).values(model="X"))
        raise ZeroDivisionError
    check()
    with board.writing() as connection:
        connection.execute(update(submissions).where(submissions.c.model == "B").values(model="C"))
        record(connection, actor="a test", what="one", subject="x", facts={})
        connection.execute(update(submissions).where(submissions.c.model == "C").values(model="D"))
        record(connection, actor="a test", what="two", subject="x", facts={})
    check()
    with board.reading() as connection:
        check_unchanged(read_log(connection))


def test_a_worker_looks_at_all_rows_when_it_begins(
    board_in: Callable[..., Board], place: Place, tmp_path: Path
) -> None:
    board = board_in(tmp_path / "board")
    place(board, "A", {("easy", "stacked"): [0.5, 0.25]})
    with board.engine.begin() as connection:
        connection.execute(update(submissions).values(model="Best"))
    give_token(board, "Lab", "label")
    assert lines(board)[-1].what == "token given"
    worker = Worker(board, say=lambda what, **facts: None)
    for _ in range(2):
        with worker.exclusive(wait=1):
            pass
    assert [line.what for line in lines(board)].count("changed without the log") == 1
    with board.reading() as connection:
        check_board(connection)
        with pytest.raises(LeaderboardError, match="the database was changed without the log"):
            check_unchanged(read_log(connection))
    board.engine.dispose()


def test_what_the_log_does_not_tell_of_is_on_no_page(full_board: Path, tmp_path: Path) -> None:
    board = open_board(full_board)
    before = export_site(board, tmp_path / "before")
    with board.queueing() as connection:
        connection.execute(update(submissions).values(attempts=2))
    with board.reading() as connection:
        check_board(connection)
    assert export_site(board, tmp_path / "after") == before
    for file in (tmp_path / "before").iterdir():
        assert (tmp_path / "after" / file.name).read_bytes() == file.read_bytes()
    board.engine.dispose()


def test_pages_and_backups_print_the_head(full_board: Path, tmp_path: Path) -> None:
    board = open_board(full_board)
    with board.reading() as connection:
        copy = log_head(connection)
        number, chain = copy.split(":")
        check_head(connection, copy)
        for wrong in ("", "57", "x:y", f"{number}:{'0' * 64}", f"{int(number) + 1}:{chain}", f"{'9' * 30}:{chain}"):
            with pytest.raises(LeaderboardError, match="head"):
                check_head(connection, wrong)
    export_site(board, tmp_path / "site")
    pages = list((tmp_path / "site").glob("*.html"))
    assert pages and all(f">{copy}<" in page.read_text("utf-8") for page in pages)
    assert backup(board, tmp_path / "board.tar.gz").head == copy
    board.engine.dispose()


def test_a_log_that_was_written_anew_does_not_have_the_old_head(full_engine: Engine) -> None:
    """Whoever computes the chain anew after an edit passes all checks but a comparison with a copy of a head."""
    with edited(full_engine, "UPDATE submissions SET model = 'Best' WHERE model = 'A'") as connection:
        copy = log_head(connection)
        old = list(read_log(connection))
        connection.execute(sa.delete(events))
        store_sums(connection, counted_sums(connection), {})
        for line in old:
            record(connection, actor=line.actor, what=line.what, subject=line.subject, facts=line.facts)
        check_board(connection)
        with pytest.raises(LeaderboardError, match="written anew"):
            check_head(connection, copy)
