"""The websocket: introduction, events, heartbeats, close codes, slow and dead peers."""

import asyncio
import contextlib
import json
import socket as sockets

import aiohttp
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.gateway.conftest import caller
from tests.unit.journal.events_made import event
from tripleo_worker.errors import InvalidEvent
from tripleo_worker.gateway import websocket
from tripleo_worker.gateway.house import Pace


async def frame(socket):
    message = await asyncio.wait_for(socket.receive(), 5)
    if message.type in (aiohttp.WSMsgType.CLOSE, aiohttp.WSMsgType.CLOSED):
        return socket.close_code or message.data
    return json.loads(message.data)


async def subscribed(socket, **wanted):
    await socket.send_json({"subscribe": wanted})
    return (await frame(socket))["subscribed"]


async def test_events_come_after_the_subscription(worker):
    await worker.store(event(1))
    async with worker.socket() as socket:
        assert await subscribed(socket, since="earliest") == {"recovered": True, "position": "e1:0"}
        first = (await frame(socket))["event"]
        assert (first["id"], first["sequence"], first["epoch"]) == ("1", "0" * 15 + "1", "e1")
        await worker.store(event(2), event(3, project="q"), event(4))
        assert [(await frame(socket))["event"]["id"] for _ in range(2)] == ["2", "4"]
    await worker.settled()


async def test_a_browser_sends_its_token_in_the_first_frame(worker):
    async with worker.socket(token=None) as socket:
        await socket.send_json({"authenticate": {"token": "p"}})
        assert (await frame(socket))["authenticated"]["project_id"] == "p"
        assert (await subscribed(socket))["recovered"]


async def test_a_position_of_another_journal_brings_the_operations(worker):
    await worker.store(event(1))
    async with worker.socket() as socket:
        told = await subscribed(socket, since="other:7")
        assert (told["recovered"], told["position"]) == (False, "e1:1")
        assert [one["execution_id"] for one in told["operations"]] == ["x"]


async def test_heartbeats_tell_the_position(worker):
    async with worker.socket() as socket:
        await subscribed(socket, heartbeat=0.1)
        await worker.store(event(1, project="q"))
        assert await frame(socket) == {"heartbeat": {"position": "e1:1"}}


@pytest.mark.parametrize(
    ("token", "frames", "code"),
    [
        (None, [{"subscribe": {}}], 4501),
        (None, [{"authenticate": {"token": "unknown"}}], 4501),
        ("unknown", [], 4501),
        ("nothing", [{"subscribe": {}}], 4503),
        ("noproject", [{"subscribe": {}}], 4503),
        ("p", [{"subscribe": {"since": "nowhere"}}], 4500),
        ("p", [{"subscribe": {"sinse": "latest"}}], 4500),
        ("p", [{"subscribe": {"heartbeat": 0}}], 4500),
        ("p", ["no json"], 4500),
        ("p", [[]], 4500),
        ("p", [{}], 4500),
        ("p", [{"authenticate": {"token": "p"}, "subscribe": {}}], 4500),
        ("p", [{"subscribe": {}}, {"subscribe": {}}], 4500),
        ("p", [{"subscribe": {}}, {"authenticate": {"token": "q"}}], 4503),
    ],
)
async def test_a_refusal_says_why_and_closes_for_good(worker, token, frames, code):
    async with worker.socket(token) as socket:
        for one in frames:
            text = one if isinstance(one, str) else json.dumps(one)
            await socket.send_str(text)
        heard = [await frame(socket)]
        while not isinstance(heard[-1], int):
            heard.append(await frame(socket))
        assert heard[-1] == code
        assert {"code", "message", "remedy"} == set(heard[-2]["error"])
    await worker.settled()


async def test_a_frame_that_is_too_large_is_refused(worker):
    async with worker.socket() as socket:
        await socket.send_str("x" * (websocket.LARGEST_FRAME + 1))
        heard = await frame(socket)
        while not isinstance(heard, int):
            heard = await frame(socket)
        assert heard in (4500, 1009)


