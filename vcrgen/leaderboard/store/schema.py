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


def columns(**kinds: Any) -> list[Column[Any]]:
    """Columns by name, such as ``columns(name=40, size_=sa.Float)``.

    A number is the length of a text; a name that ends in ``_`` is of a column (without the ``_``) that may be null.
    """
    return [
        Column(name.removesuffix("_"), String(kind) if isinstance(kind, int) else kind, nullable=name[-1] == "_")
        for name, kind in kinds.items()
    ]


# A question set has several, as `en+ar`. Tables of SQLite keep the length that they were made with; it holds to none.
LANGUAGES = sa.Text().with_variant(String(20), "sqlite")
# The number is the place of a set in the navigation. The phase is a record of that name as JSON; null for the sets of
# boards that were made before there were phases. The task is null for the sets of before there were several tasks.
sets = Table(
    "sets", metadata, *columns(
        name=40, number=sa.Integer, path=sa.Text, hidden=sa.Boolean, language=LANGUAGES, questions=sa.Integer,
        spans=sa.Integer, modes=sa.JSON, signature=sa.Text, phase_=sa.JSON(none_as_null=True), task_=20,
    ),
    sa.PrimaryKeyConstraint("name"),
)  # fmt: skip
# The key is the name, case-folded. Teams of one group share their limits; the group is its name, case-folded.
teams = Table(
    "teams", metadata, *columns(key=240, name=80, group_=240), sa.PrimaryKeyConstraint("key"), sa.Index(None, "group"),
)  # fmt: skip
# The hash is the SHA-256 of the token; the team is its key.
tokens = Table(
    "tokens", metadata, *columns(hash=64, team=240, label=80, made=Moment, revoked_=Moment), sa.Index(None, "team"),
    sa.PrimaryKeyConstraint("hash"), sa.ForeignKeyConstraint(["team"], ["teams.key"]),
)  # fmt: skip
# The current submission of an entry on a set is the one that the board shows: the one that its team chose, or else the
# last one that was scored. The outputs are eight bytes for each question and view, to tell near copies. Asked is how
# many figures the set's key gave for the file, and best what a ladder showed of it: a rounded share, or null.
submissions = Table(
    "submissions", metadata, *columns(
        id=32, set=40, entry=12, team_key=240, team=80, model=80, link=300, access=10, size_=sa.Float,
        released_=sa.Date, file=64, file_name=100, bytes=sa.Integer, channel=20, received=Moment, state=10,
        attempts=sa.Integer, finished_=Moment, problems=sa.JSON, removed=sa.Text, current=sa.Boolean,
        outputs_=sa.LargeBinary, asked_=sa.Integer, best_=sa.Float, chosen_=sa.Boolean, private_=sa.Boolean,
    ),
    sa.PrimaryKeyConstraint("id"), sa.ForeignKeyConstraint(["set"], ["sets.name"]), sa.Index(None, "entry"),
    sa.Index(None, "state"), sa.Index(None, "team_key", "set", "received"),
)  # fmt: skip
# A submission that is scored anew gets another run; old ones stay. The result is everything, unrounded: it is never
# shown of a hidden set. The part is that of the key which was scored, or null for the whole.
runs = Table(
    "runs", metadata, *columns(
        id=sa.Integer, submission=32, scored=Moment, short=8, signature=sa.Text, result=sa.JSON, part_=10,
    ),
    sa.PrimaryKeyConstraint("id"), sa.ForeignKeyConstraint(["submission"], ["submissions.id"]),
    sa.Index(None, "submission"),
)  # fmt: skip
# Better and worse count the models of the ranking that are so beyond doubt; they are null for a run that is not ranked.
# The mode is the value of the task's axis: of a question set it is a language. The figures and the difference hold
# metric to value, low and high, unrounded. See CellOutcome for the others.
cells = Table(
    "cells", metadata, *columns(
        run=sa.Integer, mode=10, view=10, set=40, short=8, better_=sa.Integer, worse_=sa.Integer, figures=sa.JSON,
        difference_=sa.JSON, hits=sa.LargeBinary,
    ),
    sa.PrimaryKeyConstraint("run", "mode", "view"), sa.ForeignKeyConstraint(["run"], ["runs.id"]),
    sa.Index(None, "set", "mode", "view", "short"),
)  # fmt: skip
# What ranks and compares models: of each shown metric of a cell its mean, with the means of its resamples.
means = Table(
    "means", metadata, *columns(run=sa.Integer, mode=10, view=10, metric=20, means=sa.LargeBinary),
    sa.PrimaryKeyConstraint("run", "mode", "view", "metric"),
    sa.ForeignKeyConstraint(["run"], ["runs.id"]),
)  # fmt: skip
events = Table(
    "events", metadata, Column("number", sa.Integer, primary_key=True, autoincrement=False),
    *columns(at=Moment, actor=100, what=20, subject=100, facts=sa.JSON, chain=64),
)  # fmt: skip
quoted = Table(
    "quoted", metadata, *columns(
        number=sa.Integer, source=300, url=300, data=300, items_=sa.Integer, language=20, mode=10, view=10, model=80,
        access=10, size_=sa.Float, released_=sa.Date, exact_=sa.Float, exact_sd_=sa.Float, jaccard_=sa.Float,
        jaccard_sd_=sa.Float, rae_=sa.Float, lbs_=sa.Float, corrected=300, note=300,
    ),
    sa.PrimaryKeyConstraint("number"),
)  # fmt: skip
# What the people of a study restored; of the data that the set had when the file was taken in.
people = Table(
    "people", metadata, *columns(
        study=16, set=40, data=64, mode=10, view=10, people=sa.Integer, items=sa.Integer, spans=sa.Integer,
        exact=sa.Float, low=sa.Float, high=sa.Float, sd_=sa.Float, threshold_=sa.JSON(none_as_null=True),
    ),
    sa.PrimaryKeyConstraint("study", "set", "mode", "view"),
)  # fmt: skip
