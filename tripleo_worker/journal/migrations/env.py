"""Runs the migrations on the connection that the journal hands over."""

from __future__ import annotations

from alembic import context

from tripleo_worker.journal.tables import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    render_as_batch=True,
    transactional_ddl=True,
)
with context.begin_transaction():
    context.run_migrations()
