"""The tables of the first version, and a log that the database itself keeps from being changed."""

import sqlalchemy as sa
from alembic import op

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


def upgrade() -> None:
    """Make them."""
    op.create_table(
        "events",
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("actor", sa.String(length=100), nullable=False),
        sa.Column("what", sa.String(length=20), nullable=False),
        sa.Column("subject", sa.String(length=100), nullable=False),
        sa.Column("facts", sa.JSON(), nullable=False),
        sa.Column("chain", sa.String(length=64), nullable=False),
        sa.PrimaryKeyConstraint("number", name="pk_events"),
    )
    op.create_table(
        "quoted",
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("source", sa.String(length=300), nullable=False),
        sa.Column("url", sa.String(length=300), nullable=False),
        sa.Column("data", sa.String(length=300), nullable=False),
        sa.Column("items", sa.Integer()),
        sa.Column("language", sa.String(length=20), nullable=False),
        sa.Column("mode", sa.String(length=10), nullable=False),
        sa.Column("view", sa.String(length=10), nullable=False),
        sa.Column("model", sa.String(length=80), nullable=False),
        sa.Column("access", sa.String(length=10), nullable=False),
        sa.Column("size", sa.Float()),
        sa.Column("released", sa.Date()),
        sa.Column("exact", sa.Float()),
        sa.Column("exact_sd", sa.Float()),
        sa.Column("jaccard", sa.Float()),
        sa.Column("jaccard_sd", sa.Float()),
        sa.Column("corrected", sa.String(length=300), nullable=False),
        sa.Column("note", sa.String(length=300), nullable=False),
        sa.PrimaryKeyConstraint("number", name="pk_quoted"),
    )
    op.create_table(
        "sets",
        sa.Column("name", sa.String(length=40), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("hidden", sa.Boolean(), nullable=False),
        sa.Column("language", sa.String(length=20), nullable=False),
        sa.Column("questions", sa.Integer(), nullable=False),
        sa.Column("spans", sa.Integer(), nullable=False),
        sa.Column("modes", sa.JSON(), nullable=False),
        sa.Column("signature", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_sets"),
    )
    op.create_table(
        "teams",
        sa.Column("key", sa.String(length=240), nullable=False),
        sa.Column("name", sa.String(length=80), nullable=False),
        sa.PrimaryKeyConstraint("key", name="pk_teams"),
    )
    op.create_table(
        "submissions",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("set", sa.String(length=40), nullable=False),
        sa.Column("entry", sa.String(length=12), nullable=False),
        sa.Column("team_key", sa.String(length=240), nullable=False),
        sa.Column("team", sa.String(length=80), nullable=False),
        sa.Column("model", sa.String(length=80), nullable=False),
        sa.Column("link", sa.String(length=300), nullable=False),
        sa.Column("access", sa.String(length=10), nullable=False),
        sa.Column("size", sa.Float()),
        sa.Column("released", sa.Date()),
        sa.Column("file", sa.String(length=64), nullable=False),
        sa.Column("file_name", sa.String(length=100), nullable=False),
        sa.Column("bytes", sa.Integer(), nullable=False),
        sa.Column("channel", sa.String(length=20), nullable=False),
        sa.Column("received", sa.DateTime(timezone=True), nullable=False),
        sa.Column("state", sa.String(length=10), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("finished", sa.DateTime(timezone=True)),
        sa.Column("problems", sa.JSON(), nullable=False),
        sa.Column("removed", sa.Text(), nullable=False),
        sa.Column("current", sa.Boolean(), nullable=False),
        sa.Column("outputs", sa.LargeBinary()),
        sa.ForeignKeyConstraint(["set"], ["sets.name"], name="fk_submissions_set"),
        sa.PrimaryKeyConstraint("id", name="pk_submissions"),
    )
    op.create_index("ix_submissions_entry", "submissions", ["entry"])
    op.create_index("ix_submissions_state", "submissions", ["state"])
    op.create_index("ix_submissions_team_key_set_received", "submissions", ["team_key", "set", "received"])
    op.create_table(
        "tokens",
        sa.Column("hash", sa.String(length=64), nullable=False),
        sa.Column("team", sa.String(length=240), nullable=False),
        sa.Column("label", sa.String(length=80), nullable=False),
        sa.Column("made", sa.DateTime(timezone=True), nullable=False),
        sa.Column("revoked", sa.DateTime(timezone=True)),
        sa.ForeignKeyConstraint(["team"], ["teams.key"], name="fk_tokens_team"),
        sa.PrimaryKeyConstraint("hash", name="pk_tokens"),
    )
    op.create_index("ix_tokens_team", "tokens", ["team"])
    op.create_table(
        "runs",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("submission", sa.String(length=32), nullable=False),
        sa.Column("scored", sa.DateTime(timezone=True), nullable=False),
        sa.Column("short", sa.String(length=8), nullable=False),
        sa.Column("signature", sa.Text(), nullable=False),
        sa.Column("result", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["submission"], ["submissions.id"], name="fk_runs_submission"),
        sa.PrimaryKeyConstraint("id", name="pk_runs"),
    )
    op.create_index("ix_runs_submission", "runs", ["submission"])
    op.create_table(
        "cells",
        sa.Column("run", sa.Integer(), nullable=False),
        sa.Column("mode", sa.String(length=10), nullable=False),
        sa.Column("view", sa.String(length=10), nullable=False),
        sa.Column("set", sa.String(length=40), nullable=False),
        sa.Column("short", sa.String(length=8), nullable=False),
        sa.Column("better", sa.Integer()),
        sa.Column("worse", sa.Integer()),
        sa.Column("figures", sa.JSON(), nullable=False),
        sa.Column("difference", sa.JSON()),
        sa.Column("exact_means", sa.LargeBinary(), nullable=False),
        sa.Column("jaccard_means", sa.LargeBinary(), nullable=False),
        sa.Column("hits", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["run"], ["runs.id"], name="fk_cells_run"),
        sa.PrimaryKeyConstraint("run", "mode", "view", name="pk_cells"),
    )
    op.create_index("ix_cells_set_mode_view_short", "cells", ["set", "mode", "view", "short"])
    sqlite = op.get_bind().dialect.name == "sqlite"
    for trigger in SQLITE_TRIGGERS if sqlite else POSTGRES_TRIGGERS:
        op.execute(trigger)