async def test_a_token_that_expires_closes_unless_it_is_renewed(worker):
    worker.tokens.known["short"] = caller(life=0.4)
    worker.tokens.known["longer"] = caller(life=60)
    async with worker.socket("short") as left, worker.socket("short") as renewed:
        for socket in (left, renewed):
            await subscribed(socket)
        await renewed.send_json({"authenticate": {"token": "longer"}})
        assert "authenticated" in await frame(renewed)
        assert await frame(left) == 4002
        await worker.store(event(1))
        assert "event" in await frame(renewed)


async def test_a_journal_that_goes_away_sends_to_come_back(worker):
    async with worker.socket() as socket:
        await subscribed(socket, since="earliest")
        worker.journal.broken = True
        worker.feed._ring.clear()
        worker.feed._head = 5
        worker.feed._news.set()
        told = await frame(socket)
        assert told["error"]["code"] == "journal-unavailable"
        assert await frame(socket) == 4003
        worker.journal.broken = False


async def test_a_shutdown_sends_to_come_back_at_once(worker):
    async with worker.socket() as one, worker.socket("q") as two:
        for socket in (one, two):
            await subscribed(socket)
        async with asyncio.timeout(2):
            stopping = asyncio.create_task(worker.gateway.stop())
            assert await asyncio.gather(frame(one), frame(two)) == [4000, 4000]
            await stopping


class TestStuck:
    @pytest.fixture
    def pace(self):
        return Pace(stall=0.3)

    @pytest.fixture
    def peer(self, worker):
        """Makes connections that read nothing; they are closed at the end."""
        with contextlib.ExitStack() as stack:

            def connect():
                raw = stack.enter_context(sockets.socket())
                raw.setsockopt(sockets.SOL_SOCKET, sockets.SO_RCVBUF, 4096)
                raw.connect(("127.0.0.1", worker.gateway.port))
                return raw

            yield connect

    async def test_a_peer_that_takes_nothing_is_dropped_and_slows_nobody(self, worker, peer):
        # More than the kernel takes for a peer that does not read.
        large = [event(n, kind="t" * 4000) for n in range(4000)]
        async with worker.socket() as good:
            await subscribed(good)
            await asyncio.to_thread(_shake_hands, peer())
            await worker.settled(2)
            await worker.store(*large)
            got = [(await frame(good))["event"]["id"] for _ in large]
            assert got == [str(n) for n in range(len(large))]
            await worker.settled(1)

    async def test_a_stuck_peer_does_not_hold_up_the_shutdown(self, worker, peer):
        await asyncio.to_thread(_shake_hands, peer())
        await worker.settled(1)
        async with asyncio.timeout(2):
            await worker.gateway.stop()


class TestSilent:
    @pytest.fixture
    def pace(self):
        return Pace(introduction=0.2)

    async def test_who_says_nothing_is_sent_away(self, worker):
        async with worker.socket() as socket:
            assert "error" in await frame(socket)
            assert await frame(socket) == 4500


async def test_a_thousand_listeners_come_and_go_and_leave_nothing(worker):
    worker.house.pace = Pace(streams_per_project=2000)

    async def visit():
        async with worker.socket() as socket:
            await subscribed(socket)

    for _ in range(10):
        await asyncio.gather(*(visit() for _ in range(20)))
    await worker.settled()
    assert not worker.house._streams


@given(st.one_of(st.binary(), st.text(), st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(
        st.sampled_from(["authenticate", "subscribe", "token", "since", "x"]), inner),
).map(json.dumps)))  # fmt: skip
def test_any_frame_is_read_or_refused(text):
    with contextlib.suppress(InvalidEvent):
        read = websocket.read(text)
        assert (read.authenticate is None) != (read.subscribe is None)


def _shake_hands(raw):
    raw.sendall(
        b"GET /v1/stream HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
        b"X-Auth-Token: p\r\n\r\n"
    )
    text = b'{"subscribe":{}}'
    raw.recv(4096)
    raw.sendall(bytes([0x81, 0x80 | len(text), 0, 0, 0, 0]) + text)
