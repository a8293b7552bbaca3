"""Between the sources and the journal: masks, correlates, appends, and tells the feed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

import msgspec

from tripleo_worker.correlate import Correlator
from tripleo_worker.events import Event, EventData, encode
from tripleo_worker.operations import Operation
from tripleo_worker.ports import Batch, DeadLetter, Entry, Filter, Journal
from tripleo_worker.redact import mask, mask_text

#: Characters of a message that could not be read that are kept.
BODY_KEPT = 65_536
#: Entries that are read at once when the correlator is filled.
_PAGE = 1000


class Intake:
    """The :class:`tripleo_worker.ports.Sink` of all sources.

    Args:
        journal: takes the batches.
        publish: is told of what the journal has taken, in order.
    """

    def __init__(self, journal: Journal, publish: Callable[[Sequence[Entry]], None]) -> None:
        self._journal = journal
        self._publish = publish
        self._correlator = Correlator()

    async def prepare(self) -> None:
        """Learn from the journal which stacks the open deployments work on.

        Raises:
            JournalUnavailable: it cannot be read.
        """
        for operation in reversed(await self._journal.operations(open_only=True)):
            await self._learn(operation.execution_id)

    async def submit(self, batch: Batch) -> None:
        """See :meth:`tripleo_worker.ports.Sink.submit`."""
        clean = msgspec.structs.replace(
            batch,
            events=tuple(
                self._correlator.relate(storable(masked(event))) for event in batch.events
            ),
            dead=tuple(cut(letter) for letter in batch.dead),
        )
        # A caller that is cancelled meanwhile must not keep what is stored from the listeners.
        await asyncio.shield(self._store(clean))

    async def marker(self, source: str) -> str | None:
        """See :meth:`tripleo_worker.ports.Sink.marker`."""
        return await self._journal.marker(source)

    async def open_operations(self) -> Sequence[Operation]:
        """See :meth:`tripleo_worker.ports.Sink.open_operations`."""
        return await self._journal.operations(open_only=True, limit=1000)

    async def _store(self, batch: Batch) -> None:
        self._publish(await self._journal.append(batch))

    async def _learn(self, execution: str) -> None:
        where = Filter(project=None, execution=execution)
        after = 0
        while True:
            page = await self._journal.read(after, where, _PAGE)
            for entry in page.entries:
                self._correlator.relate(entry.event)
            if page.upto == after:
                return
            after = page.upto


def masked(event: Event) -> Event:
    """The event with every secret in its data replaced."""
    data = msgspec.structs.replace(
        event.data, message=mask_text(event.data.message), payload=mask(event.data.payload)
    )
    return msgspec.structs.replace(event, data=data)


def storable(event: Event) -> Event:
    """The event as it can be written: what JSON cannot hold stands as text.

    Senders wrote halves of surrogate pairs, numbers past 64 bits, and nests without end.
    """
    try:
        encode(event)
    except (UnicodeError, OverflowError, RecursionError, TypeError, ValueError):
        whole = {
            name: _clean(value)
            for name, value in msgspec.structs.asdict(event).items()
            if isinstance(value, str)
        }
        data = EventData(
            status=event.data.status,
            message=_clean(event.data.message),
            payload={"unreadable": _clean(repr(event.data.payload))[:BODY_KEPT]},
        )
        return msgspec.structs.replace(event, data=data, **whole)
    return event


def _clean(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


def cut(letter: DeadLetter) -> DeadLetter:
    """The letter with its secrets replaced and a bounded body."""
    body = mask_text(_clean(letter.body[:BODY_KEPT]))
    return msgspec.structs.replace(
        letter, id=_clean(letter.id), body=body, reason=mask_text(_clean(letter.reason))
    )
