"""How fast the journal takes events, beside raw inserts of the same rows."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from statistics import median

from reporting import Report

from tripleo_worker.events import HEAT_RESOURCE, Event, EventData, encode
from tripleo_worker.journal import database, ledger
from tripleo_worker.journal.store import SqlJournal
from tripleo_worker.ports import Batch, Entry

#: Events of one measurement, events of a batch, and measurements, taken in turn.
EVENTS, BATCH, REPEATS = 10_000, 200, 5
#: Appends that wait at once, each of one event, and how many of them.
WAITING, SINGLE = 64, 2_000
#: Resources of the deployment whose events are folded.
RESOURCES = 500
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)

_files = count()


def plain(number: int) -> Event:
    """An event of about 500 bytes that belongs to no execution."""
    return Event(
        id=f"event-{number}",
        source="/notifications/ironic",
        type="baremetal.node.power_set.end",
        time=NOON,
        subject=f"node/{number % 50}",
        projectid="p" * 32,
        data=EventData(message="m" * 60, payload={"text": "t" * 150}),
    )


def resource(number: int) -> Event:
    """An event of a resource of one large deployment."""
    name = f"resource-{number % RESOURCES}"
    state = "IN_PROGRESS" if number // RESOURCES % 2 == 0 else "COMPLETE"
    return Event(
        id=f"heat-{number}",
        source="/zaqar/tripleo-progress",
        type=HEAT_RESOURCE,
        time=NOON,
        projectid="p" * 32,
        plan="overcloud",
        rootexecutionid="root",
        data=EventData(
            payload={
                "resource_name": name,
                "resource_status": state,
                "resource_action": "CREATE",
                "resource_type": "OS::Heat::Value",
                "physical_resource_id": name,
                "stack_id": "s" * 36,
            }
        ),
    )


def rows_raw(folder: Path) -> float:
    """Rows a second into the journal's own table, made beforehand, by the driver alone."""
    url = f"sqlite:///{folder}/raw-{next(_files)}.sqlite"
    with closing(database.connect(url).connect()) as connection:
        database.migrate(connection.engine)
    rows = [
        ledger.row(Entry(sequence=n, event=event, text=encode(event)))
        for n, event in enumerate(map(plain, range(1, EVENTS + 1)), 1)
    ]
    names = ", ".join(rows[0])
    values = ", ".join(f":{name}" for name in rows[0])
    with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as raw:
        raw.execute("PRAGMA synchronous = FULL")
        begun = time.perf_counter()
        for start in range(0, EVENTS, BATCH):
            insert = f"INSERT INTO events ({names}) VALUES ({values})"  # noqa: S608 - names of ours
            raw.executemany(insert, rows[start : start + BATCH])
            raw.commit()
        return EVENTS / (time.perf_counter() - begun)


def appended(
    folder: Path, make: Callable[[int], Event], total: int, size: int, at_once: int
) -> float:
    """Events a second that a new journal takes.

    Args:
        folder: for its file.
        make: an event by its number.
        total: how many.
        size: events of a batch.
        at_once: batches that wait at the same time.
    """

    async def work() -> float:
        journal = await SqlJournal.open(f"sqlite:///{folder}/journal-{next(_files)}.sqlite")
        batches = [
            Batch(source="bench", events=tuple(map(make, range(at, at + size))), marker=str(at))
            for at in range(0, total, size)
        ]
        rest = iter(batches)
        begun = time.perf_counter()
        await asyncio.gather(*(_append(journal, rest) for _ in range(at_once)))
        seconds = time.perf_counter() - begun
        await journal.close()
        return total / seconds

    return asyncio.run(work())


async def _append(journal: SqlJournal, batches: Iterator[Batch]) -> None:
    for batch in batches:
        await journal.append(batch)


def run(report: Report) -> None:
    """Measure each in turn, so that what else the machine does falls on all alike."""
    folder = report.scratch
    raw, batched, folded, single = [], [], [], []
    for _ in range(REPEATS):
        raw.append(rows_raw(folder))
        batched.append(appended(folder, plain, EVENTS, BATCH, 4))
        folded.append(appended(folder, resource, EVENTS, BATCH, 4))
        single.append(appended(folder, plain, SINGLE, 1, WAITING))
    ratio = median(ours / theirs for ours, theirs in zip(batched, raw, strict=True))
    report.inform("append, share of raw inserts", ratio, unit="")
    report.inform(
        f"append, batches of {BATCH}",
        median(batched),
        unit="events/s",
        peer="raw SQLite inserts",
        peer_value=round(median(raw)),
    )
    report.inform(f"append, a deployment of {RESOURCES} resources", median(folded), unit="events/s")
    report.inform(f"append, {WAITING} single events at once", median(single), unit="events/s")
    report.note("Durable: each group of batches is on disk (WAL, synchronous=FULL) when it ends.")
