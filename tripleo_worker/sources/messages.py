"""Messages of Zaqar queues as events.

Sources: the message shapes of TripleO's workflows (``{type, payload}``); Heat's event sinks
(``{type: os.heat.event, id, timestamp, payload}``); Zaqar's API v2 for the envelope.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from tripleo_worker.events import HEAT_RESOURCE, Event, EventData, Status
from tripleo_worker.ports import DeadLetter
from tripleo_worker.sources.texts import mapping_of, one_text, raw_text, text_of, when

HEAT_EVENT = "os.heat.event"
#: Keys under which the input of a workflow names its plan.
PLAN_KEYS = ("container", "plan", "plan_name")


def read(
    message: Mapping[str, Any], *, queue: str, project: str, now: datetime
) -> Event | DeadLetter:
    """A message as an event, or set aside with the reason why it is none.

    Args:
        message: as Zaqar lists it: ``id``, ``age`` in seconds, ``body``.
        queue: where it was.
        project: whose queue it is.
        now: when it was read.
    """
    source = f"/zaqar/{queue}"
    body, age = message.get("body"), message.get("age")
    posted = now - timedelta(seconds=age) if isinstance(age, int | float) else now
    reason = _fault(body)
    if reason:
        return DeadLetter(
            id=str(message.get("id", "")),
            source=source,
            reason=reason,
            body=raw_text(body),
            time=posted,
        )
    assert isinstance(body, Mapping)  # noqa: S101 - what is none has a fault
    if body["type"] == HEAT_EVENT:
        return _heat(body, str(message.get("id", "")), source, project, posted)
    return _contract(body, str(message.get("id", "")), source, project, posted)


def _fault(body: object) -> str:
    if not isinstance(body, Mapping):
        return f"The body is no object but {type(body).__name__}."
    if not isinstance(body.get("type"), str) or not body["type"]:
        return "type: is missing or no text."
    if not isinstance(body.get("payload"), Mapping):
        return "payload: is missing or no object."
    return ""


def _contract(
    body: Mapping[str, Any], ident: str, source: str, project: str, posted: datetime
) -> Event:
    payload = dict(body["payload"])
    execution = mapping_of(payload.get("execution"))
    own = text_of(payload, "execution_id") or text_of(execution, "id")
    root = text_of(payload, "root_execution_id") or text_of(execution, "root_execution_id") or own
    plan = text_of(payload, "plan_name") or text_of(execution.get("input"), *PLAN_KEYS)
    return Event(
        id=ident,
        source=source,
        type=body["type"],
        time=posted,
        subject=f"execution/{own}" if own else "",
        projectid=project,
        plan=plan,
        executionid=own,
        rootexecutionid=root,
        data=EventData(
            status=Status.of(payload.get("status")),
            message=one_text(payload.get("message")),
            payload=payload,
        ),
    )


def _heat(
    body: Mapping[str, Any], ident: str, source: str, project: str, posted: datetime
) -> Event:
    # The properties hold whatever a template put there, secrets under any name.
    payload = {k: v for k, v in body["payload"].items() if k != "resource_properties"}
    action, word = text_of(payload, "resource_action"), text_of(payload, "resource_status")
    reason = one_text(payload.get("resource_status_reason"))
    state = "_".join(filter(None, (action, word)))
    told = f"{state}: {reason}" if reason and reason != "state changed" else state
    stack, name = text_of(payload, "stack_id"), text_of(payload, "resource_name")
    return Event(
        id=text_of(body, "id") or ident,
        source=source,
        type=HEAT_RESOURCE,
        time=when(body.get("timestamp"), posted),
        subject=f"stack/{stack}/resource/{name}",
        projectid=project,
        data=EventData(status=Status.of(word), message=told, payload=payload),
    )
