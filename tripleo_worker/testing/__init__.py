"""In-memory twins of the ports, for our tests and for those of users."""

from tripleo_worker.testing.journal import MemoryJournal

__all__ = ["MemoryJournal"]
