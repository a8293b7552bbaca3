"""The vocabulary of the stream: events, their status, and positions in the journal.

An event is a CloudEvents 1.0 envelope in JSON. The journal gives it its place, the
extensions ``sequence`` and ``epoch``; a resuming subscriber names that place as a
:class:`Position`. This module does no I/O and reads no clock.

Sources: CloudEvents 1.0 (JSON format and the ``sequence`` extension), and the message
shapes of TripleO's workflows.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Any, Self

import msgspec

from tripleo_worker.errors import InvalidEvent, InvalidPosition

#: Digits of ``sequence`` on the wire: fixed, so that text order is numeric order, and small
#: enough that every value is exact as a JavaScript number.
SEQUENCE_DIGITS = 16

#: One resource of a Heat stack changed state (from a stack's event sink).
HEAT_RESOURCE = "tripleo.heat.v1.resource"
#: A deployment says which stack it drives and how many resource changes it expects.
STACK_ANNOUNCED = "tripleo.deployment.v1.stack"
#: Prefix of state changes of workflow executions that the engine reports on the bus.
MISTRAL_WORKFLOW = "mistral.workflow."
#: Prefix of state changes of task executions that the engine reports on the bus.
MISTRAL_TASK = "mistral.task."
#: The worker's own watch found the state of an execution that had gone silent.
EXECUTION_WATCHED = "tripleo.worker.v1.execution"


class Status(enum.StrEnum):
    """What is known of an operation after an event."""

    RUNNING = "RUNNING"
    PAUSED = "PAUSED"
    SUCCESS = "SUCCESS"
    FAILED = "FAILED"
    CANCELLED = "CANCELLED"

    @property
    def terminal(self) -> bool:
        """Whether nothing can follow."""
        return self in _TERMINAL

    @classmethod
    def of(cls, word: object) -> Status | None:
        """Read a status as any sender spells it; None if the word says nothing known."""
        return STATUS_WORDS.get(word.strip().upper()) if isinstance(word, str) else None


_TERMINAL = frozenset({Status.SUCCESS, Status.FAILED, Status.CANCELLED})

#: Every word for a state that Mistral, Heat and senders of messages use, in one table.
STATUS_WORDS: Mapping[str, Status] = MappingProxyType(
    {
        "IDLE": Status.RUNNING,
        "WAITING": Status.RUNNING,
        "DELAYED": Status.RUNNING,
        "RUNNING": Status.RUNNING,
        "IN_PROGRESS": Status.RUNNING,
        "PAUSED": Status.PAUSED,
        "SUCCESS": Status.SUCCESS,
        "SUCCEEDED": Status.SUCCESS,
        "COMPLETE": Status.SUCCESS,
        "COMPLETED": Status.SUCCESS,
        "FAILED": Status.FAILED,
        "FAILURE": Status.FAILED,
        "ERROR": Status.FAILED,
        "TIMEOUT": Status.FAILED,
        "TIMED_OUT": Status.FAILED,
        "CANCELLED": Status.CANCELLED,
        "CANCELED": Status.CANCELLED,
    }
)

_POSITION = re.compile(r"([0-9a-zA-Z][0-9a-zA-Z-]{0,63}):([0-9]{1,19})\Z")


class Position(msgspec.Struct, frozen=True, order=True):
    """A place in one journal: everything up to and including ``sequence`` was seen."""

    epoch: str
    sequence: int

    def __str__(self) -> str:
        return f"{self.epoch}:{self.sequence}"

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read ``EPOCH:SEQUENCE``.

        Raises:
            InvalidPosition: the text has another form.
        """
        match = _POSITION.match(text)
        if match is None:
            raise InvalidPosition(
                f"{text[:80]!r} is not a position.",
                remedy="Give EPOCH:SEQUENCE as an event or a heartbeat named it.",
            )
        return cls(match[1], int(match[2]))


class EventData(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What an event says."""

    #: State of the subject after the event; None where the event says nothing of it.
    status: Status | None = None
    #: One text for people, whatever the sender's form was.
    message: str = ""
    #: The sender's own fields, masked.
    payload: dict[str, Any] = {}


class Event(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    omit_defaults=True,
    tag_field="specversion",  # a tag stands in every encoding and is checked in every decoding
    tag="1.0",
):
    """One thing that happened, as a CloudEvents 1.0 envelope."""

    #: The source's own identifier of the event; unique together with ``source``.
    id: str
    #: URI reference of where it came from, e.g. ``/zaqar/tripleo`` or ``/notifications/heat``.
    source: str
    type: str
    #: When it happened by the source's own clock; always with an offset.
    time: datetime
    #: What it is about, e.g. ``stack/ID/resource/NAME``, ``execution/ID``, ``node/UUID``.
    subject: str = ""
    #: The Keystone project that may see it; empty: administrators only.
    projectid: str = ""
    plan: str = ""
    executionid: str = ""
    rootexecutionid: str = ""
    #: True on the one event that ends its root execution.
    final: bool = False
    #: Decimal digits, zero-padded, given by the journal.
    sequence: str = ""
    #: The journal that gave ``sequence``.
    epoch: str = ""
    data: EventData = EventData()

    @property
    def position(self) -> Position:
        """The place the journal gave it.

        Raises:
            InvalidEvent: no journal has stored the event yet.
        """
        if not self.sequence:
            raise InvalidEvent("The event has no place in a journal yet.")
        return Position(self.epoch, int(self.sequence))

    def placed(self, position: Position) -> Event:
        """The same event with its place in the journal."""
        return msgspec.structs.replace(
            self, epoch=position.epoch, sequence=f"{position.sequence:0{SEQUENCE_DIGITS}d}"
        )


_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(Event)


def encode(event: Event) -> bytes:
    """The event as JSON (CloudEvents structured mode), UTF-8."""
    return _encoder.encode(event)


def decode(text: bytes | str) -> Event:
    """Read an event from JSON.

    Raises:
        InvalidEvent: the text is not JSON or not an event; the error names the field.
    """
    try:
        return _decoder.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InvalidEvent(f"Not an event: {error}.") from error
