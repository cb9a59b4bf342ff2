"""The tables of the first version, and a log that the database itself keeps from being changed."""

import sqlalchemy as sa
from alembic import op

from vcrgen.leaderboard.store.schema import columns

revision = "0001"
down_revision = None

SQLITE_TRIGGERS = [
    f"CREATE TRIGGER events_stay_{what} BEFORE {what} ON events "
    "BEGIN SELECT RAISE(ABORT, 'the log is never changed'); END"
    for what in ("UPDATE", "DELETE")
]
POSTGRES_TRIGGERS = [
    "CREATE FUNCTION events_stay() RETURNS trigger LANGUAGE plpgsql AS "
    "$$ BEGIN RAISE EXCEPTION 'the log is never changed'; END $$",
    "CREATE TRIGGER events_stay BEFORE UPDATE OR DELETE ON events FOR EACH ROW EXECUTE FUNCTION events_stay()",
    "CREATE TRIGGER events_stay_whole BEFORE TRUNCATE ON events FOR EACH STATEMENT EXECUTE FUNCTION events_stay()",
]
INTEGER, FLOAT, BOOLEAN, DATE = sa.Integer, sa.Float, sa.Boolean, sa.Date
JSON, TEXT, BYTES, MOMENT = sa.JSON, sa.Text, sa.LargeBinary, sa.DateTime(timezone=True)


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "events", sa.Column("number", INTEGER, autoincrement=False, nullable=False),
        *columns(at=MOMENT, actor=100, what=20, subject=100, facts=JSON, chain=64),
        sa.PrimaryKeyConstraint("number", name="pk_events"),
    )  # fmt: skip
    op.create_table(
        "quoted", *columns(
            number=INTEGER, source=300, url=300, data=300, items_=INTEGER, language=20, mode=10, view=10, model=80,
            access=10, size_=FLOAT, released_=DATE, exact_=FLOAT, exact_sd_=FLOAT, jaccard_=FLOAT, jaccard_sd_=FLOAT,
            corrected=300, note=300,
        ),
        sa.PrimaryKeyConstraint("number", name="pk_quoted"),
    )  # fmt: skip
    op.create_table(
        "sets", *columns(
            name=40, number=INTEGER, path=TEXT, hidden=BOOLEAN, language=20, questions=INTEGER, spans=INTEGER,
            modes=JSON, signature=TEXT,
        ),
        sa.PrimaryKeyConstraint("name", name="pk_sets"),
    )  # fmt: skip
    op.create_table("teams", *columns(key=240, name=80), sa.PrimaryKeyConstraint("key", name="pk_teams"))
    op.create_table(
        "submissions", *columns(
            id=32, set=40, entry=12, team_key=240, team=80, model=80, link=300, access=10, size_=FLOAT, released_=DATE,
            file=64, file_name=100, bytes=INTEGER, channel=20, received=MOMENT, state=10, attempts=INTEGER,
            finished_=MOMENT, problems=JSON, removed=TEXT, current=BOOLEAN, outputs_=BYTES,
        ),
        sa.ForeignKeyConstraint(["set"], ["sets.name"], name="fk_submissions_set"),
        sa.PrimaryKeyConstraint("id", name="pk_submissions"),
    )  # fmt: skip
    op.create_index("ix_submissions_entry", "submissions", ["entry"])
    op.create_index("ix_submissions_state", "submissions", ["state"])
    op.create_index("ix_submissions_team_key_set_received", "submissions", ["team_key", "set", "received"])
    op.create_table(
        "tokens", *columns(hash=64, team=240, label=80, made=MOMENT, revoked_=MOMENT),
        sa.ForeignKeyConstraint(["team"], ["teams.key"], name="fk_tokens_team"),
        sa.PrimaryKeyConstraint("hash", name="pk_tokens"),
    )  # fmt: skip
    op.create_index("ix_tokens_team", "tokens", ["team"])
    op.create_table(
        "runs", *columns(id=INTEGER, submission=32, scored=MOMENT, short=8, signature=TEXT, result=JSON),
        sa.ForeignKeyConstraint(["submission"], ["submissions.id"], name="fk_runs_submission"),
        sa.PrimaryKeyConstraint("id", name="pk_runs"),
    )  # fmt: skip
    op.create_index("ix_runs_submission", "runs", ["submission"])
    op.create_table(
        "cells", *columns(
            run=INTEGER, mode=10, view=10, set=40, short=8, better_=INTEGER, worse_=INTEGER, figures=JSON,
            difference_=JSON, exact_means=BYTES, jaccard_means=BYTES, hits=BYTES,
        ),
        sa.ForeignKeyConstraint(["run"], ["runs.id"], name="fk_cells_run"),
        sa.PrimaryKeyConstraint("run", "mode", "view", name="pk_cells"),
    )  # fmt: skip
    op.create_index("ix_cells_set_mode_view_short", "cells", ["set", "mode", "view", "short"])
    sqlite = op.get_bind().dialect.name == "sqlite"
    for trigger in SQLITE_TRIGGERS if sqlite else POSTGRES_TRIGGERS:
        op.execute(trigger)
