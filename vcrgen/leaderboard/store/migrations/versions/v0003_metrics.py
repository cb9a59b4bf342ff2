"""Sets name their task, and what ranks is kept by metric, so that a task may have others than the first one."""

import sqlalchemy as sa
from alembic import op

from vcrgen.leaderboard.store.schema import columns

revision = "0003"
down_revision = "0002"

METRICS = ("exact", "jaccard")  # each of which had a column of its own


def upgrade() -> None:
    """Move the means to a table with a row for each metric."""
    (task,) = columns(task_=20)
    op.add_column("sets", task)
    means = op.create_table(
        "means", *columns(run=sa.Integer, mode=10, view=10, metric=20, means=sa.LargeBinary),
        sa.ForeignKeyConstraint(["run"], ["runs.id"], name="fk_means_run"),
        sa.PrimaryKeyConstraint("run", "mode", "view", "metric", name="pk_means"),
    )  # fmt: skip
    cells = sa.table("cells", *map(sa.column, ("run", "mode", "view", *(f"{metric}_means" for metric in METRICS))))
    for metric in METRICS:
        kept = sa.select(cells.c.run, cells.c.mode, cells.c.view, sa.literal(metric), cells.c[f"{metric}_means"])
        op.execute(sa.insert(means).from_select(["run", "mode", "view", "metric", "means"], kept))
        op.drop_column("cells", f"{metric}_means")
