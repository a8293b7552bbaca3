"""Alembic's migrations of the journal; they run when it is opened."""
