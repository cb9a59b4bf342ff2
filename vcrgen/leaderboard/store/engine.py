"""The database of a board."""

from pathlib import Path

from sqlalchemy import Engine

from vcrgen.leaderboard.store.schema import SCHEMA_VERSION, metadata
from vcrgen.web.database.engine import open_sqlite, open_url, shown
from vcrgen.web.database.schema import check_tables, create_tables

SQLITE_FILE = "board.sqlite3"


def open_engine(board: Path, url: str) -> Engine:
    """The engine of a board's database: that of the URL in ``board.yaml``, or SQLite in the folder if it is empty.

    Raises:
        DatabaseError: The URL is none, of another database, or its driver is not installed.
    """
    return open_url(url, f"{board}/board.yaml") if url else open_sqlite(board / SQLITE_FILE)


def create_board(engine: Engine) -> None:
    """Create the tables of a board in an empty database."""
    create_tables(engine, metadata, SCHEMA_VERSION)


def check_board(engine: Engine) -> None:
    """Refuse, with a DatabaseError, a database without a board or with one of another version."""
    missing = f"The database {shown(engine)} holds no board; make one with `vcrgen leaderboard init`."
    check_tables(engine, SCHEMA_VERSION, missing)
