"""Services that sources follow, in this process: small, but with their own odd ways."""

from __future__ import annotations

import asyncio
import contextlib
import json

import aiohttp
import pytest
from aiohttp import web

from tripleo_worker.errors import JournalUnavailable
from tripleo_worker.intake import Intake
from tripleo_worker.testing import MemoryJournal


class Keystone:
    """Gives tokens and addresses; every token is used up when it is told to be."""

    def __init__(self):
        self.urls = {}
        self.number = 0

    async def token(self, *, fresh=False):
        self.number += fresh
        return f"token-{self.number}"

    async def project(self):
        return "p"

    async def endpoint(self, service_type):
        return self.urls[service_type]


class Zaqar:
    """A queue with Zaqar's ways of markers: an unknown one lists from the head, and the first
    message's own lists that message again.
    """

    def __init__(self, keystone):
        self.keystone = keystone
        self.made = set()
        self.messages = []
        self.sockets = set()
        self.broken = 0
        self.lists = 0

    def app(self):
        app = web.Application()
        app.router.add_put("/v2/queues/{queue}", self.make)
        app.router.add_get("/v2/queues/{queue}/messages", self.list)
        app.router.add_get("/socket", self.socket)
        return app

    async def make(self, request):
        self.made.add(request.match_info["queue"])
        return web.Response(status=201)

    async def list(self, request):
        self.lists += 1
        if self.broken:
            self.broken -= 1
            return web.Response(status=503, text="<html>away</html>")
        if request.headers["X-Auth-Token"] != f"token-{self.keystone.number}":
            return web.Response(status=401)
        assert request.query["echo"] == request.query["include_claimed"] == "true"
        ids = [message["id"] for message in self.messages]
        marker, limit = request.query["marker"], int(request.query["limit"])
        start = ids.index(marker) if marker in ids else 0
        start = start + 1 if start else 0
        page = self.messages[start : start + limit]
        after = page[-1]["id"] if page else marker
        links = [{"rel": "next", "href": f"/v2/queues/q/messages?marker={after}&limit={limit}"}]
        return web.json_response({"messages": page, "links": links})

    async def socket(self, request):
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        async for frame in socket:
            asked = json.loads(frame.data)
            await socket.send_json({"headers": {"status": 200}, "body": {}, "request": asked})
            if asked["action"] == "subscription_create":
                self.sockets.add(socket)
        self.sockets.discard(socket)
        return socket

    async def post(self, *bodies, push=True):
        for body in bodies:
            ident = f"m{len(self.messages) + 1}"
            self.messages.append({"id": ident, "age": 0, "ttl": 60, "body": body})
        for socket in list(self.sockets) if push else ():
            await socket.send_json({"body": {}, "queue_name": "q"})


class Mistral:
    """Executions by id; ``None`` in the table breaks the service."""

    def __init__(self):
        self.executions = {}
        self.asked = []
        self.away = False

    def app(self):
        app = web.Application()
        app.router.add_get("/executions", self.list)
        app.router.add_get("/executions/{id}", self.show)
        return app

    async def list(self, request):
        return web.json_response({"executions": []}, status=503 if self.away else 200)

    async def show(self, request):
        ident = request.match_info["id"]
        self.asked.append(ident)
        if self.away:
            return web.Response(status=503)
        found = self.executions.get(ident)
        return web.json_response(found or {"faultstring": "none"}, status=200 if found else 404)


@pytest.fixture
async def serve():
    """Serves applications on free ports; the address of each comes back."""
    async with contextlib.AsyncExitStack() as stack:

        async def start(app):
            runner = web.AppRunner(app, shutdown_timeout=0.1)
            await runner.setup()
            stack.push_async_callback(runner.cleanup)
            await web.TCPSite(runner, "127.0.0.1", 0).start()
            return f"http://127.0.0.1:{runner.addresses[0][1]}"

        yield start


@pytest.fixture
def keystone():
    return Keystone()


@pytest.fixture
async def http():
    async with aiohttp.ClientSession() as session:
        yield session


class Stored:
    """A sink on a journal in memory, with what it was told in order."""

    def __init__(self):
        self.journal = MemoryJournal()
        self.entries = []
        self.changed = asyncio.Condition()
        self.intake = Intake(self.journal, self.entries.extend)

    async def submit(self, batch):
        await self.intake.submit(batch)
        async with self.changed:
            self.changed.notify_all()

    async def marker(self, source):
        return await self.intake.marker(source)

    async def open_operations(self):
        return await self.intake.open_operations()

    async def until(self, met, patience=5.0):
        async with asyncio.timeout(patience), self.changed:
            await self.changed.wait_for(met)

    def ids(self):
        return [entry.event.id for entry in self.entries]


@pytest.fixture
def sink():
    return Stored()


@pytest.fixture
async def running(sink):
    """Runs sources until the end of the test."""
    tasks = []

    def run(source):
        task = asyncio.create_task(source.run(sink))
        tasks.append(task)
        return task

    yield run
    for task in tasks:
        task.cancel()
    for outcome in await asyncio.gather(*tasks, return_exceptions=True):
        if isinstance(outcome, Exception) and not isinstance(outcome, JournalUnavailable):
            raise outcome
