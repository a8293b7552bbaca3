"""The socket under the protocol: it connects, reads, and comes back by itself."""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections import deque
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus

from tripleo_worker.client.cloud import Cloud
from tripleo_worker.client.core import Protocol, Signal
from tripleo_worker.client.frames import Subscription, authenticate
from tripleo_worker.errors import IdentityUnavailable, InvalidInput, NoWorker

LOG = logging.getLogger(__name__)
#: Seconds for a connection to stand.
OPEN_LIMIT = 10.0
#: Seconds for the worker to answer a farewell.
CLOSE_LIMIT = 1.0


class Stream:
    """One subscription; :meth:`next` gives its signals whatever happens to the sockets."""

    def __init__(
        self,
        cloud: Cloud,
        subscription: Subscription,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._cloud, self._clock, self._sleep = cloud, clock, sleep
        self._protocol = Protocol(subscription, random.random)
        self._signals: deque[Signal] = deque()
        self._socket: ClientConnection | None = None

    async def next(self, patience: float) -> Signal | None:
        """The next signal, or None if there is none within ``patience`` seconds.

        Raises:
            NotAuthenticated, NotAuthorised, ServiceError, StreamClosed: coming back is of
                no use.
        """
        if not self._signals:
            if self._socket is None:
                await self._connect(patience)
            else:
                await self._read(self._socket, patience)
        return self._signals.popleft() if self._signals else None

    async def close(self) -> None:
        """Leave the stream."""
        socket, self._socket = self._socket, None
        if socket is not None:
            await socket.close()

    async def _connect(self, patience: float) -> None:
        pause = self._protocol.retry_at - self._clock()
        if pause > 0:
            await self._sleep(min(pause, patience))
            return
        try:
            fresh = self._protocol.fresh_token
            token = await asyncio.to_thread(self._cloud.token, fresh=fresh)
            url = await asyncio.to_thread(self._cloud.stream_url)
            self._socket = socket = await connect(
                url, open_timeout=OPEN_LIMIT, close_timeout=CLOSE_LIMIT, max_size=None
            )
            for frame in self._protocol.opening(token, self._clock()):
                await socket.send(frame)
        except InvalidStatus as error:
            self._signals += self._protocol.refused(error.response.status_code, self._clock())
        except ConnectionClosed as error:
            await self._closed(error)
        except (OSError, InvalidHandshake, NoWorker, IdentityUnavailable) as error:
            await self._lost(f"{error}" or type(error).__name__)

    async def _read(self, socket: ClientConnection, patience: float) -> None:
        try:
            await self._renew(socket)
            text = await asyncio.wait_for(socket.recv(), patience)
            self._signals += self._protocol.receive(text, self._clock(), datetime.now(UTC))
        except TimeoutError:
            if self._protocol.silent(self._clock()):
                await self._lost("the worker has fallen silent")
        except ConnectionClosed as error:
            await self._closed(error)
        except (InvalidInput, IdentityUnavailable) as error:
            await self._lost(str(error))

    async def _renew(self, socket: ClientConnection) -> None:
        if self._protocol.renewal_due(datetime.now(UTC)):
            token = await asyncio.to_thread(self._cloud.token, fresh=True)
            await socket.send(authenticate(token))

    async def _closed(self, error: ConnectionClosed) -> None:
        await self.close()
        code, reason = (error.rcvd.code, error.rcvd.reason) if error.rcvd else (None, "")
        self._signals += self._protocol.closed(code, reason, self._clock())

    async def _lost(self, reason: str) -> None:
        await self.close()
        LOG.debug("The stream is lost: %s", reason, extra={"action": "stream_lost"})
        self._signals += self._protocol.lost(reason, self._clock())
