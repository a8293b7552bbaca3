"""The feed: catch-up then live, for subscribers of any speed."""

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.journal.events_made import ALL, batch, event
from tripleo_worker import feed as feed_module
from tripleo_worker.errors import InvalidPosition
from tripleo_worker.events import Position, Status
from tripleo_worker.feed import LiveFeed
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

    before = feed_module.RING, feed_module.PAGE
    feed_module.RING, feed_module.PAGE = 3, 4
    try:
        asyncio.run(run())
    finally:
        feed_module.RING, feed_module.PAGE = before
