"""The one transaction that appends: places, ends, folds and markers together."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

import msgspec
import sqlalchemy as sa

from tripleo_worker import operations
from tripleo_worker.events import HEAT_RESOURCE, MISTRAL_TASK, Event, Position, encode
from tripleo_worker.journal import database, tables
from tripleo_worker.operations import Operation
from tripleo_worker.ports import Batch, Entry

#: End of the names of queues that carry finer progress.
PROGRESS = "-progress"

#: Ids that one query asks for.
_CHUNK = 400

_operation_encoder = msgspec.json.Encoder()
_operation_decoder = msgspec.json.Decoder(Operation)


class Ledger:
    """Appends batches within the transaction of a connection; made anew for each transaction."""

    def __init__(self, connection: sa.Connection, epoch: str) -> None:
        self._connection = connection
        self._epoch = epoch
        self._head = int(database.get(connection, "head") or 0)
        self._folds: dict[str, Operation | None] = {}
        self._touched: set[str] = set()

    def append(self, batch: Batch) -> tuple[Entry, ...]:
        """Store a batch; what is stored already is left out."""
        entries = tuple(self._place(event) for event in self._fresh(batch.events))
        if entries:
            self._connection.execute(sa.insert(tables.events), [row(entry) for entry in entries])
        if batch.marker is not None:
            key = {"source": batch.source}
            database.upsert(self._connection, tables.markers, key, {"marker": batch.marker})
        for letter in batch.dead:
            database.upsert(
                self._connection,
                tables.dead_letters,
                {"source": letter.source, "id": short(letter.id)},
                {
                    "reason": letter.reason,
                    "body": letter.body.encode(),
                    "time": letter.time.timestamp(),
                },
            )
        return entries

    def close(self) -> None:
        """Write the head and the folds; the caller commits."""
        database.put(self._connection, "head", str(self._head))
        for execution in self._touched:
            fold = self._folds[execution]
            if fold is not None:
                self._keep(fold)

    def _fresh(self, events: Sequence[Event]) -> Iterator[Event]:
        known = set(self._known(events))
        for event in events:
            key = event.source, short(event.id)
            if key not in known:
                known.add(key)
                yield event

    def _known(self, events: Iterable[Event]) -> Iterator[tuple[str, str]]:
        sources: dict[str, list[str]] = {}
        for event in events:
            sources.setdefault(event.source, []).append(short(event.id))
        stored = tables.events.c
        for source, ids in sources.items():
            for chunk in chunks(ids):
                query = sa.select(stored.id).where(stored.source == source, stored.id.in_(chunk))
                yield from ((source, found) for found in self._connection.execute(query).scalars())

    def _place(self, event: Event) -> Entry:
        self._head += 1
        before = self._fold(event.rootexecutionid) if event.rootexecutionid else None
        placed = event.placed(Position(self._epoch, self._head))
        placed = msgspec.structs.replace(placed, final=ends(before, event))
        if event.rootexecutionid:
            self._folds[event.rootexecutionid] = operations.fold(before, placed)
            self._touched.add(event.rootexecutionid)
        return Entry(sequence=self._head, event=placed, text=encode(placed))

    def _fold(self, execution: str) -> Operation | None:
        if execution not in self._folds:
            query = sa.select(tables.operations.c.text).where(
                tables.operations.c.execution == execution
            )
            text = self._connection.execute(query).scalar()
            self._folds[execution] = None if text is None else read_operation(text)
        return self._folds[execution]

    def _keep(self, fold: Operation) -> None:
        database.upsert(
            self._connection,
            tables.operations,
            {"execution": fold.execution_id},
            {
                "project": fold.project,
                "started": fold.started.timestamp(),
                "open": not fold.terminal,
                "text": _operation_encoder.encode(fold),
            },
        )


def ends(before: Operation | None, event: Event) -> bool:
    """Whether an event is the one that ends its root execution.

    Args:
        before: the fold of all events of that root execution that stand before it.
        event: the next one.
    """
    status = event.data.status
    return (
        tells_outcome(event)
        and bool(event.executionid)
        and event.executionid == event.rootexecutionid
        and status is not None
        and status.terminal
        and not (before is not None and before.terminal)
    )


def tells_outcome(event: Event) -> bool:
    """Whether an event's status is its execution's, and not that of a part of its work.

    Queues of finer progress are named so (``tripleo-progress``); tasks and Heat's resources
    have types of their own.
    """
    parts = event.type == HEAT_RESOURCE or event.type.startswith(MISTRAL_TASK)
    return not parts and not event.source.endswith(PROGRESS)


def row(entry: Entry) -> dict[str, object]:
    """An entry as a row of the table ``events``."""
    event = entry.event
    return {
        "sequence": entry.sequence,
        "source": event.source,
        "id": short(event.id),
        "type": event.type,
        "project": event.projectid,
        "plan": event.plan,
        "execution": event.executionid,
        "root": event.rootexecutionid,
        "time": event.time.timestamp(),
        "text": entry.text,
    }


def short(text: str) -> str:
    """An id as the index takes it: one that is too long is known by its digest."""
    if len(text) <= tables.ID_LENGTH:
        return text
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def read_operation(text: bytes) -> Operation:
    """An operation from the table ``operations``."""
    return _operation_decoder.decode(text)


def chunks(values: Sequence[str]) -> Iterator[list[str]]:
    """The values in pieces that one query takes."""
    rest = iter(values)
    while piece := list(islice(rest, _CHUNK)):
        yield piece
