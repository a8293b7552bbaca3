"""Catch-up, then live: one cursor a subscriber over the journal.

The latest entries stand in one ring that all subscribers share. A cursor inside the ring
costs a slice; one that has fallen behind it reads the journal. So a slow or dead subscriber
holds a number, not a queue, and slows nobody.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from tripleo_worker.errors import InvalidPosition
from tripleo_worker.events import Position
from tripleo_worker.operations import Operation
from tripleo_worker.ports import Entry, Filter, Journal, Subscription

#: Entries that stand in the ring, and bytes of their text, each at most twice that.
RING, RING_BYTES = 4096, 16 * 1024 * 1024
#: Entries that a subscriber gets at once.
PAGE = 500
#: Operations in the snapshot of a subscriber that could not recover.
SNAPSHOT = 1000

EARLIEST, LATEST = "earliest", "latest"


class LiveFeed:
    """A :class:`tripleo_worker.ports.Feed` over a journal that this process writes."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._ring: list[Entry] = []
        self._weight = 0
        self._head: int | None = None
        self._news = asyncio.Event()
        self._cursors: set[Cursor] = set()

    @property
    def epoch(self) -> str:
        """The journal's."""
        return self._journal.epoch

    @property
    def subscribers(self) -> int:
        """How many are subscribed."""
        return len(self._cursors)

    async def head(self) -> int:
        """The last sequence that subscribers can get."""
        if self._head is None:
            stored = await self._journal.head()
            self._head = max(self._head or 0, stored)
        return self._head

    def publish(self, entries: Sequence[Entry]) -> None:
        """Tell the subscribers of entries that the journal has stored."""
        for entry in entries:
            if self._ring and entry.sequence != self._ring[-1].sequence + 1:
                # Not the next one: the journal knows what stands between.
                self._ring.clear()
                self._weight = 0
            self._ring.append(entry)
            self._weight += len(entry.text)
        if len(self._ring) > 2 * RING or self._weight > 2 * RING_BYTES:
            self._trim()
        if entries:
            self._head = max(self._head or 0, entries[-1].sequence)
            self._news.set()
            self._news = asyncio.Event()

    async def subscribe(self, since: str, where: Filter) -> Subscription:
        """See :meth:`tripleo_worker.ports.Feed.subscribe`."""
        head = await self.head()
        floor = await self._journal.floor()
        start = _start(since, self._journal.epoch, floor, head)
        if start is not None:
            return Cursor(self, where, start, recovered=True, operations=())
        # Events that are stored while the snapshot is read come again: folding skips them.
        return Cursor(self, where, head, recovered=False, operations=await self._snapshot(where))

    async def after(self, sequence: int, where: Filter) -> tuple[Sequence[Entry], int]:
        """The next entries after a sequence, and up to where was looked."""
        ring = self._ring
        if ring and ring[0].sequence <= sequence + 1:
            begin = sequence + 1 - ring[0].sequence
            window = ring[begin : begin + PAGE]
            if window:
                return [e for e in window if where.passes(e.event)], window[-1].sequence
        page = await self._journal.read(sequence, where, PAGE)
        return page.entries, page.upto

    def _trim(self) -> None:
        """Keep the newest entries, within the ring's number and weight."""
        kept, weight = 0, 0
        for entry in reversed(self._ring):
            if kept == RING or weight + len(entry.text) > RING_BYTES:
                break
            kept, weight = kept + 1, weight + len(entry.text)
        del self._ring[: len(self._ring) - kept]
        self._weight = weight

    async def _snapshot(self, where: Filter) -> Sequence[Operation]:
        """The operations that a subscriber asked for; open ones with their ledgers.

        Without its ledger an operation cannot be folded on: what was in progress would be
        counted once more when it is complete.
        """
        listed = await self._journal.operations(project=where.project, limit=SNAPSHOT)
        shown: list[Operation] = []
        for one in listed:
            if _asked_for(one, where):
                whole = None if one.terminal else await self._journal.operation(one.execution_id)
                shown.append(whole or one)
        return shown

    def join(self, cursor: Cursor) -> None:
        """Count a subscriber in."""
        self._cursors.add(cursor)

    def leave(self, cursor: Cursor) -> None:
        """Count a subscriber out."""
        self._cursors.discard(cursor)

    async def news(self, after: int, patience: float) -> bool:
        """Wait until something stands after a sequence; False if nothing did in time."""
        event = self._news
        if await self.head() > after:
            return True
        try:
            async with asyncio.timeout(patience):
                await event.wait()
        except TimeoutError:
            return False
        return True


class Cursor:
    """A :class:`tripleo_worker.ports.Subscription`."""

    def __init__(
        self,
        feed: LiveFeed,
        where: Filter,
        start: int,
        *,
        recovered: bool,
        operations: Sequence[Operation],
    ) -> None:
        self.recovered = recovered
        self.operations = operations
        self._feed = feed
        self._where = where
        self._at = start
        feed.join(self)

    @property
    def position(self) -> Position:
        """See :attr:`tripleo_worker.ports.Subscription.position`."""
        return Position(self._feed.epoch, self._at)

    async def next(self, patience: float) -> Sequence[Entry]:
        """See :meth:`tripleo_worker.ports.Subscription.next`."""
        loop = asyncio.get_running_loop()
        until = loop.time() + patience
        while await self._feed.news(self._at, max(until - loop.time(), 0)):
            entries, self._at = await self._feed.after(self._at, self._where)
            if entries:
                return entries
        return ()

    def close(self) -> None:
        """See :meth:`tripleo_worker.ports.Subscription.close`."""
        self._feed.leave(self)


def _start(since: str, epoch: str, floor: int, head: int) -> int | None:
    """The sequence to begin after; None where what follows the position is not all held."""
    if since == LATEST:
        return head
    if since == EARLIEST:
        return floor
    try:
        position = Position.parse(since)
    except InvalidPosition as error:
        raise InvalidPosition(
            error.message, remedy=f"{error.remedy[:-1]}, or earliest, or latest."
        ) from None
    held = position.epoch == epoch and floor <= position.sequence <= head
    return position.sequence if held else None


def _asked_for(operation: Operation, where: Filter) -> bool:
    return where.execution in ("", operation.execution_id) and where.plan in ("", operation.plan)
