"""Tables of a database: columns by name, and one version of the whole schema."""

from datetime import UTC, datetime
from typing import Any, TypeAlias

import sqlalchemy as sa
from sqlalchemy import Column, Connection, Engine, String, Table

from vcrgen.core.errors import DatabaseError
from vcrgen.web.database.engine import reading, shown, writing

AnyRow: TypeAlias = sa.Row[*tuple[Any, ...]]
_version = Table("schema_version", sa.MetaData(), Column("number", sa.Integer, nullable=False))


class Moment(sa.TypeDecorator[datetime]):
    """A point in time, always with its zone: SQLite keeps none, so UTC is stored."""

    impl = sa.DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: sa.Dialect) -> datetime | None:
        """Write UTC to the database."""
        return None if value is None else value.astimezone(UTC)

    def process_result_value(self, value: Any, dialect: sa.Dialect) -> datetime | None:
        """Read what the database gives, with UTC as its zone."""
        assert value is None or isinstance(value, datetime)
        return value and (value.astimezone(UTC) if value.tzinfo else value.replace(tzinfo=UTC))


def new_metadata() -> sa.MetaData:
    """A collection of tables in which indexes and constraints have fixed names, whatever database makes them."""
    return sa.MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "fk": "fk_%(table_name)s_%(column_0_N_name)s",
            "pk": "pk_%(table_name)s",
        }
    )


def columns(**kinds: Any) -> list[Column[Any]]:
    """Columns by name, such as ``columns(name=40, size_=sa.Float)``.

    A number is the length of a text; a name that ends in ``_`` is of a column (without the ``_``) that may be null.
    """
    return [
        Column(name.removesuffix("_"), String(kind) if isinstance(kind, int) else kind, nullable=name[-1] == "_")
        for name, kind in kinds.items()
    ]


def create_tables(engine: Engine, metadata: sa.MetaData, version: int) -> None:
    """Create the tables in an empty database; tables that are there stay as they are.

    Raises:
        DatabaseError: The database cannot be reached, or its schema has another version.
    """
    with writing(engine) as connection:
        there = schema_version(connection)
        if there is None:
            _version.create(connection)
            metadata.create_all(connection)
            connection.execute(_version.insert().values(number=version))
        else:
            _refuse_another(engine, there, version)


def check_tables(engine: Engine, version: int, missing: str) -> None:
    """Refuse a database whose schema has another version, or none: ``missing`` is the sentence for that.

    Raises:
        DatabaseError: It is of another version, or holds no tables of ours.
    """
    with reading(engine) as connection:
        there = schema_version(connection)
    if there is None:
        raise DatabaseError(missing)
    _refuse_another(engine, there, version)


def schema_version(connection: Connection) -> int | None:
    """The version of a database's schema, or None if it has none."""
    if not sa.inspect(connection).has_table(_version.name):
        return None
    number: int | None = connection.execute(sa.select(_version.c.number)).scalar()
    return number


def _refuse_another(engine: Engine, there: int, version: int) -> None:
    if there != version:
        raise DatabaseError(
            f"The database {shown(engine)} is of another version of vcrgen (its schema is {there}, not {version}): "
            "use the vcrgen that made it."
        )
