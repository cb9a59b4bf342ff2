"""Quoted rows may be of question sets, which have other figures."""

import sqlalchemy as sa
from alembic import op

from vcrgen.leaderboard.store.schema import columns

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Add their figures."""
    for column in columns(rae_=sa.Float, lbs_=sa.Float):
        op.add_column("quoted", column)
