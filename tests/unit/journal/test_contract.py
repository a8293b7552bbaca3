"""What every journal does, the one in memory and the one on SQLite alike."""

import asyncio

import msgspec
import pytest

from tests.unit.journal.events_made import batch, event, read_all
from tripleo_worker.events import Status, encode
from tripleo_worker.journal.store import SqlJournal
from tripleo_worker.ports import Filter
from tripleo_worker.testing import MemoryJournal


@pytest.fixture(params=["memory", "sqlite"])
async def journal(request, url):
    if request.param == "memory":
        yield MemoryJournal()
        return
    opened = await SqlJournal.open(url)
    yield opened
    await opened.close()


async def test_events_get_dense_places_in_the_order_they_came(journal):
    stored = await journal.append(batch(event(3), event(1), event(2)))
    assert [entry.sequence for entry in stored] == [1, 2, 3]
    assert [entry.event.id for entry in stored] == ["3", "1", "2"]
    assert all(entry.text == encode(entry.event) for entry in stored)
    assert all(entry.event.epoch == journal.epoch for entry in stored)
    assert await read_all(journal) == list(stored)


async def test_an_event_that_comes_again_is_stored_once(journal):
    await journal.append(batch(event(1), event(2)))
    again = await journal.append(batch(event(2), event(3), event(3), event(2, source="/b")))
    assert [(entry.event.source, entry.event.id) for entry in again] == [("/a", "3"), ("/b", "2")]
    assert await journal.head() == 4


async def test_an_id_longer_than_the_index_takes_is_known_again(journal):
    long = "x" * 5000
    first = await journal.append(batch(event(1)))
    assert len(first) == 1
    one = msgspec.structs.replace(event(1), id=long)
    assert len(await journal.append(batch(one))) == 1
    assert await journal.append(batch(one)) == ()
    assert (await read_all(journal))[-1].event.id == long


async def test_the_marker_stands_with_its_events(journal):
    assert await journal.marker("a") is None
    await journal.append(batch(event(1), marker="m1"))
    await journal.append(batch(event(2)))
    assert await journal.marker("a") == "m1"
    await journal.append(batch(marker="m2"))
    assert await journal.marker("a") == "m2"


async def test_only_the_first_end_of_a_root_execution_is_final(journal):
    stored = await journal.append(
        batch(
            event(1, status=Status.RUNNING),
            event(2, execution="child", status=Status.FAILED),
            event(3, status=Status.SUCCESS),
            event(4, status=Status.FAILED),
        )
    )
    stored += await journal.append(batch(event(5, status=Status.CANCELLED)))
    assert [entry.event.id for entry in stored if entry.event.final] == ["3"]
    operation = await journal.operation("x")
    assert operation.status is Status.SUCCESS


async def test_the_end_of_a_part_is_no_end_of_the_whole(journal):
    done = Status.SUCCESS
    stored = await journal.append(
        batch(
            event(1, status=done, kind="tripleo.heat.v1.resource"),
            event(2, status=done, kind="mistral.task.succeeded"),
            event(3, status=done, source="/zaqar/tripleo-progress"),
        )
    )
    assert not any(entry.event.final for entry in stored)
    assert (await journal.operation("x")).status is Status.RUNNING


async def test_a_final_mark_that_a_source_sets_counts_for_nothing(journal):
    (entry,) = await journal.append(batch(msgspec.structs.replace(event(1), final=True)))
    assert not entry.event.final


async def test_operations_are_listed_by_their_start_without_ledgers(journal):
    await journal.append(batch(event(1, root="x"), event(2, root="y", project="q")))
    await journal.append(batch(event(3, root="x", status=Status.SUCCESS)))
    assert [o.execution_id for o in await journal.operations()] == ["y", "x"]
    assert [o.execution_id for o in await journal.operations(open_only=True)] == ["y"]
    assert [o.execution_id for o in await journal.operations(project="p")] == ["x"]
    assert await journal.operations(project="") == []
    assert all(o.ledger == {} for o in await journal.operations())
    assert await journal.operation("z") is None


async def test_a_filter_reads_what_passes_and_moves_past_the_rest(journal):
    await journal.append(batch(*(event(n, root="x" if n % 5 else "y") for n in range(20))))
    where = Filter(project=None, execution="y")
    assert [e.event.id for e in await read_all(journal, where)] == ["0", "5", "10", "15"]
    page = await journal.read(16, where, 10)
    assert (page.entries, page.upto) == ((), 20)
    assert (await journal.read(30, where, 10)).upto == 30


async def test_a_prefix_of_a_type_is_no_pattern(journal):
    await journal.append(batch(event(1, kind="a_b%"), event(2, kind="aXbY"), event(3, kind="A_b%")))
    found = await read_all(journal, Filter(project=None, type="a_b%"))
    assert [entry.event.id for entry in found] == ["1"]


async def test_many_appends_at_once_keep_each_batch_whole(journal):
    made = [batch(*(event(10 * n + i) for i in range(5))) for n in range(100)]
    stored = await asyncio.gather(*(journal.append(one) for one in made))
    for one, entries in zip(made, stored, strict=True):
        assert [entry.event.id for entry in entries] == [e.id for e in one.events]
        first = entries[0].sequence
        assert [entry.sequence for entry in entries] == list(range(first, first + 5))
    assert [e.sequence for e in await read_all(journal, limit=50)] == list(range(1, 501))


async def test_one_batch_that_cannot_be_stored_takes_no_other_with_it(journal):
    bad = batch(event(1, project="p\ud800"))
    outcomes = await asyncio.gather(
        *(journal.append(one) for one in (batch(event(2)), bad, batch(event(3)))),
        return_exceptions=True,
    )
    assert isinstance(outcomes[1], Exception)
    assert [[e.event.id for e in outcomes[n]] for n in (0, 2)] == [["2"], ["3"]]
