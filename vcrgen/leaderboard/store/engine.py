"""Connections to SQLite or PostgreSQL: one writer at a time, and what was acknowledged is on disk."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, text
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError, SQLAlchemyError

from vcrgen.errors import LeaderboardError

SQLITE_FILE = "board.sqlite3"
BUSY_SECONDS = 60


def open_engine(board: Path, url: str) -> Engine:
    """The engine of a board's database: that of the URL in ``board.yaml``, or SQLite in the folder if it is empty.

    Raises:
        LeaderboardError: The URL is none, of another database, or its driver is not installed.
    """
    if not url:
        return _sqlite(f"sqlite+pysqlite:///{(board / SQLITE_FILE).absolute()}")
    try:
        address = make_url(url)
        backend = address.get_backend_name()
        if backend == "sqlite":
            return _sqlite(url)
        if backend != "postgresql":
            raise LeaderboardError(
                f"The database is SQLite or PostgreSQL, not {backend[:40]!r} (see {board}/board.yaml)."
            )
        if address.drivername == backend:
            address = address.set(drivername="postgresql+psycopg")  # the driver that vcrgen[postgres] installs
        return create_engine(address, pool_pre_ping=True, hide_parameters=True)
    except (ArgumentError, NoSuchModuleError, ValueError):  # ValueError: a port that is no number
        raise LeaderboardError(
            f"{board}/board.yaml: the database is no URL like postgresql+psycopg://USER:PASSWORD@HOST/NAME."
        ) from None
    except ModuleNotFoundError as missing:
        raise LeaderboardError(
            f'The driver {missing.name} of PostgreSQL is not installed: pip install "vcrgen[postgres]".'
        ) from None


def _sqlite(url: str) -> Engine:
    wait = {"timeout": BUSY_SECONDS, "check_same_thread": False}
    # Values may be scores of hidden sets: they are not for the tracebacks in a server's log.
    engine = create_engine(url, connect_args=wait, hide_parameters=True)

    @event.listens_for(engine, "connect")
    def _connect(connection: Any, _: Any) -> None:
        connection.isolation_level = None  # BEGIN is ours: Python's own comes too late
        # FULL: what was acknowledged survives a loss of power.
        for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON", "trusted_schema=OFF"):
            connection.execute(f"PRAGMA {pragma}")

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        # A reader that becomes a writer half-way can lose to another one; so writers say at once what they are.
        writes = connection.get_execution_options().get("writes", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


@contextmanager
def reading(engine: Engine) -> Iterator[Connection]:
    """A connection that sees one state of the database."""
    with reached(engine), engine.connect() as connection:
        if engine.dialect.name == "postgresql":
            connection = connection.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
        with connection.begin():
            yield connection


@contextmanager
def writing(engine: Engine) -> Iterator[Connection]:
    """A transaction; there is one at a time, in the order of the log. It is on disk when the block has ended."""
    with reached(engine), engine.connect() as connection:
        connection = connection.execution_options(writes=True)
        with connection.begin():
            if engine.dialect.name == "postgresql":
                connection.execute(text("LOCK TABLE events IN EXCLUSIVE MODE"))
            yield connection


@contextmanager
def reached(engine: Engine) -> Iterator[None]:
    """What the database itself reports, as a sentence without statements and values.

    Raises:
        LeaderboardError: It cannot be reached, or refuses something.
    """
    try:
        yield
    except DBAPIError as problem:
        reason = str(problem.orig).strip().splitlines()[0] if str(problem.orig).strip() else type(problem.orig).__name__
        raise LeaderboardError(f"The database {shown(engine)} cannot be used: {reason[:200]}.") from problem
    except SQLAlchemyError as problem:
        raise LeaderboardError(f"The database {shown(engine)} cannot be used ({type(problem).__name__}).") from problem


def shown(engine: Engine) -> str:
    """The database for messages, without its password; options go too, as one of them can be a password."""
    return engine.url.set(query={}).render_as_string(hide_password=True)
