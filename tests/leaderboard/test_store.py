"""The database under load and with wrong addresses: nothing is lost, and no message holds a password."""

import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import insert, select
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from tests.leaderboard.common import Facts
from tests.leaderboard.examples import EACH_DATABASE
from vcrgen.core.errors import DatabaseError, LeaderboardError
from vcrgen.core.files import DISK_FULL
from vcrgen.leaderboard.board import Board, open_board
from vcrgen.leaderboard.model_facts import check_facts
from vcrgen.leaderboard.new_board import init_board
from vcrgen.leaderboard.records import ModelFacts, Submission, SubmissionStatus
from vcrgen.leaderboard.settings import Settings
from vcrgen.leaderboard.store import submissions, teams
from vcrgen.leaderboard.store.engine import open_engine
from vcrgen.leaderboard.store.log import check_log, read_log, record
from vcrgen.leaderboard.store.schema import reported
from vcrgen.web.database.engine import reached, shown, writing

WORD = "open-sesame"


def submission(number: int, facts: ModelFacts, **more: object) -> Submission:
    values: dict[str, object] = {
        "id": f"{number:032x}",
        "set": "public",
        "facts": facts,
        "file": f"{number:064x}",
        "file_name": "p.jsonl",
        "bytes": 10,
        "channel": "api",
        "received": datetime(2026, 11, 1, tzinfo=UTC) + timedelta(minutes=number),
    }
    return Submission(**{**values, **more})  # type: ignore[arg-type]


@EACH_DATABASE
def test_writers_at_once_lose_nothing(board: Board) -> None:
    def work(writer: int) -> None:
        for number in range(5):
            with board.writing() as connection:
                record(connection, actor=f"writer {writer}", what="wrote", subject=str(number), facts={})

    with ThreadPoolExecutor(12) as pool:
        list(pool.map(work, range(12)))
    with board.reading() as connection:
        lines = list(read_log(connection))
    assert check_log(iter(lines)) == 2 + 60
    written = [(line.actor, int(line.subject)) for line in lines if line.what == "wrote"]
    assert sorted(written) == sorted((f"writer {writer}", number) for writer in range(12) for number in range(5))
    for writer in range(12):
        assert [number for actor, number in written if actor == f"writer {writer}"] == list(range(5))


def test_a_full_disk_of_postgresql_is_one_of_ours(tmp_path: Path) -> None:
    engine = open_engine(tmp_path, "")
    with pytest.raises(OSError, match="the disk is full") as told, reached(engine):
        raise DBAPIError("INSERT 'a score'", None, psycopg.errors.DiskFull("could not extend file"))
    assert told.value.errno in DISK_FULL
    with pytest.raises(DatabaseError, match="deadlock"), reached(engine):
        raise DBAPIError("INSERT 'a score'", None, psycopg.errors.DeadlockDetected("deadlock"))


@pytest.mark.parametrize("code", ["SQLITE_FULL", "SQLITE_IOERR_WRITE", "SQLITE_IOERR_SHMSIZE"])
def test_a_full_disk_of_sqlite_is_one_of_ours(code: str, tmp_path: Path) -> None:
    """The last code is that of a first connection, even of one that only reads."""
    error = sqlite3.OperationalError("disk I/O error")
    error.sqlite_errorcode = getattr(sqlite3, code)
    with pytest.raises(OSError, match="the disk is full"), reached(open_engine(tmp_path, "")):
        raise DBAPIError("PRAGMA journal_mode=WAL", None, error)


@EACH_DATABASE
def test_a_reader_sees_one_state(board: Board) -> None:
    """Whatever is written meanwhile."""
    with board.reading() as connection:
        before = len(list(read_log(connection)))
        with board.writing() as other:
            record(other, actor="a", what="b", subject="c", facts={})
        assert len(list(read_log(connection))) == before
    with board.reading() as connection:
        assert len(list(read_log(connection))) == before + 1


@EACH_DATABASE
def test_readers_do_not_wait_for_a_writer(board: Board) -> None:
    done = threading.Event()

    def read() -> None:
        with board.reading() as connection:
            list(read_log(connection))
        done.set()

    with board.writing() as connection:
        record(connection, actor="a", what="b", subject="c", facts={})
        thread = threading.Thread(target=read)
        thread.start()
        assert done.wait(30)
    thread.join()


