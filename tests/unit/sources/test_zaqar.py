"""Following a queue: nothing is left out, nothing comes twice, whatever Zaqar does."""

import asyncio

import pytest

from tests.unit.sources.conftest import Zaqar
from tripleo_worker.sources import zaqar as module
from tripleo_worker.sources.zaqar import ZaqarSource


def body(number):
    return {"type": "t", "payload": {"message": str(number)}}


def told(sink):
    return [entry.event.data.message for entry in sink.entries]


@pytest.fixture
async def zaqar(serve, keystone):
    made = Zaqar(keystone)
    url = await serve(made.app())
    keystone.urls = {"messaging": url, "messaging-websocket": url.replace("http", "ws") + "/socket"}
    return made


@pytest.fixture
def source(keystone, http):
    return ZaqarSource("q", keystone, http)


async def listening(zaqar):
    async with asyncio.timeout(5):
        while not zaqar.sockets:  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def test_what_is_there_and_what_comes_is_read_in_order(zaqar, source, sink, running):
    await zaqar.post(*(body(n) for n in range(45)))
    running(source)
    await sink.until(lambda: len(sink.entries) == 45)
    await listening(zaqar)
    await zaqar.post(body(45), body(46))
    await sink.until(lambda: len(sink.entries) == 47)
    assert told(sink) == [str(n) for n in range(47)]
    assert zaqar.made == {"q"}
    assert source.health().ok


@pytest.mark.parametrize("count", [19, 20, 21, 40, 41])
async def test_every_list_pages_to_its_end(zaqar, source, sink, running, count):
    await zaqar.post(*(body(n) for n in range(count)))
    running(source)
    await sink.until(lambda: len(sink.entries) == count)


async def test_a_push_wakes_at_once(zaqar, source, sink, running, monkeypatch):
    monkeypatch.setattr(module, "SLOW", 60.0)
    running(source)
    await listening(zaqar)
    await asyncio.sleep(0.1)
    await zaqar.post(body(1))
    await sink.until(lambda: len(sink.entries) == 1, 2.0)


async def test_without_pushes_the_queue_is_still_read(zaqar, source, sink, running, monkeypatch):
    monkeypatch.setattr(module, "QUICK", 0.05)
    monkeypatch.setattr(module, "SLOW", 0.05)
    running(source)
    await listening(zaqar)
    await zaqar.post(body(1), push=False)
    await sink.until(lambda: len(sink.entries) == 1, 2.0)


async def test_a_restart_goes_on_where_the_marker_is(zaqar, keystone, http, sink, running):
    await zaqar.post(body(0), body(1))
    task = running(ZaqarSource("q", keystone, http))
    await sink.until(lambda: len(sink.entries) == 2)
    task.cancel()
    await zaqar.post(body(2))
    running(ZaqarSource("q", keystone, http))
    await sink.until(lambda: len(sink.entries) == 3)
    assert told(sink) == ["0", "1", "2"]


async def test_a_marker_that_zaqar_forgot_costs_nothing(zaqar, keystone, http, sink, running):
    await zaqar.post(body(0), body(1))
    task = running(ZaqarSource("q", keystone, http))
    await sink.until(lambda: len(sink.entries) == 2)
    task.cancel()
    zaqar.messages = [{**zaqar.messages[0]}]
    zaqar.messages.append({"id": "new", "age": 0, "body": body(2)})
    running(ZaqarSource("q", keystone, http))
    await sink.until(lambda: len(sink.entries) == 3)
    assert told(sink) == ["0", "1", "2"]


async def test_an_only_message_is_not_listed_for_ever(zaqar, source, sink, running):
    await zaqar.post(body(0))
    running(source)
    await sink.until(lambda: len(sink.entries) == 1)
    await listening(zaqar)
    await asyncio.sleep(0.5)
    assert zaqar.lists < 10


async def test_pages_of_a_proxy_and_old_tokens_are_got_over(zaqar, source, keystone, sink, running):
    running(source)
    await listening(zaqar)
    zaqar.broken = 2
    await zaqar.post(body(0))
    await sink.until(lambda: len(sink.entries) == 1)
    keystone.number += 1
    await zaqar.post(body(1))
    await sink.until(lambda: len(sink.entries) == 2)
    assert source.health().ok


async def test_health_says_what_is_wrong_and_since_when(zaqar, source, running):
    zaqar.broken = 10**6
    running(source)
    async with asyncio.timeout(5):
        while "503" not in source.health().detail:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    assert not source.health().ok
    assert "Since" in source.health().detail


async def test_what_cannot_be_read_blocks_nothing(zaqar, source, sink, running):
    await zaqar.post("no object", body(1), {"type": 5, "payload": {}}, body(2))
    running(source)
    await sink.until(lambda: len(sink.entries) == 2)
    assert [letter.id for letter in sink.journal.dead] == ["m1", "m3"]


async def test_a_journal_that_is_away_loses_nothing(zaqar, source, sink, running):
    sink.journal.broken = True
    await zaqar.post(body(0))
    running(source)
    await asyncio.sleep(0.3)
    assert not source.health().ok
    sink.journal.broken = False
    await sink.until(lambda: len(sink.entries) == 1)
    assert source.health().ok
