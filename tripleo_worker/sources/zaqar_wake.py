"""A subscription on a queue over Zaqar's websocket: says that there is something to list.

Source: Zaqar's websocket API (``authenticate``, ``subscription_create``; a push is a frame
without ``request``). The subscription belongs to the socket and ends with it.
"""

from __future__ import annotations

import asyncio
import json
import logging
from typing import Any

import aiohttp

from tripleo_worker.errors import ServiceError
from tripleo_worker.identity import Identity
from tripleo_worker.sources.service import pauses

LOG = logging.getLogger(__name__)

#: Seconds that a subscription lives; a new socket with a new token takes its place before.
LIFE, RENEWED_AFTER = 3600, 1500.0
#: Seconds between pings: a socket that does not answer is dead.
PING = 20.0
LONGEST_PAUSE = 15.0


class Wake:
    """An alarm clock for the lister of a queue."""

    def __init__(
        self, queue: str, identity: Identity, http: aiohttp.ClientSession, client: str
    ) -> None:
        self._queue = queue
        self._identity = identity
        self._http = http
        self._client = client
        self._rung = asyncio.Event()
        #: Whether pushes are to be expected.
        self.listening = False

    def clear(self) -> None:
        """Forget what rang so far; to be called before the list that covers it."""
        self._rung.clear()

    async def wait(self, patience: float) -> None:
        """Until it rings, or so many seconds."""
        try:
            async with asyncio.timeout(patience):
                await self._rung.wait()
        except TimeoutError:
            return

    async def run(self) -> None:
        """Listen until cancelled; comes back after each loss."""
        waits = pauses(LONGEST_PAUSE)
        while True:
            try:
                async with asyncio.timeout(RENEWED_AFTER):
                    await self._listen()
            except TimeoutError:
                waits = pauses(LONGEST_PAUSE)
            except (ServiceError, aiohttp.ClientError, OSError, ValueError) as error:
                LOG.debug("No pushes of %s: %s", self._queue, error, extra={"action": "wake_lost"})
            if self.listening:
                waits = pauses(LONGEST_PAUSE)
            self.listening = False
            self._rung.set()
            await asyncio.sleep(next(waits))

    async def _listen(self) -> None:
        url = await self._identity.endpoint("messaging-websocket")
        headers = {
            "Client-ID": self._client,
            "X-Project-ID": await self._identity.project(),
            "X-Auth-Token": await self._identity.token(),
        }
        async with self._http.ws_connect(url, heartbeat=PING, max_msg_size=0) as socket:
            await self._ask(socket, headers, "authenticate", {})
            wanted = {"queue_name": self._queue, "ttl": LIFE}
            await self._ask(socket, headers, "subscription_create", wanted)
            self.listening = True
            self._rung.set()
            async for frame in socket:
                if frame.type in (aiohttp.WSMsgType.TEXT, aiohttp.WSMsgType.BINARY):
                    self._rung.set()
        raise ServiceError("Zaqar closed the websocket.")

    async def _ask(
        self,
        socket: aiohttp.ClientWebSocketResponse,
        headers: dict[str, str],
        action: str,
        body: dict[str, Any],
    ) -> None:
        await socket.send_str(json.dumps({"action": action, "headers": headers, "body": body}))
        reply = await socket.receive_json(timeout=30.0)
        status = reply.get("headers", {}).get("status")
        if status not in (200, 201, 204):
            if status == 403:
                await self._identity.token(fresh=True)
            raise ServiceError(f"Zaqar answered {status} to {action}.")
