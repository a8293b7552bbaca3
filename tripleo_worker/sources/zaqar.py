"""A Zaqar queue, listed with a marker; never claimed from, never deleted from.

The list is the truth. A websocket subscription only wakes the lister, for pushes can be lost
or come out of order; without it the queue is listed more often.

Sources: Zaqar's API v2 (messages: ``marker``, ``limit``, ``echo``, ``include_claimed``).
Zaqar forgets a marker with its message; the list then begins at the queue's head again, and
what was stored already is left out by its id.
"""

from __future__ import annotations

import asyncio
import uuid
from collections import OrderedDict
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

import aiohttp

from tripleo_worker.errors import ServiceError
from tripleo_worker.events import Event
from tripleo_worker.identity import Identity
from tripleo_worker.ports import Batch, DeadLetter, Health, Sink
from tripleo_worker.sources import messages
from tripleo_worker.sources.delivery import deliver, stored_marker
from tripleo_worker.sources.health import Pulse
from tripleo_worker.sources.service import Service, pauses
from tripleo_worker.sources.zaqar_wake import Wake

#: Messages of one list; Zaqar's own upper limit is 20 by default.
LIMIT = 20
#: Seconds between two lists while pushes wake the source, and while they do not.
SLOW, QUICK = 10.0, 1.0
#: Longest pause after failures, in seconds.
LONGEST_PAUSE = 10.0
#: A marker that names no message: Zaqar then lists from the queue's head.
HEAD = "none"
#: Ids of messages that are remembered, to notice a list that begins again.
IDS_KEPT = 10_000


class ZaqarSource:
    """A :class:`tripleo_worker.ports.Source` that follows one queue of one project.

    Args:
        queue: its name; made if it is missing.
        identity: whose project's queue it is.
        http: for all calls and the websocket.
    """

    def __init__(self, queue: str, identity: Identity, http: aiohttp.ClientSession) -> None:
        self.name = f"zaqar/{queue}"
        self._queue = queue
        self._identity = identity
        self._client = str(uuid.uuid4())
        self._service = Service(identity, http, "messaging")
        self._wake = Wake(queue, identity, http, self._client)
        self._pulse = Pulse(self.name)
        self._seen: OrderedDict[str, None] = OrderedDict()

    def health(self) -> Health:
        """See :meth:`tripleo_worker.ports.Source.health`."""
        return self._pulse.health()

    async def run(self, sink: Sink) -> None:
        """See :meth:`tripleo_worker.ports.Source.run`."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._wake.run())
            await self._follow(sink)

    async def _follow(self, sink: Sink) -> None:
        marker = await stored_marker(sink, self.name, self._pulse) or HEAD
        waits = pauses(LONGEST_PAUSE)
        made = False
        while True:
            self._wake.clear()
            try:
                if not made:
                    await self._service.call("PUT", self._path(), headers=self._headers())
                    made = True
                marker = await self._drain(sink, marker)
            except ServiceError as error:
                self._pulse.fault(error)
                await asyncio.sleep(next(waits))
                continue
            waits = pauses(LONGEST_PAUSE)
            await self._wake.wait(SLOW if self._wake.listening else QUICK)

    async def _drain(self, sink: Sink, marker: str) -> str:
        """List to the end and hand over; the marker to go on from."""
        project = await self._identity.project()
        while True:
            found, marker_after = await self._list(marker)
            self._pulse.beat()
            fresh = [one for one in found if self._new(one)]
            if fresh:
                await deliver(sink, self._batch(fresh, marker_after, project), self._pulse)
                self._pulse.beat()
            again = marker_after == marker or (found and not fresh and len(found) < LIMIT)
            marker = marker_after
            if not found or again:
                return marker

    async def _list(self, marker: str) -> tuple[list[Mapping[str, Any]], str]:
        query = {
            "marker": marker,
            "limit": str(LIMIT),
            "echo": "true",
            "include_claimed": "true",
        }
        status, body = await self._service.call(
            "GET", self._path("/messages"), headers=self._headers(), params=query, also=(404,)
        )
        if status == 404:
            # The queue was deleted under us: posting makes it again, and so do we.
            await self._service.call("PUT", self._path(), headers=self._headers())
            return [], HEAD
        if body is None:
            return [], marker
        if not isinstance(body, dict) or not isinstance(body.get("messages"), list):
            raise ServiceError("Zaqar's list of messages has another form than its API says.")
        return body["messages"], _next_marker(body) or marker

    def _batch(self, found: list[Mapping[str, Any]], marker: str, project: str) -> Batch:
        now = datetime.now(UTC)
        read = [
            messages.read(message, queue=self._queue, project=project, now=now) for message in found
        ]
        return Batch(
            source=self.name,
            events=tuple(one for one in read if isinstance(one, Event)),
            dead=tuple(one for one in read if isinstance(one, DeadLetter)),
            marker=marker,
        )

    def _new(self, message: Mapping[str, Any]) -> bool:
        ident = str(message.get("id", ""))
        if ident in self._seen:
            return False
        self._seen[ident] = None
        if len(self._seen) > IDS_KEPT:
            self._seen.popitem(last=False)
        return True

    def _path(self, rest: str = "") -> str:
        return f"/v2/queues/{quote(self._queue, safe='')}{rest}"

    def _headers(self) -> dict[str, str]:
        return {"Client-ID": self._client}


def _next_marker(body: Mapping[str, Any]) -> str | None:
    for link in body.get("links", ()):
        if link.get("rel") == "next":
            found = parse_qs(urlsplit(link.get("href", "")).query).get("marker")
            return found[0] if found else None
    return None
