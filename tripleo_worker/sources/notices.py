"""Notifications of Heat, Ironic and Mistral as events.

Sources: oslo.messaging's notification format; Heat's ``heat.rpc.api`` notifications
(``orchestration.stack.*``); Ironic's versioned notifications (``baremetal.*``); Mistral's as
our publisher sends them (``mistral.workflow.*``, ``mistral.task.*``).
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from tripleo_worker.events import MISTRAL_TASK, Event, EventData, Status
from tripleo_worker.ports import DeadLetter
from tripleo_worker.sources.texts import in_words, mapping_of, one_text, raw_text, text_of, when

#: First part of an event type -> the service that sends such.
_SERVICES = {"orchestration": "heat", "baremetal": "ironic", "mistral": "mistral"}


def read(message: Mapping[str, Any], *, now: datetime) -> Event | DeadLetter:
    """A notification as an event, or set aside with the reason why it is none.

    Args:
        message: as a batch listener of oslo.messaging gets it: ``event_type``, ``payload``,
            ``publisher_id``, ``metadata`` with ``message_id`` and ``timestamp``.
        now: when it was read.
    """
    kind, payload = message.get("event_type"), message.get("payload")
    metadata = mapping_of(message.get("metadata"))
    ident = text_of(metadata, "message_id")
    fault = _fault(kind, payload, ident)
    if fault or not isinstance(kind, str) or not isinstance(payload, Mapping):
        return _aside(message, fault, ident, now)
    happened = when(metadata.get("timestamp"), now)
    service = _SERVICES.get(kind.partition(".")[0], "other")
    reader = {"heat": _heat, "ironic": _ironic, "mistral": _mistral}.get(service, _other)
    return reader(ident, kind, payload, happened)


def _fault(kind: object, payload: object, ident: str) -> str:
    if not isinstance(kind, str) or not kind:
        return "event_type: is missing or no text."
    if not isinstance(payload, Mapping):
        return f"payload: is no object but {type(payload).__name__}."
    return "" if ident else "message_id: is missing."


def _aside(message: Mapping[str, Any], fault: str, ident: str, now: datetime) -> DeadLetter:
    body = raw_text(
        {key: message.get(key) for key in ("publisher_id", "event_type", "payload", "metadata")}
    )
    digest = hashlib.sha256(body.encode("utf-8", "backslashreplace")).hexdigest()
    return DeadLetter(
        id=ident or digest, source="/notifications", reason=fault, body=body, time=now
    )


def _mistral(ident: str, kind: str, payload: Mapping[str, Any], happened: datetime) -> Event:
    own = text_of(payload, "execution_id")
    task = kind.startswith(MISTRAL_TASK)
    subject = f"task/{text_of(payload, 'id')}" if task else f"execution/{own}"
    inputs = mapping_of(payload.get("input"))
    status, info = Status.of(payload.get("state")), one_text(payload.get("state_info"))
    if status in (Status.FAILED, Status.CANCELLED) and not info and not task:
        info = in_words(status, info)
    return Event(
        id=ident,
        source="/notifications/mistral",
        type=kind,
        time=when(payload.get("timestamp"), happened),
        subject=subject,
        projectid=text_of(payload, "project_id"),
        plan="" if task else text_of(inputs, "container", "plan", "plan_name"),
        executionid=own,
        rootexecutionid=text_of(payload, "root_execution_id") or own,
        data=EventData(
            status=status,
            message=info,
            payload=dict(payload),
        ),
    )


def _heat(ident: str, kind: str, payload: Mapping[str, Any], happened: datetime) -> Event:
    state = text_of(payload, "state")
    reason = one_text(payload.get("state_reason"))
    return Event(
        id=ident,
        source="/notifications/heat",
        type=kind,
        time=happened,
        subject=f"stack/{text_of(payload, 'stack_identity').rpartition('/')[2]}",
        projectid=text_of(payload, "tenant_id"),
        data=EventData(
            status=Status.of(state.rpartition("_")[2]) or Status.of(state.partition("_")[2]),
            message=": ".join(filter(None, (state, reason))),
            payload=dict(payload),
        ),
    )


def _ironic(ident: str, kind: str, payload: Mapping[str, Any], happened: datetime) -> Event:
    # The payload of a versioned notification is an object with its data inside.
    data = mapping_of(payload.get("ironic_object.data")) or payload
    state, fault = text_of(data, "provision_state"), one_text(data.get("last_error"))
    failed = kind.endswith((".error", ".fail"))
    return Event(
        id=ident,
        source="/notifications/ironic",
        type=kind,
        time=when(data.get("updated_at"), happened),
        subject=f"node/{text_of(data, 'uuid', 'node_uuid')}",
        projectid=text_of(data, "owner"),
        data=EventData(
            status=Status.FAILED if failed else None,
            message=fault if failed and fault else state,
            payload=dict(payload),
        ),
    )


def _other(ident: str, kind: str, payload: Mapping[str, Any], happened: datetime) -> Event:
    return Event(
        id=ident,
        source="/notifications/other",
        type=kind,
        time=happened,
        projectid=text_of(payload, "project_id", "tenant_id"),
        data=EventData(payload=dict(payload)),
    )
