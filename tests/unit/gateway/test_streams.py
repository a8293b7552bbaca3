"""Server-sent events and JSON lines."""

import asyncio
import json

import pytest

from tests.unit.gateway.conftest import caller
from tests.unit.journal.events_made import event
from tripleo_worker.gateway.house import Pace


class Lines:
    """Reads an event stream."""

    def __init__(self, answer):
        self.answer = answer

    async def block(self):
        fields = {}
        while True:
            line = (await asyncio.wait_for(self.answer.content.readline(), 5)).decode()
            if not line:
                return None
            if line == "\n":
                return fields
            name, _, value = line.rstrip("\n").partition(": ")
            fields[name] = value

    async def event(self):
        while True:
            block = await self.block()
            if block is None or "id" in block:
                return block


async def test_events_follow_with_their_positions(worker):
    await worker.store(event(1))
    async with worker.http.get(
        worker.url + "/v1/events/stream?since=earliest", headers={"X-Auth-Token": "p"}
    ) as answer:
        assert answer.headers["Content-Type"] == "text/event-stream"
        lines = Lines(answer)
        first = await lines.block()
        assert first["event"] == "subscribed"
        assert json.loads(first["data"]) == {"recovered": True, "position": "e1:0"}
        one = await lines.event()
        assert (one["id"], json.loads(one["data"])["id"]) == ("e1:1", "1")
        await worker.store(event(2))
        assert (await lines.event())["id"] == "e1:2"
    await worker.settled()


async def test_the_last_event_id_wins_over_since(worker):
    await worker.store(event(1), event(2), event(3))
    headers = {"X-Auth-Token": "p", "Last-Event-ID": "e1:2"}
    async with worker.http.get(
        worker.url + "/v1/events/stream?since=earliest", headers=headers
    ) as answer:
        assert (await Lines(answer).event())["id"] == "e1:3"


async def test_heartbeats_move_past_what_is_not_to_be_seen(worker):
    async with worker.http.get(
        worker.url + "/v1/events/stream?heartbeat=0.1", headers={"X-Auth-Token": "p"}
    ) as answer:
        lines = Lines(answer)
        await lines.block()
        await worker.store(event(1, project="q"))
        assert (await lines.block()) == {"": "heartbeat e1:1"}


async def test_lines_go_on(worker):
    headers = {"X-Auth-Token": "p", "Accept": "application/x-ndjson"}
    async with worker.http.get(worker.url + "/v1/events?follow=true", headers=headers) as answer:
        await worker.store(event(1))
        await worker.store(event(2))
        found = [await asyncio.wait_for(answer.content.readline(), 5) for _ in range(2)]
    assert [json.loads(line)["id"] for line in found] == ["1", "2"]


async def test_a_token_that_expires_ends_the_stream(worker):
    worker.tokens.known["short"] = caller(life=0.3)
    async with worker.http.get(
        worker.url + "/v1/events/stream", headers={"X-Auth-Token": "short"}
    ) as answer:
        lines = Lines(answer)
        await lines.block()
        assert await lines.block() is None


async def test_a_shutdown_ends_the_stream_at_once(worker):
    async with worker.http.get(
        worker.url + "/v1/events/stream", headers={"X-Auth-Token": "p"}
    ) as answer:
        lines = Lines(answer)
        await lines.block()
        async with asyncio.timeout(2):
            await worker.gateway.stop()
            assert await lines.block() is None


class TestTooMany:
    @pytest.fixture
    def pace(self):
        return Pace(streams_per_project=1)

    async def test_a_project_has_its_number_of_streams(self, worker):
        url = worker.url + "/v1/events/stream"
        async with worker.http.get(url, headers={"X-Auth-Token": "p"}) as first:
            assert first.status == 200
            assert (await worker.get("/v1/events/stream"))[1]["error"]["code"] == "too-many"
            async with worker.http.get(url, headers={"X-Auth-Token": "q"}) as other:
                assert other.status == 200
        await worker.settled()
        async with worker.http.get(url, headers={"X-Auth-Token": "p"}) as again:
            assert again.status == 200
