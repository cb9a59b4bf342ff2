"""The database's schema: made, checked and brought up to date by Alembic."""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine

from vcrgen.errors import LeaderboardError
from vcrgen.leaderboard.store.engine import reached, reading, shown, writing

MIGRATIONS = Path(__file__).with_name("migrations")


def upgrade(engine: Engine) -> None:
    """Make the tables, or bring them to this version; nothing happens to those that are.

    Raises:
        LeaderboardError: The database cannot be reached, or is newer.
    """
    # In PostgreSQL writers lock a table that may not be there yet.
    locked = writing(engine) if engine.dialect.name == "sqlite" else engine.begin()
    with reached(engine), locked as connection:
        there = current(connection)
        if there is not None:
            _refuse_a_newer(engine, there)
        config = Config()
        config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
        config.attributes["connection"] = connection
        command.upgrade(config, "head")


def current(connection: Connection) -> str | None:
    """The version of a database's schema, or None if it has none."""
    return MigrationContext.configure(connection).get_current_revision()


def check(engine: Engine, board: Path) -> None:
    """Refuse a database of another version.

    Raises:
        LeaderboardError: It is older, newer, or no database of a board.
    """
    with reading(engine) as connection:
        there = current(connection)
    if there == ScriptDirectory(str(MIGRATIONS)).get_current_head():
        return
    if there is None:
        raise LeaderboardError(f"The database {shown(engine)} holds no board; make one with `vcrgen leaderboard init`.")
    _refuse_a_newer(engine, there)
    raise LeaderboardError(
        f"The database {shown(engine)} is of an older vcrgen: make a backup, then `vcrgen leaderboard upgrade {board}`."
    )


def _refuse_a_newer(engine: Engine, there: str) -> None:
    if there not in {revision.revision for revision in ScriptDirectory(str(MIGRATIONS)).walk_revisions()}:
        raise LeaderboardError(f"The database {shown(engine)} was written by a newer vcrgen; update vcrgen.")
