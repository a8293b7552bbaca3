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
from tripleo_worker.ports import Batch, DeadLetter, Entry

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
        self._ended: set[str] = set()
        #: New events of each root execution, to be folded together at the end.
        self._later: dict[str, list[Event]] = {}

    def append(self, batches: Sequence[Batch]) -> list[tuple[Entry, ...]]:
        """Store batches, what is stored already left out; the caller commits.

        Statements are made for all of them at once: each costs more than the rows in it.

        Returns:
            The new entries of each batch.
        """
        known = set(self._known(event for batch in batches for event in batch.events))
        stored = [
            tuple(self._place(event) for event in _fresh(batch.events, known)) for batch in batches
        ]
        rows = [row(entry) for entries in stored for entry in entries]
        if rows:
            self._connection.execute(sa.insert(tables.events), rows)
            database.put(self._connection, "head", str(self._head))
        for execution, events in self._later.items():
            self._keep(operations.fold_all(self._folds[execution], events))
        markers = {batch.source: batch.marker for batch in batches if batch.marker is not None}
        for source, marker in markers.items():
            key, value = {"source": source}, {"marker": marker}
            database.upsert(self._connection, tables.markers, key, value)
        for letter in (letter for batch in batches for letter in batch.dead):
            self._set_aside(letter)
        return stored

    def _known(self, events: Iterable[Event]) -> Iterator[tuple[str, str]]:
        """Which of the events are stored, by source and id."""
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
        root = event.rootexecutionid
        placed = event.placed(Position(self._epoch, self._head))
        final = bool(root) and ends(event, ended=self._has_ended(root))
        if placed.final is not final:
            # A source's own mark counts for nothing.
            placed = msgspec.structs.replace(placed, final=final)
        if root:
            self._later.setdefault(root, []).append(placed)
            if final:
                self._ended.add(root)
        return Entry(sequence=self._head, event=placed, text=encode(placed))

    def _has_ended(self, root: str) -> bool:
        if root not in self._folds:
            stored = tables.operations.c
            query = sa.select(stored.text).where(stored.execution == root)
            text = self._connection.execute(query).scalar()
            fold = self._folds[root] = None if text is None else read_operation(text)
            if fold is not None and fold.terminal:
                self._ended.add(root)
        return root in self._ended

    def _keep(self, fold: Operation | None) -> None:
        if fold is None:
            return
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

    def _set_aside(self, letter: DeadLetter) -> None:
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


def _fresh(events: Iterable[Event], known: set[tuple[str, str]]) -> Iterator[Event]:
    """The events that are not known yet, each once; they are known from then on."""
    for event in events:
        key = event.source, short(event.id)
        if key not in known:
            known.add(key)
            yield event


def ends(event: Event, *, ended: bool) -> bool:
    """Whether an event is the one that ends its root execution.

    Args:
        event: the next one of that root execution.
        ended: whether one that stands before it did already.
    """
    status = event.data.status
    return (
        not ended
        and tells_outcome(event)
        and bool(event.executionid)
        and event.executionid == event.rootexecutionid
        and status is not None
        and status.terminal
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
