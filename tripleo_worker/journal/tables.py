"""What stands in the journal's database."""

from __future__ import annotations

import sqlalchemy as sa

#: Longest source and id that are stored as they are; both stand in one unique index.
SOURCE_LENGTH, ID_LENGTH = 191, 191

metadata = sa.MetaData()

_Sequence = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_Blob = sa.LargeBinary().with_variant(sa.LargeBinary(2**32 - 1), "mysql", "mariadb")

events = sa.Table(
    "events",
    metadata,
    sa.Column("sequence", _Sequence, primary_key=True, autoincrement=False),
    sa.Column("source", sa.String(SOURCE_LENGTH), nullable=False),
    sa.Column("id", sa.String(ID_LENGTH), nullable=False),
    sa.Column("type", sa.String(255), nullable=False),
    sa.Column("project", sa.String(64), nullable=False),
    sa.Column("plan", sa.String(255), nullable=False),
    sa.Column("execution", sa.String(64), nullable=False),
    sa.Column("root", sa.String(64), nullable=False),
    # Seconds since 1970, by the source's clock: for retention alone.
    sa.Column("time", sa.Double(), nullable=False),
    # The event as JSON: what listeners get.
    sa.Column("text", _Blob, nullable=False),
    sa.UniqueConstraint("source", "id", name="events_stored_once"),
    sa.Index("events_of_execution", "execution", "sequence"),
    sa.Index("events_of_root", "root", "sequence"),
)

markers = sa.Table(
    "markers",
    metadata,
    sa.Column("source", sa.String(SOURCE_LENGTH), primary_key=True),
    sa.Column("marker", sa.Text(), nullable=False),
)

dead_letters = sa.Table(
    "dead_letters",
    metadata,
    sa.Column("source", sa.String(SOURCE_LENGTH), primary_key=True),
    sa.Column("id", sa.String(ID_LENGTH), primary_key=True),
    sa.Column("reason", sa.Text(), nullable=False),
    sa.Column("body", _Blob, nullable=False),
    sa.Column("time", sa.Double(), nullable=False),
)

operations = sa.Table(
    "operations",
    metadata,
    sa.Column("execution", sa.String(64), primary_key=True),
    sa.Column("project", sa.String(64), nullable=False),
    sa.Column("started", sa.Double(), nullable=False),
    sa.Column("open", sa.Boolean(), nullable=False),
    # The fold as JSON, with its ledger.
    sa.Column("text", _Blob, nullable=False),
    sa.Index("operations_by_start", "started"),
    sa.Index("operations_open", "open"),
)

#: ``epoch``: this journal's name; ``head``: the last sequence; ``floor``: the last one pruned.
meta = sa.Table(
    "meta",
    metadata,
    sa.Column("name", sa.String(32), primary_key=True),
    sa.Column("value", sa.String(64), nullable=False),
)
