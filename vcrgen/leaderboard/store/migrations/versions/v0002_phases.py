"""Sets have phases, teams groups, and a file is private, chosen, or shown by a ladder; what is null is as it was."""

from typing import Any

import sqlalchemy as sa
from alembic import op

from vcrgen.leaderboard.store.schema import columns

revision = "0002"
down_revision = "0001"

ADDED: dict[str, dict[str, Any]] = {
    "sets": {"phase_": sa.JSON},
    "teams": {"group_": 240},
    "submissions": {"asked_": sa.Integer, "best_": sa.Float, "chosen_": sa.Boolean, "private_": sa.Boolean},
    "runs": {"part_": 10},
}


def upgrade() -> None:
    """Add the columns."""
    for table, kinds in ADDED.items():
        for column in columns(**kinds):
            op.add_column(table, column)
    op.create_index("ix_teams_group", "teams", ["group"])
