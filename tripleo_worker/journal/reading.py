"""Reading the journal: pages of events, operations, markers."""

from __future__ import annotations

from collections.abc import Sequence

import sqlalchemy as sa

from tripleo_worker.events import decode
from tripleo_worker.journal import database, tables
from tripleo_worker.journal.ledger import read_operation
from tripleo_worker.operations import Operation, brief
from tripleo_worker.ports import Entry, Filter, Page

#: Sequences that one read looks through at most, so that a filter that lets little pass
#: neither holds a connection for long nor hides how far it came.
SCANNED = 20_000
#: Bytes of text after which a page is full: it bounds what one reader costs.
PAGE_BYTES = 4 * 1024 * 1024


def page(connection: sa.Connection, after: int, where: Filter, limit: int) -> Page:
    """The next entries after a sequence that pass; see :meth:`ports.Journal.read`."""
    head = number(connection, "head")
    last = min(head, after + SCANNED)
    stored = tables.events
    query = (
        sa.select(stored.c.sequence, stored.c.text)
        .where(stored.c.sequence > after, stored.c.sequence <= last, *conditions(where))
        .order_by(stored.c.sequence)
        .limit(limit)
    )
    entries: list[Entry] = []
    size = 0
    for sequence, text in connection.execute(query):
        entries.append(Entry(sequence=sequence, event=decode(text), text=text))
        size += len(text)
        if len(entries) == limit or size >= PAGE_BYTES:
            return Page(entries=tuple(entries), upto=sequence)
    return Page(entries=tuple(entries), upto=max(last, after))


def conditions(where: Filter) -> list[sa.ColumnElement[bool]]:
    """A filter as the database reads it; :meth:`Filter.passes` says the same in Python."""
    stored = tables.events.c
    found: list[sa.ColumnElement[bool]] = []
    if where.project is not None:
        found += [stored.project == where.project, stored.project != ""]
    if where.execution:
        found.append(sa.or_(stored.execution == where.execution, stored.root == where.execution))
    if where.plan:
        found.append(stored.plan == where.plan)
    if where.type:
        found.append(stored.type.startswith(where.type, autoescape=True))
        # LIKE takes no notice of case on some databases; types do.
        found.append(sa.func.substr(stored.type, 1, len(where.type)) == where.type)
    return found


def number(connection: sa.Connection, name: str) -> int:
    """A count of the table ``meta``; 0 where it is not there yet."""
    return int(database.get(connection, name) or 0)


def marker(connection: sa.Connection, source: str) -> str | None:
    """The marker of a source."""
    query = sa.select(tables.markers.c.marker).where(tables.markers.c.source == source)
    found: str | None = connection.execute(query).scalar()
    return found


def operation(connection: sa.Connection, execution: str) -> Operation | None:
    """The fold of a root execution's events."""
    stored = tables.operations.c
    query = sa.select(stored.text).where(stored.execution == execution)
    text = connection.execute(query).scalar()
    return None if text is None else read_operation(text)


def operations(
    connection: sa.Connection, *, open_only: bool, project: str | None, limit: int
) -> Sequence[Operation]:
    """The operations, last started first, without their ledgers."""
    stored = tables.operations.c
    query = sa.select(stored.text).order_by(stored.started.desc(), stored.execution).limit(limit)
    if open_only:
        query = query.where(stored.open)
    if project is not None:
        query = query.where(stored.project == project, stored.project != "")
    return [brief(read_operation(text)) for text in connection.execute(query).scalars()]
