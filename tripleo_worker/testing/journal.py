"""A journal that keeps nothing but in memory."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from tripleo_worker import operations
from tripleo_worker.errors import JournalUnavailable
from tripleo_worker.events import Event, Position, encode
from tripleo_worker.journal.ledger import ends
from tripleo_worker.operations import Operation
from tripleo_worker.ports import Batch, DeadLetter, Entry, Filter, Page


class MemoryJournal:
    """A :class:`tripleo_worker.ports.Journal` with the same answers as a durable one.

    Attributes:
        dead: the letters that could not be read.
        broken: set it, and everything raises ``JournalUnavailable`` until it is unset.
    """

    def __init__(self, epoch: str = "memory") -> None:
        self.epoch = epoch
        self.dead: list[DeadLetter] = []
        self.broken = False
        self._entries: list[Entry] = []
        self._floor = 0
        self._keys: set[tuple[str, str]] = set()
        self._markers: dict[str, str] = {}
        self._operations: dict[str, Operation] = {}

    async def append(self, batch: Batch) -> tuple[Entry, ...]:
        """See :meth:`tripleo_worker.ports.Journal.append`."""
        self._check()
        for event in batch.events:
            # What cannot be written is refused before anything is kept.
            encode(event)
        stored = tuple(self._place(event) for event in batch.events if self._new(event))
        self.dead += batch.dead
        if batch.marker is not None:
            self._markers[batch.source] = batch.marker
        return stored

    async def read(self, after: int, where: Filter, limit: int) -> Page:
        """See :meth:`tripleo_worker.ports.Journal.read`."""
        self._check()
        later = [entry for entry in self._entries if entry.sequence > after]
        passing = [entry for entry in later if where.passes(entry.event)][:limit]
        full = len(passing) == limit
        upto = passing[-1].sequence if full else max(self._head, after)
        return Page(entries=tuple(passing), upto=upto)

    async def head(self) -> int:
        """See :meth:`tripleo_worker.ports.Journal.head`."""
        self._check()
        return self._head

    async def floor(self) -> int:
        """See :meth:`tripleo_worker.ports.Journal.floor`."""
        self._check()
        return self._floor

    async def marker(self, source: str) -> str | None:
        """See :meth:`tripleo_worker.ports.Journal.marker`."""
        self._check()
        return self._markers.get(source)

    async def operation(self, execution: str) -> Operation | None:
        """See :meth:`tripleo_worker.ports.Journal.operation`."""
        self._check()
        return self._operations.get(execution)

    async def operations(
        self, *, open_only: bool = False, project: str | None = None, limit: int = 100
    ) -> Sequence[Operation]:
        """See :meth:`tripleo_worker.ports.Journal.operations`."""
        self._check()
        found = [
            operations.brief(operation)
            for operation in self._operations.values()
            if not (open_only and operation.terminal)
            and (project is None or operation.project == project != "")
        ]
        return sorted(found, key=lambda operation: operation.started, reverse=True)[:limit]

    def prune(self, upto: int) -> None:
        """Forget the entries up to a sequence."""
        self._entries = [entry for entry in self._entries if entry.sequence > upto]
        self._floor = max(self._floor, upto)

    @property
    def _head(self) -> int:
        return self._entries[-1].sequence if self._entries else self._floor

    def _check(self) -> None:
        if self.broken:
            raise JournalUnavailable("The journal was told to be broken.")

    def _new(self, event: Event) -> bool:
        key = event.source, event.id
        new = key not in self._keys
        self._keys.add(key)
        return new

    def _place(self, event: Event) -> Entry:
        sequence = self._head + 1
        before = self._operations.get(event.rootexecutionid)
        placed = msgspec.structs.replace(
            event.placed(Position(self.epoch, sequence)),
            final=ends(event, ended=before is not None and before.terminal),
        )
        after = operations.fold(before, placed) if event.rootexecutionid else None
        if after is not None:
            self._operations[event.rootexecutionid] = after
        entry = Entry(sequence=sequence, event=placed, text=encode(placed))
        self._entries.append(entry)
        return entry
