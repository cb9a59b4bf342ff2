"""A question set may have many languages."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Make room for their codes. SQLite cannot change a column, and holds to no length."""
    if op.get_bind().dialect.name != "sqlite":
        op.alter_column("sets", "language", type_=sa.Text())
