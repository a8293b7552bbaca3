"""A gateway over a journal in memory, with tokens that need no Keystone."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

import aiohttp
import pytest
from oslo_config import cfg

from tests.unit.journal.events_made import batch
from tripleo_worker.errors import NotAuthenticated
from tripleo_worker.feed import LiveFeed
from tripleo_worker.gateway.access import Access
from tripleo_worker.gateway.application import Gateway
from tripleo_worker.gateway.house import House, Pace
from tripleo_worker.identity import Caller
from tripleo_worker.ports import Health
from tripleo_worker.testing import MemoryJournal


def caller(user="u", project="p", roles=("member",), life=3600.0):
    return Caller(
        user_id=user,
        project_id=project,
        roles=roles,
        expires_at=datetime.now(UTC) + timedelta(seconds=life),
    )


class Tokens:
    """The callers behind some tokens."""

    def __init__(self):
        self.known = {
            "p": caller(),
            "q": caller("v", "q"),
            "admin": caller("root", "adm", ("admin",)),
            "nothing": caller("w", "p", ("other",)),
            "noproject": caller("x", ""),
        }
        self.asked = 0

    async def caller(self, token):
        self.asked += 1
        if token not in self.known:
            raise NotAuthenticated("Keystone does not accept the token.")
        return self.known[token]


class Worker:
    """A running gateway, and ways to talk to it."""

    def __init__(self, journal, feed, house, gateway, tokens, http):
        self.journal, self.feed, self.house = journal, feed, house
        self.gateway, self.tokens, self.http = gateway, tokens, http

    @property
    def url(self):
        return f"http://127.0.0.1:{self.gateway.port}"

    async def store(self, *events):
        self.feed.publish(await self.journal.append(batch(*events)))

    async def get(self, path, token="p", **options):
        headers = {**({"X-Auth-Token": token} if token else {}), **options.pop("headers", {})}
        async with self.http.get(self.url + path, headers=headers, **options) as answer:
            text = await answer.text()
            kind = answer.headers["Content-Type"]
            body = await answer.json() if kind.startswith("application/json") else text
            return answer.status, body

    def socket(self, token="p", **options):
        headers = {"X-Auth-Token": token} if token else {}
        return self.http.ws_connect(self.url + "/v1/stream", headers=headers, **options)

    async def settled(self, listeners=0):
        async with asyncio.timeout(5):
            while self.feed.subscribers != listeners:  # noqa: ASYNC110 - the product tells nobody
                await asyncio.sleep(0.01)


@pytest.fixture
def pace():
    return Pace(heartbeat=10.0, stall=5.0, introduction=2.0, streams_per_project=50)


@pytest.fixture
def sources():
    return {"bus": Health(ok=True)}


@pytest.fixture
async def worker(pace, sources):
    journal = MemoryJournal("e1")
    feed = LiveFeed(journal)
    tokens = Tokens()
    conf = cfg.ConfigOpts()
    conf([], default_config_files=[])
    house = House(
        feed=feed,
        journal=journal,
        access=Access(tokens, conf, believed=60.0),
        pace=pace,
        sources=lambda: sources,
    )
    gateway = Gateway(house, host="127.0.0.1", port=0)
    await gateway.start()
    async with aiohttp.ClientSession() as http:
        yield Worker(journal, feed, house, gateway, tokens, http)
    await gateway.stop()
