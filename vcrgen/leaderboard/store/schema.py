"""The tables. A change here needs a migration in ``migrations/versions``; a test compares the two."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, TypeAlias

import sqlalchemy as sa
from sqlalchemy import Column, String, Table

AnyRow: TypeAlias = sa.Row[*tuple[Any, ...]]

metadata = sa.MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)


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


sets = Table(
    "sets",
    metadata,
    Column("name", String(40), primary_key=True),
    Column("number", sa.Integer, nullable=False),  # the order of the navigation
    Column("path", sa.Text, nullable=False),
    Column("hidden", sa.Boolean, nullable=False),
    Column("language", String(20), nullable=False),
    Column("questions", sa.Integer, nullable=False),
    Column("spans", sa.Integer, nullable=False),
    Column("modes", sa.JSON, nullable=False),
    Column("signature", sa.Text, nullable=False),
)
teams = Table(
    "teams",
    metadata,
    Column("key", String(240), primary_key=True),  # the name, case-folded
    Column("name", String(80), nullable=False),
)
tokens = Table(
    "tokens",
    metadata,
    Column("hash", String(64), primary_key=True),  # SHA-256 of the token
    Column("team", String(240), sa.ForeignKey("teams.key"), nullable=False, index=True),
    Column("label", String(80), nullable=False),
    Column("made", Moment, nullable=False),
    Column("revoked", Moment),
)
submissions = Table(
    "submissions",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("set", String(40), sa.ForeignKey("sets.name"), nullable=False),
    Column("entry", String(12), nullable=False, index=True),
    Column("team_key", String(240), nullable=False),
    Column("team", String(80), nullable=False),
    Column("model", String(80), nullable=False),
    Column("link", String(300), nullable=False),
    Column("access", String(10), nullable=False),
    Column("size", sa.Float),
    Column("released", sa.Date),
    Column("file", String(64), nullable=False),
    Column("file_name", String(100), nullable=False),
    Column("bytes", sa.Integer, nullable=False),
    Column("channel", String(20), nullable=False),
    Column("received", Moment, nullable=False),
    Column("state", String(10), nullable=False, index=True),
    Column("attempts", sa.Integer, nullable=False),
    Column("finished", Moment),
    Column("problems", sa.JSON, nullable=False),
    Column("removed", sa.Text, nullable=False),
    Column("current", sa.Boolean, nullable=False),  # shown on the board: the last scored one of its entry and set
    Column("outputs", sa.LargeBinary),  # eight bytes for each question and cell, to tell near copies
    sa.Index(None, "team_key", "set", "received"),
)
# A submission that is scored anew gets another run; old ones stay.
runs = Table(
    "runs",
    metadata,
    Column("id", sa.Integer, primary_key=True),
    Column("submission", String(32), sa.ForeignKey("submissions.id"), nullable=False, index=True),
    Column("scored", Moment, nullable=False),
    Column("short", String(8), nullable=False),
    Column("signature", sa.Text, nullable=False),
    Column("result", sa.JSON, nullable=False),  # everything, unrounded: never shown of a hidden set
)
cells = Table(
    "cells",
    metadata,
    Column("run", sa.Integer, sa.ForeignKey("runs.id"), primary_key=True),
    Column("mode", String(10), primary_key=True),
    Column("view", String(10), primary_key=True),
    Column("set", String(40), nullable=False),
    Column("short", String(8), nullable=False),
    Column("better", sa.Integer),  # models in the ranking that are better beyond doubt; null where not ranked
    Column("worse", sa.Integer),
    Column("figures", sa.JSON, nullable=False),  # metric to value, low, high: unrounded
    Column("difference", sa.JSON),  # the same of VI+TEI minus TEI, at the stacked view
    Column("exact_means", sa.LargeBinary, nullable=False),  # of the resamples: float64, little-endian
    Column("jaccard_means", sa.LargeBinary, nullable=False),
    Column("hits", sa.LargeBinary, nullable=False),  # a bit for each span: restored exactly
    sa.Index(None, "set", "mode", "view", "short"),
)
events = Table(
    "events",
    metadata,
    Column("number", sa.Integer, primary_key=True, autoincrement=False),
    Column("at", Moment, nullable=False),
    Column("actor", String(100), nullable=False),
    Column("what", String(20), nullable=False),
    Column("subject", String(100), nullable=False),
    Column("facts", sa.JSON, nullable=False),
    Column("chain", String(64), nullable=False),
)
quoted = Table(
    "quoted",
    metadata,
    Column("number", sa.Integer, primary_key=True),
    Column("source", String(300), nullable=False),
    Column("url", String(300), nullable=False),
    Column("data", String(300), nullable=False),
    Column("items", sa.Integer),
    Column("language", String(20), nullable=False),
    Column("mode", String(10), nullable=False),
    Column("view", String(10), nullable=False),
    Column("model", String(80), nullable=False),
    Column("access", String(10), nullable=False),
    Column("size", sa.Float),
    Column("released", sa.Date),
    Column("exact", sa.Float),
    Column("exact_sd", sa.Float),
    Column("jaccard", sa.Float),
    Column("jaccard_sd", sa.Float),
    Column("corrected", String(300), nullable=False),
    Column("note", String(300), nullable=False),
)
