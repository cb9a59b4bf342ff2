"""Connections to SQLite or PostgreSQL: one writer at a time, and what was acknowledged is on disk."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from errno import ENOSPC
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, text
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError, SQLAlchemyError

from vcrgen.core.errors import DatabaseError
from vcrgen.core.extras import needs_extra

BUSY_SECONDS = 60
# The last one: of the index of the journal, which the first connection makes.
_SQLITE_DISK_FULL = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_WRITE, sqlite3.SQLITE_IOERR_SHMSIZE)
_POSTGRESQL_DISK_FULL = "53100"
_PRAGMAS = (
    *("journal_mode=WAL", "synchronous=FULL"),  # FULL: what was acknowledged survives a loss of power
    *("foreign_keys=ON", "trusted_schema=OFF", "secure_delete=ON"),  # deleted values are overwritten
)


def open_url(url: str, source: str) -> Engine:
    """The engine of a database by its URL.

    Args:
        source: The file that the URL is from, for messages.

    Raises:
        DatabaseError: The URL is none, of another database, or its driver is not installed.
    """
    try:
        address = make_url(url)
        backend = address.get_backend_name()
        if backend == "sqlite":
            return _sqlite(url)
        if backend != "postgresql":
            raise DatabaseError(f"The database is SQLite or PostgreSQL, not {backend[:40]!r} (see {source}).")
        if address.drivername == backend:
            address = address.set(drivername="postgresql+psycopg")  # the driver that the extra postgres installs
        return create_engine(address, pool_pre_ping=True, hide_parameters=True)
    except (ArgumentError, NoSuchModuleError, ValueError):  # ValueError: a port that is no number
        raise DatabaseError(
            f"{source}: the database is no URL like postgresql+psycopg://USER:PASSWORD@HOST/NAME."
        ) from None
    except ModuleNotFoundError as missing:
        raise DatabaseError(needs_extra("A board in PostgreSQL", "postgres", missing.name)) from None


def open_sqlite(file: Path) -> Engine:
    """The engine of a SQLite file, which the first connection makes if it is not there."""
    return _sqlite(f"sqlite+pysqlite:///{file.absolute()}")


def _sqlite(url: str) -> Engine:
    wait = {"timeout": BUSY_SECONDS, "check_same_thread": False}
    # Values may be scores of hidden sets: they are not for the tracebacks in a server's log. A connection for each
    # thread that asks for one at the same time.
    engine = create_engine(url, connect_args=wait, hide_parameters=True, pool_size=0, pool_use_lifo=True)

    @event.listens_for(engine, "connect")
    def _connect(connection: Any, _: Any) -> None:
        connection.isolation_level = None  # BEGIN is ours: Python's own comes too late
        for pragma in _PRAGMAS:
            connection.execute(f"PRAGMA {pragma}")

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        # A reader that becomes a writer half-way can lose to another one; so writers say at once what they are.
        writes = connection.get_execution_options().get("writes", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


@contextmanager
def reading(engine: Engine) -> Iterator[Connection]:
    """Connect to one state of the database."""
    with reached(engine), engine.connect() as connection:
        if engine.dialect.name == "postgresql":
            connection = connection.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
        with connection.begin():
            yield connection


@contextmanager
def writing(engine: Engine) -> Iterator[Connection]:
    """Begin a transaction, one at a time. It is on disk when the block has ended, or nothing of it is."""
    with reached(engine), engine.connect() as connection:
        connection = connection.execution_options(writes=True)
        with connection.begin():
            if engine.dialect.name == "postgresql":
                connection.execute(text("SELECT pg_advisory_xact_lock(hashtext('vcrgen'))"))
            yield connection


def checkpoint(engine: Engine) -> None:
    """Write the journal of a SQLite database into its file, and empty it.

    Raises:
        DatabaseError: The database cannot be used.
    """
    with reached(engine), engine.connect() as connection:
        driver = connection.connection.driver_connection
        assert driver is not None
        try:
            driver.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        except sqlite3.Error as problem:
            raise DatabaseError(f"The database {shown(engine)} cannot be used: {problem}.") from problem


@contextmanager
def reached(engine: Engine) -> Iterator[None]:
    """Report errors of the database as a sentence without statements and values.

    Raises:
        DatabaseError: It cannot be reached, or refuses something.
        OSError: The disk is full.
    """
    try:
        yield
    except DBAPIError as problem:
        if _is_disk_full(problem.orig):
            raise OSError(ENOSPC, "the disk is full", engine.url.database) from None
        reason = str(problem.orig).strip().splitlines()[0] if str(problem.orig).strip() else type(problem.orig).__name__
        raise DatabaseError(f"The database {shown(engine)} cannot be used: {reason[:200]}.") from problem
    except SQLAlchemyError as problem:
        raise DatabaseError(f"The database {shown(engine)} cannot be used ({type(problem).__name__}).") from problem


@contextmanager
def as_written(engine: Engine) -> Iterator[None]:
    """Report a value that no program of ours writes: SQLite has values of any type in any column.

    Raises:
        DatabaseError: The block stumbled over one.
    """
    try:
        yield
    except (ValueError, TypeError, KeyError, AttributeError, AssertionError) as problem:
        raise DatabaseError(
            f"The database {shown(engine)} was edited by hand: it holds what vcrgen does not write. Restore a backup."
        ) from problem


def _is_disk_full(error: BaseException | None) -> bool:
    is_sqlite = getattr(error, "sqlite_errorcode", None) in _SQLITE_DISK_FULL
    return is_sqlite or getattr(error, "sqlstate", None) == _POSTGRESQL_DISK_FULL


def shown(engine: Engine) -> str:
    """The database for messages, without its password; options go too, as one of them can be a password."""
    return engine.url.set(query={}).render_as_string(hide_password=True)
