"""The feed: catch-up then live, for subscribers of any speed."""

import asyncio
from unittest import mock

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.journal.events_made import ALL, batch, event
from tripleo_worker import feed as feed_module
from tripleo_worker.errors import InvalidPosition
from tripleo_worker.events import HEAT_RESOURCE, EventData, Position, Status
from tripleo_worker.feed import LiveFeed
from tripleo_worker.operations import brief, fold_all
from tripleo_worker.ports import Filter
from tripleo_worker.testing import MemoryJournal


async def store(journal, feed, *events):
    feed.publish(await journal.append(batch(*events)))


def ids(entries):
    return [entry.event.id for entry in entries]


@pytest.fixture
def journal():
    return MemoryJournal()


@pytest.fixture
def feed(journal):
    return LiveFeed(journal)


async def test_latest_begins_with_what_comes_next(journal, feed):
    await journal.append(batch(event(1)))
    subscription = await feed.subscribe("latest", ALL)
    assert subscription.recovered
    assert await subscription.next(0) == ()
    await store(journal, feed, event(2))
    assert ids(await subscription.next(1)) == ["2"]


async def test_earliest_begins_with_all_that_is_held(journal, feed):
    await journal.append(batch(event(1), event(2)))
    subscription = await feed.subscribe("earliest", ALL)
    assert ids(await subscription.next(0)) == ["1", "2"]
    assert subscription.position == Position(journal.epoch, 2)


async def test_a_waiting_subscriber_is_woken_by_what_it_may_see_only(journal, feed):
    subscription = await feed.subscribe("latest", Filter(project="p"))
    waiting = asyncio.create_task(subscription.next(5))
    await store(journal, feed, event(1, project="q"))
    await asyncio.sleep(0)
    assert not waiting.done()
    await store(journal, feed, event(2, project="p"))
    assert ids(await waiting) == ["2"]


async def test_the_position_moves_past_what_the_filter_leaves_out(journal, feed):
    subscription = await feed.subscribe("latest", Filter(project="p"))
    await store(journal, feed, event(1, project="q"))
    assert await subscription.next(0) == ()
    assert subscription.position == Position(journal.epoch, 1)


async def test_a_position_of_another_journal_gets_the_state_instead(journal, feed):
    await store(journal, feed, event(1), event(2, root="y", project="q"))
    subscription = await feed.subscribe("other:1", Filter(project="p"))
    assert not subscription.recovered
    assert [o.execution_id for o in subscription.operations] == ["x"]
    assert subscription.position == Position(journal.epoch, 2)


async def test_positions_that_the_journal_no_longer_or_not_yet_holds_do_not_recover(journal, feed):
    await store(journal, feed, *(event(n) for n in range(5)))
    journal.prune(3)
    recovered = {
        n: (await feed.subscribe(f"{journal.epoch}:{n}", ALL)).recovered for n in (0, 2, 3, 5, 6)
    }
    assert recovered == {0: False, 2: False, 3: True, 5: True, 6: False}


@pytest.mark.parametrize("wrong", ["", "newest", "a:b", "a:-1"])
async def test_a_word_that_is_no_position_is_refused_with_a_remedy(feed, wrong):
    with pytest.raises(InvalidPosition, match="earliest"):
        await feed.subscribe(wrong, ALL)


async def test_entries_that_are_published_out_of_order_are_read_in_order(journal, feed):
    first = await journal.append(batch(event(1)))
    subscription = await feed.subscribe("earliest", ALL)
    second = await journal.append(batch(event(2)))
    third = await journal.append(batch(event(3)))
    for entries in (third, second, first):
        feed.publish(entries)
    assert ids([entry for _ in "123" for entry in await subscription.next(0)]) == ["1", "2", "3"]


