"""The frames of the stream: one JSON object with one key a frame, in both directions."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec

from tripleo_worker.errors import InvalidEvent
from tripleo_worker.events import Event, Position
from tripleo_worker.operations import Operation

#: Where a subscription may begin besides a position.
EARLIEST, LATEST = "earliest", "latest"


class Subscription(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a follower wants to hear."""

    #: Events of this execution, or of the root execution and all below it.
    execution: str = ""
    plan: str = ""
    #: Prefix of the event type.
    type: str = ""
    #: ``EPOCH:SEQUENCE``, ``earliest`` or ``latest``.
    since: str = LATEST
    #: Seconds between two heartbeats; None: as the worker likes.
    heartbeat: float | None = None


class Authenticated(msgspec.Struct, frozen=True, kw_only=True):
    """The worker took the token."""

    project_id: str = ""
    expires_at: datetime | None = None


class Subscribed(msgspec.Struct, frozen=True, kw_only=True):
    """The subscription stands; ``recovered`` says whether every later event follows."""

    recovered: bool
    position: str
    #: The operations as they are, where the journal no longer reaches back.
    operations: tuple[Operation, ...] = ()


class Heartbeat(msgspec.Struct, frozen=True, kw_only=True):
    """Everything up to ``position`` was sent, or is not for this subscriber."""

    position: str


class Refusal(msgspec.Struct, frozen=True, kw_only=True):
    """Why the worker is about to close the stream."""

    code: str = ""
    message: str = ""
    remedy: str = ""


class ServerFrame(msgspec.Struct, frozen=True):
    """A frame from the worker; one field is set, or none where the worker is newer."""

    authenticated: Authenticated | None = None
    subscribed: Subscribed | None = None
    event: Event | None = None
    heartbeat: Heartbeat | None = None
    error: Refusal | None = None


_decoder = msgspec.json.Decoder(ServerFrame)


def read(text: str | bytes) -> ServerFrame:
    """Read a frame.

    Raises:
        InvalidEvent: it is not a frame, or names a position that is none.
    """
    try:
        frame = _decoder.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InvalidEvent(f"The worker sent what is no frame: {error}.") from error
    for part in (frame.subscribed, frame.heartbeat):
        if part is not None:
            Position.parse(part.position)
    if frame.event is not None and not frame.event.sequence.isdecimal():
        raise InvalidEvent("The worker sent an event without a place in its journal.")
    return frame


def authenticate(token: str) -> str:
    """The frame that gives a token, at the start or again later."""
    return _written({"authenticate": {"token": token}})


def subscribe(subscription: Subscription) -> str:
    """The frame that asks for events."""
    return _written({"subscribe": subscription})


def _written(frame: dict[str, Any]) -> str:
    return msgspec.json.encode(frame).decode()
