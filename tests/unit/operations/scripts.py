"""Events of a deployment as the worker would hand them out, for tests of what reads them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from tripleo_worker.events import Event, EventData, Position, Status

ROOT = "11111111-1111-4111-8111-111111111111"
START = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
WORKFLOW = "tripleo.deployment.v1.deploy_plan"


def at(seconds: float) -> datetime:
    """A time after the start."""
    return START + timedelta(seconds=seconds)


def message(
    status: str | None, text: str = "", *, seconds: float = 0, final: bool = False, **more: Any
) -> Event:
    """A workflow's own message on the contract queue."""
    return _event(
        "/zaqar/tripleo",
        more.pop("type", WORKFLOW),
        seconds,
        EventData(status=Status.of(status), message=text, payload=more),
        final=final,
    )


def engine(state: str, *, seconds: float = 0, final: bool = False, text: str = "") -> Event:
    """The engine's word on the root execution."""
    data = EventData(
        status=Status.of(state), message=text, payload={"workflow_name": WORKFLOW, "state": state}
    )
    return _event(
        "/notifications/mistral", f"mistral.workflow.{state.lower()}", seconds, data, final
    )


def task(name: str, state: str, *, seconds: float = 0, parent: str = ROOT) -> Event:
    """The engine's word on a task."""
    payload = {"id": f"task-{name}", "name": name, "state": state, "workflow_execution_id": parent}
    data = EventData(status=Status.of(state), payload=payload)
    return _event("/notifications/mistral", f"mistral.task.{state.lower()}", seconds, data)


def announced(expected: int | None, *, seconds: float = 0, action: str = "CREATE") -> Event:
    """The deploy action says what it drives."""
    payload = {"stack_name": "overcloud", "action": action, "expected_resources": expected}
    return _event(
        "/zaqar/tripleo-progress",
        "tripleo.deployment.v1.stack",
        seconds,
        EventData(status=Status.RUNNING, payload=payload),
    )


def resource(
    name: str,
    status: str,
    *,
    seconds: float = 0,
    stack: str = "s0",
    reason: str = "state changed",
    kind: str = "OS::Heat::TestResource",
    physical: str = "",
    action: str = "CREATE",
) -> Event:
    """A resource event of a stack's event sink."""
    payload = {
        "resource_name": name,
        "stack_id": stack,
        "resource_status": status,
        "resource_action": action,
        "resource_status_reason": reason,
        "resource_type": kind,
        "physical_resource_id": physical,
    }
    return _event(
        "/zaqar/tripleo-progress",
        "tripleo.heat.v1.resource",
        seconds,
        EventData(status=Status.of(status), message=reason, payload=payload),
    )


def placed(events: Iterable[Event], epoch: str = "e1", first: int = 1) -> Iterator[Event]:
    """The events with places in a journal, in their order."""
    for number, event in enumerate(events, first):
        yield event.placed(Position(epoch, number))


def _event(source: str, kind: str, seconds: float, data: EventData, final: bool = False) -> Event:
    return Event(
        id=f"{source}-{kind}-{seconds}-{data.payload.get('resource_name', '')}-{data.status}",
        source=source,
        type=kind,
        time=at(seconds),
        projectid="p1",
        plan="overcloud",
        executionid=ROOT,
        rootexecutionid=ROOT,
        final=final,
        data=data,
    )
