"""The first tables."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

_SEQUENCE = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_BLOB = sa.LargeBinary().with_variant(sa.LargeBinary(2**32 - 1), "mysql", "mariadb")


def upgrade() -> None:
    """Make them."""
    op.create_table(
        "events",
        sa.Column("sequence", _SEQUENCE, primary_key=True, autoincrement=False),
        sa.Column("source", sa.String(191), nullable=False),
        sa.Column("id", sa.String(191), nullable=False),
        sa.Column("type", sa.String(255), nullable=False),
        sa.Column("project", sa.String(64), nullable=False),
        sa.Column("plan", sa.String(255), nullable=False),
        sa.Column("execution", sa.String(64), nullable=False),
        sa.Column("root", sa.String(64), nullable=False),
        sa.Column("time", sa.Double(), nullable=False),
        sa.Column("text", _BLOB, nullable=False),
        sa.UniqueConstraint("source", "id", name="events_stored_once"),
    )
    op.create_index("events_of_execution", "events", ["execution", "sequence"])
    op.create_index("events_of_root", "events", ["root", "sequence"])
    op.create_table(
        "markers",
        sa.Column("source", sa.String(191), primary_key=True),
        sa.Column("marker", sa.Text(), nullable=False),
    )
    op.create_table(
        "dead_letters",
        sa.Column("source", sa.String(191), primary_key=True),
        sa.Column("id", sa.String(191), primary_key=True),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("body", _BLOB, nullable=False),
        sa.Column("time", sa.Double(), nullable=False),
    )
    op.create_table(
        "operations",
        sa.Column("execution", sa.String(64), primary_key=True),
        sa.Column("project", sa.String(64), nullable=False),
        sa.Column("started", sa.Double(), nullable=False),
        sa.Column("open", sa.Boolean(), nullable=False),
        sa.Column("text", _BLOB, nullable=False),
    )
    op.create_index("operations_by_start", "operations", ["started"])
    op.create_index("operations_open", "operations", ["open"])
    op.create_table(
        "meta",
        sa.Column("name", sa.String(32), primary_key=True),
        sa.Column("value", sa.String(64), nullable=False),
    )
