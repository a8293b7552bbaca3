"""The ports between the rooms: what a source hands over, and what takes it.

``sources → intake → journal → feed → gateway``: a source knows a :class:`Sink` only; the
intake that implements it masks, correlates and appends; nothing flows back but the word
that a batch is durable.
"""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

import msgspec

from tripleo_worker.events import Event


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


class Source(Protocol):
    """Follows one service and hands over what it says."""

    name: str

    async def run(self, sink: Sink) -> None:
        """Follow until cancelled; connection losses are the source's own affair."""

    def health(self) -> Health:
        """How the source fares now."""
