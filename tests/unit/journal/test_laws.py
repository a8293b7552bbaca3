"""Laws of the journal: for any batches, in any order, delivered any number of times."""

import asyncio
import contextlib
import functools
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.unit.journal.events_made import ALL, batches
from tripleo_worker.events import decode
from tripleo_worker.journal import database
from tripleo_worker.journal.store import SqlJournal
from tripleo_worker.operations import brief, fold_all
from tripleo_worker.ports import Filter
from tripleo_worker.testing import MemoryJournal

laws = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@functools.cache
def empty():
    """The file of a new journal: migrating one for each example would take long."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "journal.sqlite")
        engine = database.connect(f"sqlite:///{path}")
        database.migrate(engine)
        engine.dispose()
        return path.read_bytes()


@contextlib.asynccontextmanager
async def opened(path):
    journal = await SqlJournal.open(f"sqlite:///{path}")
    try:
        yield journal
    finally:
        await journal.close()


def in_journal(work):
    async def run(path):
        await work(MemoryJournal())
        async with opened(path) as journal:
            await work(journal)

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "journal.sqlite")
        path.write_bytes(empty())
        asyncio.run(run(path))


@laws
@given(batches)
def test_places_are_dense_and_each_event_stands_once(made):
    async def work(journal):
        stored = [entry for one in made for entry in await journal.append(one)]
        again = [entry for one in made for entry in await journal.append(one)]
        assert [entry.sequence for entry in stored] == list(range(1, len(stored) + 1))
        keys = [(entry.event.source, entry.event.id) for entry in stored]
        assert len(set(keys)) == len(keys)
        assert set(keys) == {(e.source, e.id) for one in made for e in one.events}
        assert again == []

    in_journal(work)


@laws
@given(batches, st.integers(1, 5), st.integers(0, 40))
def test_reading_from_any_place_gives_exactly_what_is_later(made, limit, start):
    async def work(journal):
        stored = [entry for one in made for entry in await journal.append(one)]
        after, got = start, []
        while True:
            page = await journal.read(after, ALL, limit)
            got += page.entries
            if page.upto == after:
                break
            after = page.upto
        assert got == [entry for entry in stored if entry.sequence > start]
        assert all(decode(entry.text) == entry.event for entry in got)

    in_journal(work)


@laws
@given(
    batches,
    st.builds(
        Filter,
        execution=st.sampled_from(["", "x", "child"]),
        project=st.sampled_from([None, "", "p", "q"]),
        type=st.sampled_from(["", "t", "u"]),
    ),
)
def test_the_database_and_the_filter_pass_the_same(made, where):
    async def work(journal):
        stored = [entry for one in made for entry in await journal.append(one)]
        page = await journal.read(0, where, 1000)
        assert list(page.entries) == [entry for entry in stored if where.passes(entry.event)]
        assert page.upto == len(stored)

    in_journal(work)


@laws
@given(batches)
def test_each_root_execution_ends_once_and_its_fold_is_that_of_a_replay(made):
    async def work(journal):
        stored = [entry for one in made for entry in await journal.append(one)]
        for root in ("x", "y"):
            own = [entry.event for entry in stored if entry.event.rootexecutionid == root]
            finals = [event for event in own if event.final]
            ends = [
                event
                for event in own
                if event.executionid == root and event.data.status and event.data.status.terminal
            ]
            assert finals == ends[:1]
            assert await journal.operation(root) == fold_all(None, own)
        listed = await journal.operations()
        for operation in listed:
            assert operation == brief(operation)

    in_journal(work)


@laws
@given(batches)
def test_appends_at_once_leave_the_same_as_in_any_order(made):
    async def work(journal):
        stored = await asyncio.gather(*(journal.append(one) for one in made))
        entries = sorted((e for one in stored for e in one), key=lambda entry: entry.sequence)
        assert [entry.sequence for entry in entries] == list(range(1, len(entries) + 1))
        assert list((await journal.read(0, ALL, 1000)).entries) == entries
        for one in stored:
            places = [entry.sequence for entry in one]
            assert places == list(range(places[0], places[0] + len(places))) if places else True
        for root in ("x", "y"):
            own = [entry.event for entry in entries if entry.event.rootexecutionid == root]
            assert sum(event.final for event in own) <= 1
            assert await journal.operation(root) == fold_all(None, own)

    in_journal(work)
