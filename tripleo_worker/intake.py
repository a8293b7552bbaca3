"""Between the sources and the journal: masks, correlates, appends, and tells the feed."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from tripleo_worker.correlate import Correlator
from tripleo_worker.events import Event
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
            events=tuple(self._correlator.relate(masked(event)) for event in batch.events),
            dead=tuple(cut(letter) for letter in batch.dead),
        )
        self._publish(await self._journal.append(clean))

    async def marker(self, source: str) -> str | None:
        """See :meth:`tripleo_worker.ports.Sink.marker`."""
        return await self._journal.marker(source)

    async def open_operations(self) -> Sequence[Operation]:
        """See :meth:`tripleo_worker.ports.Sink.open_operations`."""
        return await self._journal.operations(open_only=True, limit=1000)

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


def cut(letter: DeadLetter) -> DeadLetter:
    """The letter with its secrets replaced and a bounded body."""
    body = mask_text(letter.body[:BODY_KEPT])
    return msgspec.structs.replace(letter, body=body, reason=mask_text(letter.reason))
