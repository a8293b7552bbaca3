"""Handing a batch over, however long the journal takes."""

from __future__ import annotations

import asyncio

from tripleo_worker.errors import JournalUnavailable
from tripleo_worker.ports import Batch, Sink
from tripleo_worker.sources.health import Pulse
from tripleo_worker.sources.service import pauses

#: Longest pause between two tries to store a batch, in seconds.
LONGEST_PAUSE = 5.0


async def deliver(sink: Sink, batch: Batch, pulse: Pulse) -> None:
    """Submit a batch until the journal has it: what was read is not lost, and not passed by."""
    waits = pauses(LONGEST_PAUSE)
    while True:
        try:
            return await sink.submit(batch)
        except JournalUnavailable as error:
            pulse.fault(error)
            await asyncio.sleep(next(waits))


async def stored_marker(sink: Sink, source: str, pulse: Pulse) -> str | None:
    """The marker to go on from, as soon as the journal can tell it."""
    waits = pauses(LONGEST_PAUSE)
    while True:
        try:
            return await sink.marker(source)
        except JournalUnavailable as error:
            pulse.fault(error)
            await asyncio.sleep(next(waits))
