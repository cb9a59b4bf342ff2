"""People stand beside models, with the scores that studies report."""

import sqlalchemy as sa
from alembic import op

from vcrgen.leaderboard.store.schema import columns

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Add the table of their scores."""
    op.create_table(
        "people", *columns(
            study=16, set=40, data=64, mode=10, view=10, people=sa.Integer, items=sa.Integer, spans=sa.Integer,
            exact=sa.Float, low=sa.Float, high=sa.Float, sd_=sa.Float, threshold_=sa.JSON(none_as_null=True),
        ),
        sa.PrimaryKeyConstraint("study", "set", "mode", "view", name="pk_people"),
    )  # fmt: skip
