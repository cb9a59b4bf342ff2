"""The database's schema: what the migrations make is what the code expects."""

import dataclasses
import hashlib
import json
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from sqlalchemy import inspect, text

from vcrgen.errors import LeaderboardError
from vcrgen.files import canonical_json
from vcrgen.leaderboard.board import Board, open_board
from vcrgen.leaderboard.store import results
from vcrgen.leaderboard.store.engine import open_engine, reading
from vcrgen.leaderboard.store.migrate import MIGRATIONS, check, current, upgrade
from vcrgen.leaderboard.store.schema import metadata
from vcrgen.leaderboard.store.sets import all_sets
from vcrgen.stats.bootstrap import Resampled


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


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_scores_of_an_older_board_are_ranked_and_checked_as_before(
    kind: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    """Exact match and Jaccard had columns of their own; what the log says of the scores still holds."""
    engine = open_engine(tmp_path, request.getfixturevalue("postgres")() if kind == "postgresql" else "")
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    packed = {
        run: {metric: Resampled(40, mean, np.full(1000, mean)).to_bytes() for metric in ("exact", "jaccard")}
        for run, mean in ((1, 0.25), (2, 0.75))
    }
    figures = {metric: [0.25, 0.2, 0.3] for metric in ("exact", "jaccard")}
    with engine.begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, "0002")
        connection.execute(
            text(
                "INSERT INTO sets (name, number, path, hidden, language, questions, spans, modes, signature)"
                " VALUES ('old', 0, '/p', false, 'en', 3, 5, '[]', 'a:b')"
            )
        )
        for run in (1, 2):
            connection.execute(
                text(
                    'INSERT INTO submissions (id, "set", entry, team_key, team, model, link, access, file, file_name,'
                    " bytes, channel, received, state, attempts, problems, removed, current)"
                    " VALUES (:id, 'old', :entry, 't', 'T', :id, '', 'open', :id, 'f', 1, 'api', :at, 'scored', 1,"
                    " '[]', '', true)"
                ),
                {"id": str(run) * 32, "entry": str(run) * 12, "at": datetime.now(UTC)},
            )
            connection.execute(
                text(
                    "INSERT INTO runs (id, submission, scored, short, signature, result)"
                    " VALUES (:run, :id, :at, 'abcd', 'a:b', :result)"
                ),
                {"run": run, "id": str(run) * 32, "at": datetime.now(UTC), "result": json.dumps({"nonce": "n"})},
            )
            connection.execute(
                text(
                    'INSERT INTO cells (run, mode, view, "set", short, figures, exact_means, jaccard_means, hits)'
                    " VALUES (:run, 'easy', 'stacked', 'old', 'abcd', :figures, :exact, :jaccard, :hits)"
                ),
                {"run": run, "figures": json.dumps(figures), "hits": b"\x80", **packed[run]},
            )
    upgrade(engine)
    # As the version before wrote it into the log.
    row = {"mode": "easy", "view": "stacked", "figures": figures, "difference": None, "hits": "80"}
    row |= {f"{metric}_means": value.hex() for metric, value in packed[1].items()}
    told = hashlib.sha256(canonical_json(["a:b", None, {"nonce": "n"}, [row]]).encode()).hexdigest()
    with engine.begin() as connection:
        assert results.digest_of(connection, 1) == told
        for run in (1, 2):
            results.enter(connection, run)
        assert [(each.run, each.better, each.worse) for each in results.board_rows(connection)] == [
            (1, 1, 0), (2, 0, 1),
        ]  # fmt: skip
        (found,) = results.evidence(connection, 2).values()
        assert {metric: of.mean for metric, of in found.means.items()} == {"exact": 0.75, "jaccard": 0.75}
        assert all_sets(connection)[0].task.name == "vcr"
    engine.dispose()
