"""The database's schema: what the migrations make is what the code expects."""

import dataclasses
from pathlib import Path

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from sqlalchemy import inspect, text

from vcrgen.errors import LeaderboardError
from vcrgen.leaderboard.board import Board, open_board
from vcrgen.leaderboard.store.engine import open_engine, reading
from vcrgen.leaderboard.store.migrate import MIGRATIONS, check, current, upgrade
from vcrgen.leaderboard.store.schema import metadata
from vcrgen.leaderboard.store.sets import all_sets


def test_the_migrations_make_the_tables_of_the_code(board: Board) -> None:
    with board.reading() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True, "compare_server_default": True})
        assert compare_metadata(context, metadata) == []
        tables = set(inspect(connection).get_table_names())
    assert tables == {*metadata.tables, "alembic_version"}


def test_an_upgrade_changes_nothing_that_is_new_enough(board: Board) -> None:
    def state() -> list[object]:
        with board.reading() as connection:
            rows = [connection.execute(table.select()).all() for table in metadata.sorted_tables]
            return [current(connection), *rows]

    before = state()
    for _ in range(2):
        upgrade(board.engine)
    assert state() == before and before[0] is not None
    check(board.engine, board.folder)


@pytest.mark.parametrize(
    ("version", "message"),
    [
        ("9999", "was written by a newer vcrgen; update vcrgen"),
        (None, "holds no board; make one with `vcrgen leaderboard init`"),
    ],
)
def test_a_database_of_another_version_is_refused(version: str | None, message: str, board: Board) -> None:
    with board.engine.begin() as connection:
        if version is None:
            connection.execute(text("DELETE FROM alembic_version"))
        else:
            connection.execute(text("UPDATE alembic_version SET version_num = :version"), {"version": version})
    with pytest.raises(LeaderboardError, match=message):
        open_board(board.folder)
    if version is not None:
        with pytest.raises(LeaderboardError, match=message):
            upgrade(board.engine)


def test_an_older_database_is_told_how_to_go_on(board: Board, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "vcrgen.leaderboard.store.migrate.ScriptDirectory.get_current_head", lambda self: "0002 of the future"
    )
    with pytest.raises(LeaderboardError, match=f"make a backup, then `vcrgen leaderboard upgrade {board.folder}`"):
        open_board(board.folder)


def test_an_empty_database_holds_no_board(sqlite_board: Board, tmp_path: Path) -> None:
    empty = dataclasses.replace(sqlite_board, engine=open_engine(tmp_path, ""))
    with pytest.raises(LeaderboardError, match="holds no board"):
        check(empty.engine, tmp_path)


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_a_board_of_the_first_version_goes_on_as_before(
    kind: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    """Its hidden sets show their scores at once, and its files count one figure each."""
    engine = open_engine(tmp_path, request.getfixturevalue("postgres")() if kind == "postgresql" else "")
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    with engine.begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, "0001")
        for number, (name, hidden) in enumerate((("public", False), ("secret", True))):
            connection.execute(
                text(
                    "INSERT INTO sets (name, number, path, hidden, language, questions, spans, modes, signature)"
                    " VALUES (:name, :number, '/p', :hidden, 'en', 3, 5, '[]', 'a:b')"
                ),
                {"name": name, "number": number, "hidden": hidden},
            )
    upgrade(engine)
    with reading(engine) as connection:
        feedback = {one.name: (one.phase.feedback, one.phase.state) for one in all_sets(connection)}
    engine.dispose()
    assert feedback == {"public": ("full", "open"), "secret": ("instant", "open")}
