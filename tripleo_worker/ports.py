"""The ports between the rooms: what a source hands over, and what takes it.

``sources → intake → journal → feed → gateway``: a source knows a :class:`Sink` only; the
intake that implements it masks, correlates and appends; nothing flows back but the word
that a batch is durable.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

import msgspec

from tripleo_worker.events import Event, Position
from tripleo_worker.operations import Operation


class DeadLetter(msgspec.Struct, frozen=True, kw_only=True):
    """A message that could not be read; kept aside with its reason, it blocks nobody."""

    #: The source's own identifier, or a digest of the body where it has none.
    id: str
    source: str
    reason: str
    #: The message as it came; bytes that are not UTF-8 stand as backslash escapes.
    body: str
    time: datetime


class Batch(msgspec.Struct, frozen=True, kw_only=True):
    """What one source hands over at once: stored whole, with its marker, or not at all."""

    #: Name of the source, e.g. ``zaqar/tripleo``; owner of the marker.
    source: str
    events: tuple[Event, ...] = ()
    #: Where the source goes on after this batch; None leaves the stored one as it is.
    marker: str | None = None
    dead: tuple[DeadLetter, ...] = ()


class Health(msgspec.Struct, frozen=True, kw_only=True):
    """How a source fares."""

    ok: bool
    #: A sentence for people: what is wrong and since when, or empty.
    detail: str = ""
    #: When something was last heard from the service; None: never yet.
    last_contact: datetime | None = None


class Sink(Protocol):
    """Takes batches from the sources."""

    async def submit(self, batch: Batch) -> None:
        """Store a batch; return once it is durable.

        A batch may be submitted again after an error: events are stored once by
        ``(source, id)``.

        Raises:
            JournalUnavailable: nothing was stored; submit again later.
        """

    async def marker(self, source: str) -> str | None:
        """The marker stored with the last batch of a source; None at the first start."""

    async def open_operations(self) -> Sequence[Operation]:
        """The operations whose end the journal does not have yet, without their ledgers."""


class Source(Protocol):
    """Follows one service and hands over what it says."""

    name: str

    async def run(self, sink: Sink) -> None:
        """Follow until cancelled; connection losses are the source's own affair."""

    def health(self) -> Health:
        """How the source fares now."""


class Filter(msgspec.Struct, frozen=True, kw_only=True):
    """Which events a subscriber gets; an empty field takes all."""

    #: An execution and all below it: ``executionid`` or ``rootexecutionid``.
    execution: str = ""
    plan: str = ""
    #: Prefix of the type.
    type: str = ""
    #: The project whose events may be seen; None: those of all, for administrators.
    project: str | None = ""

    def passes(self, event: Event) -> bool:
        """Whether the subscriber gets the event."""
        return (
            (self.project is None or event.projectid == self.project != "")
            and self.execution in ("", event.executionid, event.rootexecutionid)
            and self.plan in ("", event.plan)
            and event.type.startswith(self.type)
        )


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """A stored event with its text, encoded once and sent to every subscriber as it is."""

    sequence: int
    event: Event
    #: :func:`tripleo_worker.events.encode` of the event.
    text: bytes


class Page(msgspec.Struct, frozen=True, kw_only=True):
    """Entries of the journal, in ascending order."""

    entries: tuple[Entry, ...] = ()
    #: Everything up to it was considered, whether it passed or not; go on after it.
    upto: int


class Journal(Protocol):
    """The durable log; one writer, any number of readers. Safe to call from one event loop."""

    #: Names this journal; part of every position.
    epoch: str

    async def append(self, batch: Batch) -> tuple[Entry, ...]:
        """Store a batch in one transaction: events, folds, marker and dead letters.

        An event whose ``(source, id)`` is stored already is left out. Each new one gets the
        next sequence; the first terminal event of a root execution is marked ``final``; the
        operation that it belongs to is folded on.

        Returns:
            The entries that are new, in order.

        Raises:
            JournalUnavailable: nothing was stored.
        """

    async def read(self, after: int, where: Filter, limit: int) -> Page:
        """The next entries after a sequence that pass, at most ``limit``.

        ``upto`` never passes the head, nor an entry that is not in the page.
        """

    async def head(self) -> int:
        """The last sequence; 0 in an empty journal."""

    async def floor(self) -> int:
        """The lowest sequence after which everything is still held; 0 before any pruning."""

    async def marker(self, source: str) -> str | None:
        """The marker stored with the last batch of a source."""

    async def operation(self, execution: str) -> Operation | None:
        """The fold of a root execution's events, ledger included."""

    async def operations(
        self, *, open_only: bool = False, project: str | None = None, limit: int = 100
    ) -> Sequence[Operation]:
        """The operations, last started first, without their ledgers."""


class Subscription(Protocol):
    """One subscriber's cursor; it never holds more than a page."""

    #: Whether every event after ``since`` follows; if not, ``operations`` is the state instead.
    recovered: bool
    #: The operations at ``position``, where nothing could be recovered; else empty.
    operations: Sequence[Operation]

    @property
    def position(self) -> Position:
        """Up to where everything that passes was handed out."""

    async def next(self, patience: float) -> Sequence[Entry]:
        """The next entries, as soon as there is one; none after ``patience`` seconds.

        Raises:
            JournalUnavailable: nothing can be read; the position has not moved.
        """

    def close(self) -> None:
        """Leave."""


class Feed(Protocol):
    """Catch-up, then live."""

    async def subscribe(self, since: str, where: Filter) -> Subscription:
        """Begin after a position (``EPOCH:SEQUENCE``), at ``earliest``, or at ``latest``.

        Raises:
            InvalidPosition: ``since`` is none of these.
            JournalUnavailable: nothing can be read.
        """
