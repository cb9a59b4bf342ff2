"""The database's schema: what the migrations make is what the code expects."""

import dataclasses
import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from sqlalchemy import Connection, Engine, inspect, text

from vcrgen.errors import LeaderboardError
from vcrgen.files import canonical_json
from vcrgen.leaderboard.board import Board, open_board
from vcrgen.leaderboard.store import results
from vcrgen.leaderboard.store.engine import open_engine, reading
from vcrgen.leaderboard.store.migrate import MIGRATIONS, check, current, upgrade
from vcrgen.leaderboard.store.schema import metadata
from vcrgen.leaderboard.store.sets import all_sets
from vcrgen.stats.bootstrap import Resampled
from vcrgen.text.languages import LANGUAGES


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


@pytest.fixture(params=["sqlite", "postgresql"])
def older(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[str], Engine]]:
    """Makes an empty database of an older version."""
    engine = open_engine(tmp_path, request.getfixturevalue("postgres")() if request.param == "postgresql" else "")

    def make(version: str) -> Engine:
        config = Config()
        config.set_main_option("script_location", str(MIGRATIONS))
        with engine.begin() as connection:
            config.attributes["connection"] = connection
            command.upgrade(config, version)
        return engine

    yield make
    engine.dispose()


def put(connection: Connection, table: str, **values: Any) -> None:
    """Insert a row as older versions did: by names alone, as the tables of the code are newer."""
    names = {name: f'"{name}"' for name in values}
    row = f"({', '.join(names.values())}) VALUES ({', '.join(f':{name}' for name in names)})"
    connection.execute(text(f"INSERT INTO {table} {row}"), values)


def put_set(connection: Connection, name: str, number: int = 0, *, hidden: bool = False, language: str = "en") -> None:
    put(
        connection, "sets", name=name, number=number, path="/p", hidden=hidden, language=language, questions=3, spans=5,
        modes="[]", signature="a:b",
    )  # fmt: skip


def put_run(
    connection: Connection, run: int, figures: Mapping[str, Sequence[float]], means: Mapping[str, bytes]
) -> None:
    """A scored file on the set ``old`` as version 0002 kept it."""
    at, submission = datetime.now(UTC), str(run) * 32
    put(
        connection, "submissions", id=submission, set="old", entry=str(run) * 12, team_key="t", team="T",
        model=submission, link="", access="open", file=submission, file_name="f", bytes=1, channel="api", received=at,
        state="scored", attempts=1, problems="[]", removed="", current=True,
    )  # fmt: skip
    put(
        connection, "runs", id=run, submission=submission, scored=at, short="abcd", signature="a:b",
        result=json.dumps({"nonce": "n"}),
    )  # fmt: skip
    put(
        connection, "cells", run=run, mode="easy", view="stacked", set="old", short="abcd",
        figures=json.dumps(figures), hits=b"\x80", **{f"{metric}_means": value for metric, value in means.items()},
    )  # fmt: skip


def test_a_board_of_the_first_version_goes_on_as_before(older: Callable[[str], Engine]) -> None:
    """Its hidden sets show their scores at once, and its files count one figure each."""
    engine = older("0001")
    with engine.begin() as connection:
        put_set(connection, "public")
        put_set(connection, "secret", 1, hidden=True)
    upgrade(engine)
    with reading(engine) as connection:
        feedback = {one.name: (one.phase.feedback, one.phase.state) for one in all_sets(connection)}
    assert feedback == {"public": ("full", "open"), "secret": ("instant", "open")}


def test_a_board_of_the_fifth_version_takes_sets_of_many_languages(older: Callable[[str], Engine]) -> None:
    engine = older("0005")
    upgrade(engine)
    languages = "+".join(LANGUAGES)
    with engine.begin() as connection:
        put_set(connection, "many", language=languages)
        assert len(languages) > 20 and [one.language for one in all_sets(connection)] == [languages]


def test_scores_of_an_older_board_are_ranked_and_checked_as_before(older: Callable[[str], Engine]) -> None:
    """Exact match and Jaccard had columns of their own; what the log says of the scores still holds."""
    engine = older("0002")
    packed = {
        run: {metric: Resampled(40, mean, np.full(1000, mean)).to_bytes() for metric in ("exact", "jaccard")}
        for run, mean in ((1, 0.25), (2, 0.75))
    }
    figures = {metric: [0.25, 0.2, 0.3] for metric in ("exact", "jaccard")}
    with engine.begin() as connection:
        put_set(connection, "old")
        for run, means in packed.items():
            put_run(connection, run, figures, means)
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
