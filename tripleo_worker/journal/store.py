"""The journal on a database: one writing thread, a few that read.

Appends that come together are committed together (group commit): each batch stays whole,
and a fault of one is not the fault of the others.
"""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple, Self, TypeVar

import sqlalchemy as sa

from tripleo_worker.errors import JournalUnavailable
from tripleo_worker.journal import database, reading
from tripleo_worker.journal.ledger import Ledger
from tripleo_worker.operations import Operation
from tripleo_worker.ports import Batch, Entry, Filter, Page

#: Batches that one transaction takes at most.
GROUP = 64
#: Threads that read, each with a connection of its own.
READERS = 4

T = TypeVar("T")
Entries = tuple[Entry, ...]


class _Waiting(NamedTuple):
    batch: Batch
    done: asyncio.Future[Entries]


class SqlJournal:
    """A :class:`tripleo_worker.ports.Journal` in an SQL database.

    One process writes. Made by :meth:`open`; to be closed.
    """

    def __init__(self, engine: sa.Engine, epoch: str) -> None:
        self.epoch = epoch
        self._engine = engine
        self._loop = asyncio.get_running_loop()
        self._waiting: queue.SimpleQueue[_Waiting | None] = queue.SimpleQueue()
        self._readers = ThreadPoolExecutor(READERS, thread_name_prefix="journal-read")
        self._writer = threading.Thread(target=self._write, name="journal-write", daemon=True)
        self._writer.start()
        self._closed = False

    @classmethod
    async def open(cls, url: str) -> Self:
        """Open a journal; a new one is made, an older one brought to the newest form.

        Args:
            url: of the database, in SQLAlchemy's form.

        Raises:
            InvalidInput: the URL is none that can be used.
            JournalUnavailable: the database cannot be reached or written.
        """
        engine, epoch = await asyncio.to_thread(_opened, url)
        return cls(engine, epoch)

    async def close(self) -> None:
        """Write what waits, then let go of the database."""
        if self._closed:
            return
        self._closed = True
        self._waiting.put(None)
        await asyncio.to_thread(self._writer.join)
        await asyncio.to_thread(self._readers.shutdown)
        await asyncio.to_thread(self._engine.dispose)

    async def append(self, batch: Batch) -> Entries:
        """See :meth:`tripleo_worker.ports.Journal.append`."""
        if self._closed:
            raise JournalUnavailable("The journal is closed.")
        done = self._loop.create_future()
        self._waiting.put(_Waiting(batch, done))
        return await asyncio.shield(done)

    async def read(self, after: int, where: Filter, limit: int) -> Page:
        """See :meth:`tripleo_worker.ports.Journal.read`."""
        return await self._read(lambda connection: reading.page(connection, after, where, limit))

    async def head(self) -> int:
        """See :meth:`tripleo_worker.ports.Journal.head`."""
        return await self._read(lambda connection: reading.number(connection, "head"))

    async def floor(self) -> int:
        """See :meth:`tripleo_worker.ports.Journal.floor`."""
        return await self._read(lambda connection: reading.number(connection, "floor"))

    async def marker(self, source: str) -> str | None:
        """See :meth:`tripleo_worker.ports.Journal.marker`."""
        return await self._read(lambda connection: reading.marker(connection, source))

    async def operation(self, execution: str) -> Operation | None:
        """See :meth:`tripleo_worker.ports.Journal.operation`."""
        return await self._read(lambda connection: reading.operation(connection, execution))

    async def operations(
        self, *, open_only: bool = False, project: str | None = None, limit: int = 100
    ) -> Sequence[Operation]:
        """See :meth:`tripleo_worker.ports.Journal.operations`."""
        return await self._read(
            lambda connection: reading.operations(
                connection, open_only=open_only, project=project, limit=limit
            )
        )

    async def _read(self, work: Callable[[sa.Connection], T]) -> T:
        if self._closed:
            raise JournalUnavailable("The journal is closed.")

        def locked() -> T:
            with database.guarded(), self._engine.connect() as connection:
                return work(connection)

        return await self._loop.run_in_executor(self._readers, locked)

    def _write(self) -> None:
        while (first := self._waiting.get()) is not None:
            group = [first]
            last = False
            while len(group) < GROUP and not self._waiting.empty():
                item = self._waiting.get()
                if item is None:
                    last = True
                    break
                group.append(item)
            self._commit(group)
            if last:
                return

    def _commit(self, group: list[_Waiting]) -> None:
        try:
            stored = self._append([item.batch for item in group])
        except Exception as error:
            if len(group) == 1 or database.unavailable(error):
                for item in group:
                    self._tell(item.done, error)
            else:
                for item in group:
                    self._commit([item])
            return
        for item, entries in zip(group, stored, strict=True):
            self._tell(item.done, entries)

    def _append(self, batches: list[Batch]) -> list[Entries]:
        with database.writing(self._engine) as connection:
            return Ledger(connection, self.epoch).append(batches)

    def _tell(self, done: asyncio.Future[Entries], outcome: Entries | Exception) -> None:
        def tell() -> None:
            if done.cancelled():
                return
            if isinstance(outcome, Exception):
                done.set_exception(outcome)
            else:
                done.set_result(outcome)

        try:
            self._loop.call_soon_threadsafe(tell)
        except RuntimeError:
            # The loop is gone, and with it whoever waited; what was stored stays stored.
            return


def _opened(url: str) -> tuple[sa.Engine, str]:
    engine = database.connect(url)
    try:
        database.migrate(engine)
        with database.writing(engine) as connection:
            return engine, database.identify(connection)
    except BaseException:
        engine.dispose()
        raise
