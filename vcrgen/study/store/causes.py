"""Causes of errors, as maintainers name them."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from sqlalchemy import Connection, delete, insert, select

from vcrgen.study.records import ErrorId
from vcrgen.study.store.tables import causes


def save_causes(connection: Connection, maintainer: str, by_error: Mapping[ErrorId, str]) -> None:
    """Store the causes that a maintainer names, in place of those from before."""
    connection.execute(delete(causes).where(causes.c.maintainer == maintainer))
    rows = [
        {"maintainer": maintainer, "item": item, "place": place, "typed": typed, "cause": cause}
        for (item, place, typed), cause in by_error.items()
    ]
    if rows:
        connection.execute(insert(causes), rows)


def read_causes(connection: Connection) -> dict[str, dict[ErrorId, str]]:
    """Return the causes by maintainer and error."""
    found: dict[str, dict[ErrorId, str]] = {}
    for maintainer, item, place, typed, cause in connection.execute(select(causes).order_by(causes.c.maintainer)):
        found.setdefault(maintainer, {})[item, place, typed] = cause
    return found


def prune_causes(connection: Connection, kept: Collection[ErrorId]) -> None:
    """Remove the causes of all errors but these."""
    for maintainer, by_error in read_causes(connection).items():
        save_causes(connection, maintainer, {error: cause for error, cause in by_error.items() if error in kept})