@EACH_DATABASE
def test_a_reader_cannot_write_where_the_database_can_hold_it_to_that(board: Board) -> None:
    if board.engine.dialect.name != "postgresql":
        pytest.skip("SQLite does not know")
    with pytest.raises(DatabaseError, match="read-only"), board.reading() as connection:
        record(connection, actor="a", what="b", subject="c", facts={})
    with board.writing() as connection:  # the same connection of the pool
        record(connection, actor="a", what="b", subject="c", facts={})


@EACH_DATABASE
def test_a_submission_comes_back_as_it_was_stored(board: Board, facts: Facts) -> None:
    zone = timezone(timedelta(hours=-7))
    stored = submission(
        1,
        facts("观海 🜁 'x'", "Ünïon", link="https://a.example", access="open", size="1.3B", released="2026-01-31"),
        received=datetime(2026, 3, 1, 23, 59, 59, 999999, tzinfo=zone),
        problems=("a\0b", "\ud800", '"\\'),
        bytes=2**31 - 1,
    )
    with board.writing() as connection:
        submissions.add(connection, stored)
    with board.reading() as connection:
        found = submissions.find(connection, stored.id)
        assert found == stored and submissions.find(connection, "0" * 32) is None
    assert found is not None and found.received.utcoffset() == timedelta() and found.facts.released == date(2026, 1, 31)


@EACH_DATABASE
def test_claims_come_in_order_and_skip_what_they_are_told_to(board: Board, facts: Facts) -> None:
    with board.writing() as connection:
        for number in (3, 1, 2):
            submissions.add(connection, submission(number, facts(), set="hidden-en" if number == 1 else "public"))
        assert submissions.claim(connection, skip={"public", "hidden-en"}) is None
        order = []
        while claimed := submissions.claim(connection, skip={"hidden-en"}):
            order.append(int(claimed.id, 16))
        assert order == [2, 3]
        first = submissions.claim(connection)
        assert first is not None and int(first.id, 16) == 1
        assert submissions.requeue(connection, first.id) == 1
        assert submissions.claim(connection) == first
        assert submissions.requeue(connection) == 3


@EACH_DATABASE
def test_counts(board: Board) -> None:
    start = datetime(2026, 11, 1, tzinfo=UTC)
    rows = [
        ("A", "public", SubmissionStatus.SCORED),
        ("a", "public", SubmissionStatus.FAILED),
        ("A", "hidden-en", SubmissionStatus.QUEUED),
    ]
    with board.writing() as connection:
        for number, (team, set_name, status) in enumerate(rows):
            one = submission(number, check_facts(team=team, model="M"), set=set_name, status=status)
            submissions.add(connection, one)

        def count(statuses: tuple[SubmissionStatus, ...] = tuple(SubmissionStatus), **more: object) -> int:
            return submissions.count(connection, statuses=statuses, **more)  # type: ignore[arg-type]

        assert count() == 3 and count(teams=["a"]) == 3 and count(teams=["b"]) == 0
        assert count(set_name="public") == 2 and count((SubmissionStatus.FAILED,)) == 1
        assert count(since=start + timedelta(minutes=1)) == 2 and count(before=start + timedelta(minutes=1)) == 1
        assert count(submissions.COUNTED_STATUSES, teams=["a", "b"], set_name="public") == 1
        assert count(disclosed=True) == 3
        submissions.change(connection, f"{0:032x}", scores_disclosed=4)
        assert count(disclosed=True) == 6 and count() == 3


