"""The socket under the protocol: it connects, reads, and comes back by itself."""

from __future__ import annotations

import logging
import random
import time
from collections import deque
from collections.abc import Callable
from contextlib import ExitStack
from datetime import UTC, datetime

from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus
from websockets.sync.client import ClientConnection, connect

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
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._cloud, self._clock, self._sleep = cloud, clock, sleep
        self._protocol = Protocol(subscription, random.random)
        self._signals: deque[Signal] = deque()
        self._socket: ClientConnection | None = None
        self._open = ExitStack()

    def next(self, patience: float) -> Signal | None:
        """The next signal, or None if there is none within ``patience`` seconds.

        Raises:
            NotAuthenticated, NotAuthorised, ServiceError, StreamClosed: coming back is of
                no use.
        """
        if not self._signals:
            if self._socket is None:
                self._connect(patience)
            else:
                self._read(self._socket, patience)
        return self._signals.popleft() if self._signals else None

    def close(self) -> None:
        """Leave the stream."""
        self._socket = None
        self._open.close()

    def _connect(self, patience: float) -> None:
        pause = self._protocol.retry_at - self._clock()
        if pause > 0:
            self._sleep(min(pause, patience))
            return
        try:
            token = self._cloud.token(fresh=self._protocol.fresh_token)
            socket = self._open.enter_context(
                connect(
                    self._cloud.stream_url(),
                    open_timeout=OPEN_LIMIT,
                    close_timeout=CLOSE_LIMIT,
                    max_size=None,
                )
            )
            self._socket = socket
            for frame in self._protocol.opening(token, self._clock()):
                socket.send(frame)
        except InvalidStatus as error:
            self._signals += self._protocol.refused(error.response.status_code, self._clock())
        except ConnectionClosed as error:
            self._closed(error)
        except (OSError, InvalidHandshake, NoWorker, IdentityUnavailable) as error:
            self._lost(f"{error}" or type(error).__name__)

    def _read(self, socket: ClientConnection, patience: float) -> None:
        try:
            self._renew(socket)
            text = socket.recv(timeout=patience)
            self._signals += self._protocol.receive(text, self._clock(), datetime.now(UTC))
        except TimeoutError:
            if self._protocol.silent(self._clock()):
                self._lost("the worker has fallen silent")
        except ConnectionClosed as error:
            self._closed(error)
        except (InvalidInput, IdentityUnavailable) as error:
            self._lost(str(error))

    def _renew(self, socket: ClientConnection) -> None:
        if self._protocol.renewal_due(datetime.now(UTC)):
            socket.send(authenticate(self._cloud.token(fresh=True)))

    def _closed(self, error: ConnectionClosed) -> None:
        self.close()
        code, reason = (error.rcvd.code, error.rcvd.reason) if error.rcvd else (None, "")
        self._signals += self._protocol.closed(code, reason, self._clock())

    def _lost(self, reason: str) -> None:
        self.close()
        LOG.debug("The stream is lost: %s", reason, extra={"action": "stream_lost"})
        self._signals += self._protocol.lost(reason, self._clock())
