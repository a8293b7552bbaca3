"""The watch on executions that have gone silent."""

import asyncio
from datetime import UTC, datetime, timedelta

import msgspec
import pytest

from tests.unit.journal.events_made import batch, event
from tests.unit.sources.conftest import Mistral
from tripleo_worker.events import Status
from tripleo_worker.sources import mistral as module
from tripleo_worker.sources.mistral import MistralWatch


@pytest.fixture
async def mistral(serve, keystone):
    made = Mistral()
    keystone.urls = {"workflowv2": await serve(made.app())}
    return made


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(module, "LOOK", 0.02)
    monkeypatch.setattr(module, "LONGEST", 0.2)


async def heard(sink, ident, ago=60.0):
    when = datetime.now(UTC) - timedelta(seconds=ago)
    running = msgspec.structs.replace(event(1, root=ident, status=Status.RUNNING), time=when)
    await sink.submit(batch(msgspec.structs.replace(running, id=ident)))


def last(sink):
    return sink.entries[-1].event


@pytest.mark.parametrize(
    ("state", "info", "status", "word"),
    [
        ("ERROR", "task broke", Status.FAILED, "task broke"),
        ("CANCELLED", None, Status.CANCELLED, "cancelled"),
        ("SUCCESS", None, Status.SUCCESS, "success"),
    ],
)
async def test_a_silent_end_is_told(
    mistral, keystone, http, sink, running, state, info, status, word
):
    await heard(sink, "x")
    mistral.executions["x"] = {"state": state, "state_info": info, "updated_at": "2026-01-01 10:00"}
    running(MistralWatch(keystone, http))
    await sink.until(lambda: len(sink.entries) == 2)
    assert last(sink).final
    assert (last(sink).data.status, last(sink).rootexecutionid) == (status, "x")
    assert word in last(sink).data.message


async def test_one_that_was_deleted_is_told(mistral, keystone, http, sink, running):
    await heard(sink, "x")
    running(MistralWatch(keystone, http))
    await sink.until(lambda: len(sink.entries) == 2)
    assert last(sink).final
    assert "deleted" in last(sink).data.message
    assert mistral.asked == ["x"] * module.MISSING_TIMES


async def test_one_that_goes_on_is_asked_ever_less(mistral, keystone, http, sink, running):
    await heard(sink, "x")
    mistral.executions["x"] = {"state": "RUNNING"}
    running(MistralWatch(keystone, http))
    await asyncio.sleep(1.0)
    assert 2 <= len(mistral.asked) <= 7
    assert len(sink.entries) == 1


async def test_one_that_speaks_is_not_asked(mistral, keystone, http, sink, running):
    await heard(sink, "x", ago=0.0)
    running(MistralWatch(keystone, http))
    await asyncio.sleep(0.2)
    assert mistral.asked == []


async def test_without_the_bus_it_is_asked_sooner(mistral, keystone, http, sink, running):
    await heard(sink, "x", ago=module.SILENT_WITHOUT_BUS + 1)
    running(MistralWatch(keystone, http, lambda: False))
    await sink.until(lambda: len(sink.entries) == 2)


async def test_a_service_that_is_away_ends_nothing(mistral, keystone, http, sink, running):
    await heard(sink, "x")
    mistral.away = True
    watch = MistralWatch(keystone, http)
    running(watch)
    await asyncio.sleep(0.3)
    assert len(sink.entries) == 1
    assert not watch.health().ok
    mistral.executions["x"] = {"state": "ERROR"}
    mistral.away = False
    await sink.until(lambda: len(sink.entries) == 2)
    assert watch.health().ok
