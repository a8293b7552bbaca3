"""The stream's protocol, without I/O and without a clock.

A shell connects a socket, sends what :meth:`Protocol.opening` gives, hands over each text
it receives and each loss, and comes back at :attr:`Protocol.retry_at`. The protocol knows
the position, so nothing is missed and nothing comes twice, whatever the sockets do. Times
are seconds of a monotonic clock, but for the life of a token, which is time of day.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta

import msgspec

from tripleo_worker.client import frames
from tripleo_worker.client.frames import Heartbeat, Subscribed, Subscription
from tripleo_worker.errors import NotAuthenticated, NotAuthorised, ServiceError, StreamClosed
from tripleo_worker.events import Event, Position

#: Longest pause between two attempts to connect, in seconds.
LONGEST_PAUSE = 10.0
#: Heartbeats that may fail to come before a socket counts as dead.
HEARTBEATS_MISSED = 3
#: Seconds between heartbeats where the subscription does not say.
USUAL_HEARTBEAT = 10.0
#: A token is renewed this long before its end, or in the last quarter of a short life.
RENEW_BEFORE = timedelta(seconds=60)

_TOKEN_EXPIRED, _NOT_AUTHENTICATED, _NOT_AUTHORISED = 4002, 4501, 4503


class Lost(msgspec.Struct, frozen=True, kw_only=True):
    """Contact is lost; the stream is coming back by itself."""

    reason: str


class Back(msgspec.Struct, frozen=True, kw_only=True):
    """Contact is there again, at the position where it was lost if that was ``recovered``."""

    recovered: bool


#: What happens on a stream, in order.
Signal = Event | Subscribed | Heartbeat | Lost | Back


def pauses(jitter: Callable[[], float]) -> Iterator[float]:
    """Seconds before each further attempt: at once, then twice as long each time.

    Args:
        jitter: gives numbers from 0 to 1, so that a thousand followers do not come back
            in the same moment.
    """
    longest = 0.25
    yield 0.05 * jitter()
    while True:
        yield longest * (0.5 + 0.5 * jitter())
        longest = min(longest * 2, LONGEST_PAUSE)


class Protocol:
    """One subscription over as many sockets as it takes."""

    def __init__(self, subscription: Subscription, jitter: Callable[[], float]) -> None:
        self._subscription = subscription
        self._jitter = jitter
        self._pauses = pauses(jitter)
        self._position = _parsed(subscription.since)
        self._out = False
        self._refused_token = False
        self._heard = 0.0
        self._renew_at: datetime | None = None
        self._refusal = ""
        #: Whether the next token must be a new one.
        self.fresh_token = False
        #: When the next attempt to connect may be made.
        self.retry_at = 0.0

    @property
    def position(self) -> Position | None:
        """Up to where everything was handed out; None as long as nothing says."""
        return self._position

    def opening(self, token: str, now: float) -> tuple[str, str]:
        """What to send on a new socket: who asks, and for what."""
        self._heard, self.fresh_token = now, False
        wanted = self._subscription
        if self._position is not None:
            wanted = msgspec.structs.replace(wanted, since=str(self._position))
        return frames.authenticate(token), frames.subscribe(wanted)

    def receive(self, text: str | bytes, now: float, today: datetime) -> tuple[Signal, ...]:
        """What a text from the worker means, duplicates left out.

        Raises:
            InvalidEvent: it means nothing; drop the socket and tell :meth:`lost`.
            NotAuthorised, StreamClosed: the worker will not serve this subscription.
        """
        frame = frames.read(text)
        self._heard = now
        if frame.event is not None or frame.heartbeat is not None:
            # Only a stream that goes on has proved itself; one that falls at once has not.
            self._pauses = pauses(self._jitter)
        if frame.authenticated is not None:
            self._refused_token = False
            self._renew_at = _renewal(frame.authenticated.expires_at, today)
        if frame.error is not None:
            self._refusal = f"{frame.error.message} {frame.error.remedy}".strip()
        if frame.subscribed is not None:
            return self._subscribed(frame.subscribed)
        if frame.event is not None:
            return (frame.event,) if self._passes(frame.event.position) else ()
        if frame.heartbeat is not None:
            self._passes(Position.parse(frame.heartbeat.position))
            return (frame.heartbeat,)
        return ()

    def lost(self, reason: str, now: float) -> tuple[Lost, ...]:
        """The socket is gone or could not be opened; only the first word of an outage shows."""
        self.retry_at = now + next(self._pauses)
        if self._out:
            return ()
        self._out = True
        return (Lost(reason=reason),)

    def closed(self, code: int | None, reason: str, now: float) -> tuple[Lost, ...]:
        """The worker closed the socket, or the network did (``code`` None or 1006).

        Raises:
            NotAuthenticated, NotAuthorised, StreamClosed: there is no coming back.
        """
        if code == _TOKEN_EXPIRED:
            # Expected, and cured by a new token: no outage, no warning.
            self.fresh_token, self.retry_at = True, now + next(self._pauses)
            return ()
        if code == _NOT_AUTHENTICATED:
            return self.refused(401, now)
        if code == _NOT_AUTHORISED:
            return self.refused(403, now)
        if code is not None and 4500 <= code <= 4999:
            why = self._refusal or reason or f"code {code}."
            raise StreamClosed(f"The worker closed the stream: {why}", reconnect=False)
        said = reason or ("the connection broke" if code in (None, 1006) else f"code {code}")
        return self.lost(said, now)

    def refused(self, status: int, now: float) -> tuple[Lost, ...]:
        """The worker answered the handshake with an HTTP status, or its like on the stream.

        Raises:
            NotAuthenticated, NotAuthorised, ServiceError: coming back would not help.
        """
        if status == 401 and not self._refused_token:
            self._refused_token = self.fresh_token = True
            self.retry_at = now
            return ()
        if status == 401:
            raise NotAuthenticated(
                "The worker does not take the token.",
                remedy="Check the cloud's credentials, and that the worker asks the same Keystone.",
            )
        if status == 403:
            raise NotAuthorised(
                "The worker's policy does not let this user follow the stream.",
                remedy="Ask for a role in the project, or for the admin role.",
            )
        if 400 <= status < 500 and status not in (408, 429):
            raise ServiceError(
                f"What answers as the worker says {status}: it is no worker's stream.",
                remedy="Check TRIPLEO_WORKER_ENDPOINT, or the catalog's tripleo-worker.",
            )
        return self.lost(f"HTTP {status}", now)

    def silent(self, now: float) -> bool:
        """Whether the socket must be taken for dead: even heartbeats do not come."""
        usual = self._subscription.heartbeat or USUAL_HEARTBEAT
        return now - self._heard > HEARTBEATS_MISSED * usual

    def renewal_due(self, today: datetime) -> bool:
        """Whether a new token should be sent on this socket now; true once a token."""
        due = self._renew_at is not None and today >= self._renew_at
        if due:
            self._renew_at = None
        return due

    def _subscribed(self, answer: Subscribed) -> tuple[Signal, ...]:
        # Events up to the answer's position may still be on their way when it recovers.
        if self._position is None and self._subscription.since == frames.LATEST:
            self._position = Position.parse(answer.position)
        if not answer.recovered:
            self._position = Position.parse(answer.position)
        was_out, self._out = self._out, False
        return (Back(recovered=answer.recovered), answer) if was_out else (answer,)

    def _passes(self, position: Position) -> bool:
        """Move on to a position; False for one that was passed already."""
        here = self._position
        if here is not None and here.epoch == position.epoch and position <= here:
            return False
        self._position = position
        return True


def _parsed(since: str) -> Position | None:
    return None if since in (frames.EARLIEST, frames.LATEST) else Position.parse(since)


def _renewal(expires: datetime | None, today: datetime) -> datetime | None:
    if expires is None:
        return None
    life = max(expires - today, timedelta(0))
    return expires - min(RENEW_BEFORE, life / 4)