async def test_who_leaves_is_counted_out(feed):
    subscription = await feed.subscribe("latest", ALL)
    assert feed.subscribers == 1
    subscription.close()
    subscription.close()
    assert feed.subscribers == 0


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.integers(1, 6), min_size=1, max_size=20),
    st.lists(st.lists(st.booleans(), min_size=1, max_size=20), min_size=1, max_size=4),
)
def test_every_subscriber_gets_every_event_once_in_order_at_any_speed(sizes, speeds):
    async def run():
        journal = MemoryJournal()
        feed = LiveFeed(journal)
        subscriptions = [await feed.subscribe("latest", ALL) for _ in speeds]
        got = [[] for _ in speeds]
        number = 0
        for step, size in enumerate(sizes):
            made = [event(number + i, status=Status.RUNNING) for i in range(size)]
            number += size
            await store(journal, feed, *made)
            for mine, subscription, speed in zip(got, subscriptions, speeds, strict=True):
                if speed[step % len(speed)]:
                    mine += await subscription.next(0)
        for mine, subscription in zip(got, subscriptions, strict=True):
            while entries := await subscription.next(0):
                mine += entries
            assert ids(mine) == [str(n) for n in range(number)]

    with mock.patch.multiple(feed_module, RING=3, PAGE=4):
        asyncio.run(run())


steps = st.one_of(
    st.integers(1, 6),  # so many events are stored
    st.tuples(st.just("join"), st.integers(0, 40), st.sampled_from(["", "p", "q"])),
    st.tuples(st.just("read"), st.integers(0, 9), st.just("")),
)


@settings(max_examples=100, deadline=None)
@given(st.lists(steps, max_size=40), st.sampled_from([1, 200, 10**9]))
def test_from_any_position_exactly_what_is_later_and_passes_follows(played, ring_bytes):
    async def run():
        journal = MemoryJournal()
        feed = LiveFeed(journal)
        stored, readers = [], []
        for step in played:
            if isinstance(step, int):
                made = [event(len(stored) + i, project="pq"[i % 2]) for i in range(step)]
                entries = await journal.append(batch(*made))
                stored += entries
                feed.publish(entries)
            elif step[0] == "join":
                since = min(step[1], len(stored))
                where = Filter(project=step[2] or None)
                reader = await feed.subscribe(f"{journal.epoch}:{since}", where)
                assert reader.recovered
                readers.append((reader, since, where, []))
            elif readers:
                reader, _, _, got = readers[step[1] % len(readers)]
                got += await reader.next(0)
        for reader, since, where, got in readers:
            while entries := await reader.next(0):
                got += entries
            assert got == [e for e in stored[since:] if where.passes(e.event)]
            assert reader.position.sequence == len(stored)

    with mock.patch.multiple(feed_module, RING=3, PAGE=4, RING_BYTES=ring_bytes):
        asyncio.run(run())


async def test_large_events_do_not_fill_the_ring(journal, feed, monkeypatch):
    monkeypatch.setattr(feed_module, "RING_BYTES", 10_000)
    subscription = await feed.subscribe("latest", ALL)
    for number in range(50):
        large = msgspec.structs.replace(event(number), data=EventData(message="x" * 1000))
        await store(journal, feed, large)
        assert sum(len(entry.text) for entry in feed._ring) <= 20_000
    got = []
    while entries := await subscription.next(0):
        got += entries
    assert ids(got) == [str(n) for n in range(50)]


async def test_a_snapshot_can_be_folded_on(journal, feed):
    def resource(number, name, status):
        payload = {"resource_name": name, "resource_status": status, "stack_id": "s"}
        return msgspec.structs.replace(
            event(number, kind=HEAT_RESOURCE), data=EventData(payload=payload)
        )

    begun = [resource(n, f"r{n}", "IN_PROGRESS") for n in range(5)]
    await store(journal, feed, *begun)
    subscription = await feed.subscribe("other:1", ALL)
    (snapshot,) = subscription.operations
    await store(journal, feed, *(resource(10 + n, f"r{n}", "COMPLETE") for n in range(5)))
    later = [entry.event for entry in await subscription.next(0)]
    folded = fold_all(snapshot, later)
    assert folded == await journal.operation("x")
    assert (folded.resources.complete, folded.resources.in_progress) == (5, 0)
    await store(journal, feed, event(99, status=Status.SUCCESS))
    (ended,) = (await feed.subscribe("other:1", ALL)).operations
    assert ended == brief(ended)
