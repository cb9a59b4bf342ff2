"""The database's schema: made, checked and brought up to date by Alembic."""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine

from vcrgen.errors import LeaderboardError
from vcrgen.leaderboard.store.engine import reading, shown, writing

MIGRATIONS = Path(__file__).with_name("migrations")


def upgrade(engine: Engine) -> None:
    """Make the tables, or bring them to this version; nothing happens to those that are."""
    if engine.dialect.name == "postgresql":
        with engine.begin() as connection:
            command.upgrade(_config(connection), "head")
        return
    with writing(engine) as connection:
        command.upgrade(_config(connection), "head")


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
    script = ScriptDirectory(str(MIGRATIONS))
    if there == script.get_current_head():
        return
    known = {revision.revision for revision in script.walk_revisions()}
    if there is None:
        raise LeaderboardError(f"The database {shown(engine)} holds no board; make one with `vcrgen leaderboard init`.")
    if there not in known:
        raise LeaderboardError(f"The database {shown(engine)} was written by a newer vcrgen; update vcrgen.")
    raise LeaderboardError(
        f"The database {shown(engine)} is of an older vcrgen: make a backup, then `vcrgen leaderboard upgrade {board}`."
    )


def _config(connection: Connection) -> Config:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.attributes["connection"] = connection
    return config