@EACH_DATABASE
def test_tokens(board: Board) -> None:
    with board.writing() as connection:
        first = teams.make_token(connection, "Lab", "laptop")
        second = teams.make_token(connection, "LAB", "server")
        other = teams.make_token(connection, "Other", "")
        assert len({first, second, other}) == 3
        assert [teams.team_of(connection, token) for token in (first, second, other)] == ["Lab", "Lab", "Other"]
        for wrong in ("", first[:-1], first + "x", first.swapcase(), "vcr_", "x" * 10**6, "\ud800", "' OR 1=1 --"):
            assert teams.team_of(connection, wrong) is None
        assert teams.all_teams(connection) == [("Lab", 2), ("Other", 1)]
        assert teams.revoke_tokens(connection, "lab") == 2 and teams.revoke_tokens(connection, "lab") == 0
        assert [teams.team_of(connection, token) for token in (first, second, other)] == [None, None, "Other"]
        assert teams.all_teams(connection) == [("Lab", 0), ("Other", 1)]
        stored = [row for table in (teams.teams, teams.tokens) for row in connection.execute(select(table))]
    for token in (first, second, other):
        assert token not in repr(stored) and token.removeprefix(teams.PREFIX) not in repr(stored)


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("rubbish", "is no URL like postgresql"),
        (f"postgresql+nothing://u:{WORD}@h/n", "is no URL like postgresql"),
        (f"postgresql+psycopg://u:{WORD}@h:port/n", "is no URL like postgresql"),
        (f"postgresql+psycopg://u:{WORD}@[h/n", "cannot be used"),
        (f"mysql://u:{WORD}@h/n", "SQLite or PostgreSQL, not 'mysql'"),
        ("oracle://h/n", "SQLite or PostgreSQL, not 'oracle'"),
        (f"postgresql+psycopg://u:{WORD}@127.0.0.1:1/n", "cannot be used"),
        (f"postgresql://u:{WORD}@127.0.0.1:1/n", "cannot be used"),
        (f"postgresql+psycopg://u@127.0.0.1:1/n?password={WORD}", "cannot be used"),
        (f"postgresql+psycopg://u:{WORD}@127.0.0.1:1/n?no_such_option={WORD}", "cannot be used"),
        ("sqlite:////no/such/folder/board.sqlite3", "cannot be used"),
    ],
)
def test_a_wrong_database_is_a_sentence_without_the_password(
    url: str, message: str, public: Path, tmp_path: Path
) -> None:
    settings = Settings(database=url)
    with pytest.raises(DatabaseError) as caught:
        init_board(tmp_path / "board", [f"public:{public}"], settings, with_reported=False)
    assert message in str(caught.value)
    assert WORD not in str(caught.value) and "\n" not in str(caught.value)
    with pytest.raises(LeaderboardError, match="is no board"):
        open_board(tmp_path / "board")


def test_a_lost_database_is_a_sentence(postgres: Callable[[], str], tmp_path: Path) -> None:
    url = postgres().replace("vcr@", f"nobody:{WORD}@")
    with pytest.raises(DatabaseError, match="cannot be used") as caught, writing(open_engine(tmp_path, url)):
        pass
    assert WORD not in str(caught.value) and WORD not in shown(open_engine(tmp_path, url))


@EACH_DATABASE
def test_values_are_not_in_what_a_database_complains_of(board: Board) -> None:
    """Values may be scores of hidden sets, and error messages end up in a server's log."""
    row = {column.name: WORD for column in reported.columns if column.name not in ("number", "source")}
    with pytest.raises(DatabaseError) as caught, board.writing() as connection:
        connection.execute(
            insert(reported).values(
                {
                    **row,
                    "items": 1,
                    "size": 1.0,
                    "exact": 1.0,
                    "exact_sd": 1.0,
                    "jaccard": 1.0,
                    "jaccard_sd": 1.0,
                    "rae": 1.0,
                    "lbs": 1.0,
                    "released": None,
                }
            )
        )
    cause = caught.value.__cause__
    assert isinstance(cause, SQLAlchemyError)
    assert WORD not in str(caught.value) and f"'{WORD}'" not in str(cause)


def test_a_damaged_file_is_a_sentence(board: Board) -> None:
    for file in board.folder.glob("board.sqlite3*"):
        file.write_bytes(b"this is no database" * 1000)
    with pytest.raises(DatabaseError, match="cannot be used: file is not a database"):
        open_board(board.folder)


def test_what_was_acknowledged_is_on_disk(board: Board) -> None:
    with board.writing() as connection:
        names = ("synchronous", "journal_mode", "foreign_keys")
        found = {name: connection.exec_driver_sql(f"PRAGMA {name}").scalar() for name in names}
    assert found == {"synchronous": 2, "journal_mode": "wal", "foreign_keys": 1}


def test_a_deleted_value_is_in_no_file(board: Board) -> None:
    """Such as the address of a person who asked for it."""

    def files() -> bytes:
        with board.engine.connect() as connection:
            connection.connection.cursor().execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return b"".join(file.read_bytes() for file in board.folder.glob("board.sqlite3*"))

    with board.writing() as connection:
        connection.exec_driver_sql("CREATE TABLE people (address TEXT)")
        connection.exec_driver_sql("INSERT INTO people VALUES ('someone@example.org')")
    assert b"someone@example.org" in files()
    with board.writing() as connection:
        connection.exec_driver_sql("DELETE FROM people")
    assert b"someone@example.org" not in files()


@EACH_DATABASE
def test_a_submission_to_no_set_is_refused_by_the_database(board: Board, facts: Facts) -> None:
    with pytest.raises(DatabaseError, match="cannot be used"), board.writing() as connection:
        submissions.add(connection, submission(1, facts(), set="no-such-set"))
