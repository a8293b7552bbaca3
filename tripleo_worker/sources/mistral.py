"""The watch: asks Mistral for the state of executions that have gone silent.

The last net under the engine's own notifications and the workflows' messages: an execution
that died without a word ends here, in words.

Source: Mistral's API v2 (``executions``: ``state``, ``state_info``, ``updated_at``).
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

import aiohttp
import msgspec

from tripleo_worker.errors import JournalUnavailable, ServiceError
from tripleo_worker.events import EXECUTION_WATCHED, Event, EventData, Status
from tripleo_worker.identity import Identity
from tripleo_worker.operations import Operation
from tripleo_worker.ports import Batch, Health, Sink
from tripleo_worker.sources.delivery import deliver
from tripleo_worker.sources.health import Pulse
from tripleo_worker.sources.service import Service
from tripleo_worker.sources.texts import in_words, one_text, text_of, when

#: Seconds between two looks at the journal's open operations.
LOOK = 1.0
#: Seconds without a word after which an execution is asked for: with the bus, without it.
SILENT, SILENT_WITHOUT_BUS = 10.0, 2.0
#: Longest time between two questions about one execution, with the bus and without it.
LONGEST, LONGEST_WITHOUT_BUS = 60.0, 3.0
#: Times that an execution has to be missing before it counts as gone.
MISSING_TIMES = 2


class Turn(msgspec.Struct, kw_only=True):
    """How often an execution was asked for; times by the monotonic clock."""

    asked: float
    pause: float = 0.0
    missing: int = 0


class MistralWatch:
    """A :class:`tripleo_worker.ports.Source` over Mistral's API.

    Args:
        identity: an administrator's, for executions of all projects.
        http: for the calls.
        bus_is_well: whether notifications come; without them the watch is closer.
    """

    name = "mistral"

    def __init__(
        self,
        identity: Identity,
        http: aiohttp.ClientSession,
        bus_is_well: Callable[[], bool] = lambda: True,
    ) -> None:
        self._service = Service(identity, http, "workflowv2")
        self._bus_is_well = bus_is_well
        self._pulse = Pulse(self.name)
        self._turns: dict[str, Turn] = {}

    def health(self) -> Health:
        """See :meth:`tripleo_worker.ports.Source.health`."""
        return self._pulse.health()

    async def run(self, sink: Sink) -> None:
        """See :meth:`tripleo_worker.ports.Source.run`."""
        while True:
            try:
                await self._look(sink)
            except (ServiceError, JournalUnavailable) as error:
                self._pulse.fault(error)
            await asyncio.sleep(LOOK)

    async def _look(self, sink: Sink) -> None:
        if not self._pulse.well:
            await self._service.call("GET", "/executions", params={"limit": "1", "fields": "id"})
            self._pulse.beat()
        waiting = await sink.open_operations()
        open_now = {operation.execution_id for operation in waiting}
        self._turns = {known: turn for known, turn in self._turns.items() if known in open_now}
        for operation in self._due(waiting):
            event = await self._ask(operation)
            self._pulse.beat()
            if event is not None:
                await deliver(sink, Batch(source=self.name, events=(event,)), self._pulse)

    def _due(self, waiting: Sequence[Operation]) -> list[Operation]:
        now, today = time.monotonic(), datetime.now(UTC)
        well = self._bus_is_well()
        silent, longest = (SILENT, LONGEST) if well else (SILENT_WITHOUT_BUS, LONGEST_WITHOUT_BUS)
        found = []
        for operation in waiting:
            if (today - operation.updated).total_seconds() < silent:
                self._turns.pop(operation.execution_id, None)
                continue
            turn = self._turns.setdefault(operation.execution_id, Turn(asked=now))
            if now - turn.asked >= min(turn.pause, longest):
                turn.asked, turn.pause = now, min(max(turn.pause * 2, silent), longest)
                found.append(operation)
        return found

    async def _ask(self, operation: Operation) -> Event | None:
        ident = operation.execution_id
        status, body = await self._service.call(
            "GET", f"/executions/{quote(ident, safe='')}", also=(404,)
        )
        turn = self._turns[ident]
        if status == 404:
            turn.missing += 1
            if turn.missing < MISSING_TIMES:
                turn.pause = LOOK
                return None
            return _gone(operation, datetime.now(UTC))
        turn.missing = 0
        if not isinstance(body, Mapping):
            raise ServiceError("Mistral's answer about an execution is no object.")
        return _ended(operation, body, datetime.now(UTC))


def _ended(operation: Operation, execution: Mapping[str, Any], now: datetime) -> Event | None:
    """The event for an execution that has ended; None while it goes on."""
    status = Status.of(execution.get("state"))
    if status is None or (not status.terminal and status is operation.status):
        return None
    changed = text_of(execution, "updated_at")
    info = one_text(execution.get("state_info"))
    return _event(
        operation,
        ident=f"{operation.execution_id} {execution.get('state')} {changed}",
        status=status,
        message=in_words(status, info) if status.terminal else info,
        time=when(changed, now),
        payload={
            "workflow_name": execution.get("workflow_name"),
            "state": execution.get("state"),
            "state_info": execution.get("state_info"),
            "project_id": execution.get("project_id"),
        },
    )


def _gone(operation: Operation, now: datetime) -> Event:
    """The event for an execution that Mistral does not know any more."""
    return _event(
        operation,
        ident=f"{operation.execution_id} GONE",
        status=Status.FAILED,
        message="Mistral does not know the execution any more: it was deleted before it ended.",
        time=now,
        payload={},
    )


def _event(
    operation: Operation,
    *,
    ident: str,
    status: Status,
    message: str,
    time: datetime,
    payload: dict[str, Any],
) -> Event:
    return Event(
        id=ident,
        source="/mistral/executions",
        type=EXECUTION_WATCHED,
        time=time,
        subject=f"execution/{operation.execution_id}",
        projectid=operation.project or text_of(payload, "project_id"),
        plan=operation.plan,
        executionid=operation.execution_id,
        rootexecutionid=operation.execution_id,
        data=EventData(status=status, message=message, payload=payload),
    )
