"""The pure fold from events to an :class:`Operation`: what is known of one root execution.

The worker folds the journal, a client folds what it receives, and both get the same: the
outcome is read from the one ``final`` event alone, everything else is counted, and sequence
decides the order. No I/O and no clock; what depends on the time of day takes ``now``.

Sources: Heat's resource events (``heat.engine.event``), Mistral's notification data
(``mistral.engine.tasks``, ``workflows``) and the announcement of the deploy action.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from statistics import median
from typing import Any

import msgspec

from tripleo_worker import causes, places
from tripleo_worker.causes import Failure
from tripleo_worker.events import (
    HEAT_RESOURCE,
    MISTRAL_TASK,
    MISTRAL_WORKFLOW,
    STACK_ANNOUNCED,
    Event,
    Position,
    Status,
)

__all__ = [
    "Activity",
    "Failure",
    "Operation",
    "ResourceCounts",
    "Stage",
    "brief",
    "durations",
    "elapsed",
    "eta",
    "fold",
    "fold_all",
    "idle",
]

#: Resources in progress that are named; the newest are kept, the rest are only counted.
ACTIVITIES_KEPT = 16
#: Stages that are kept: the first ones, so that a loop of tasks cannot grow an operation.
STAGES_KEPT = 64
#: Longest message that is kept, in characters.
MESSAGE_KEPT = 2000
#: Shortest part of a run from which its own speed is judged, in percent.
PERCENT_TO_JUDGE = 5.0


class ResourceCounts(msgspec.Struct, frozen=True, kw_only=True):
    """Heat resources of a deployment, each counted once by its latest state."""

    #: How many the deployment announced; None: it did not say.
    expected: int | None = None
    seen: int = 0
    complete: int = 0
    failed: int = 0
    in_progress: int = 0

    @property
    def total(self) -> int | None:
        """What "all" means: the announced number, or what was seen where that is more."""
        return None if self.expected is None else max(self.expected, self.seen)


class Activity(msgspec.Struct, frozen=True, kw_only=True):
    """A resource that is being worked on."""

    subject: str
    name: str
    since: datetime
    #: The resources above it, e.g. ``Compute.0``; empty: it stands in the root stack.
    where: str = ""

    @property
    def label(self) -> str:
        """Its name with the way to it."""
        return places.labelled(self.where, self.name)


class Stage(msgspec.Struct, frozen=True, kw_only=True):
    """A task of the root workflow, by the engine's own word."""

    id: str
    name: str
    status: Status
    started: datetime
    ended: datetime | None = None


class Operation(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of one root execution after the events up to ``last_position``."""

    execution_id: str
    workflow: str = ""
    plan: str = ""
    project: str = ""
    status: Status = Status.RUNNING
    message: str = ""
    started: datetime
    #: Time of the newest event, whatever it was about.
    updated: datetime
    #: Time of the final event; None while the operation goes on.
    ended: datetime | None = None
    #: ``EPOCH:SEQUENCE`` of the first and the newest event; empty outside a journal.
    first_position: str = ""
    last_position: str = ""
    #: CREATE or UPDATE for a deployment; None for everything else.
    action: str | None = None
    stack_name: str = ""
    #: The stack's own state as Heat names it, e.g. ``CREATE_COMPLETE``; empty: not heard of.
    stack_status: str = ""
    resources: ResourceCounts = ResourceCounts()
    #: Causes, oldest first; what only passes a cause on is not listed.
    failures: tuple[Failure, ...] = ()
    #: Name of the newest stage that is going on, or of the last one.
    stage: str = ""
    stages: tuple[Stage, ...] = ()
    #: Resources in progress, newest first, at most ACTIVITIES_KEPT.
    active: tuple[Activity, ...] = ()
    #: Complete of all, 0 to 100; None where nothing can be counted.
    percent: float | None = None
    #: Latest state of each resource (``+`` complete, ``!`` failed, ``~`` in progress) by a
    #: short digest of its subject; empty in a :func:`brief` operation.
    ledger: dict[str, str] = {}
    #: The way to each nested stack from the root, by its id; empty in a :func:`brief` operation.
    ways: dict[str, str] = {}

    @property
    def terminal(self) -> bool:
        """Whether the outcome stands."""
        return self.status.terminal


def fold(operation: Operation | None, event: Event) -> Operation | None:
    """What is known after one more event; the same object where the event adds nothing."""
    return fold_all(operation, (event,))


def fold_all(operation: Operation | None, events: Iterable[Event]) -> Operation | None:
    """Fold events in their order, at one copy of the state for all of them.

    Events of other root executions, and those at or before ``last_position``, add nothing.
    """
    draft = None if operation is None else _Draft(operation)
    for event in events:
        if draft is None and event.rootexecutionid:
            draft = _Draft(_begin(event))
        if draft is not None and draft.concerns(event):
            draft.take(event)
    if draft is None or not draft.changed:
        return operation
    return draft.frozen()


def brief(operation: Operation) -> Operation:
    """The operation without its ledger and ways: for lists, where nobody folds on."""
    return msgspec.structs.replace(operation, ledger={}, ways={})


def elapsed(operation: Operation, now: datetime) -> timedelta:
    """How long it has been going on, or how long it took."""
    return max((operation.ended or now) - operation.started, timedelta(0))


def idle(operation: Operation, now: datetime) -> timedelta:
    """How long nothing was heard of it; nothing is expected any more once it has ended."""
    return timedelta(0) if operation.terminal else max(now - operation.updated, timedelta(0))


def durations(operation: Operation, earlier: Iterable[Operation]) -> list[timedelta]:
    """How long earlier successful runs of the same workflow and action took."""
    return [
        run.ended - run.started
        for run in earlier
        if run.ended is not None
        and run.status is Status.SUCCESS
        and run.execution_id != operation.execution_id
        and (run.workflow, run.action) == (operation.workflow, operation.action)
    ]


def eta(operation: Operation, now: datetime, history: Iterable[timedelta]) -> timedelta | None:
    """Time that is left, from earlier runs; None where there were none, or it has ended.

    The further a run is, the more its own speed counts against the median of the others.
    """
    known = [run.total_seconds() for run in history]
    if not known or operation.terminal:
        return None
    gone = elapsed(operation, now)
    left = timedelta(seconds=median(known)) - gone
    if operation.percent is not None and operation.percent >= PERCENT_TO_JUDGE:
        own = gone * (100 / operation.percent - 1)
        weight = operation.percent / 100
        left = own * weight + left * (1 - weight)
    return max(left, timedelta(0))


def _begin(event: Event) -> Operation:
    return Operation(
        execution_id=event.rootexecutionid,
        started=event.time,
        updated=event.time,
        first_position=_place(event),
    )


def _place(event: Event) -> str:
    return str(event.position) if event.sequence else ""


class _Draft:
    """An operation while events are folded into it."""

    def __init__(self, operation: Operation) -> None:
        self._base = operation
        self._fields: dict[str, Any] = {}
        self._ledger = dict(operation.ledger)
        self._tally = {
            "+": operation.resources.complete,
            "!": operation.resources.failed,
            "~": operation.resources.in_progress,
        }
        self._last = Position.parse(operation.last_position) if operation.last_position else None
        self.changed = False

    def __getattr__(self, name: str) -> Any:
        fields: dict[str, Any] = self.__dict__["_fields"]
        return fields[name] if name in fields else getattr(self._base, name)

    def concerns(self, event: Event) -> bool:
        """Whether the event is this operation's and newer than what was folded."""
        if event.rootexecutionid != self._base.execution_id:
            return False
        if self._last is None or not event.sequence:
            return True
        # Another epoch is another journal, whose sequences say nothing about this one's.
        return event.epoch != self._last.epoch or event.position > self._last

    def take(self, event: Event) -> None:
        """Fold one event in."""
        self.changed = True
        self._common(event)
        if event.type == HEAT_RESOURCE:
            self._heat(event)
        elif event.type.startswith(MISTRAL_TASK):
            self._task(event)
        elif event.type == STACK_ANNOUNCED:
            self._announced(event.data.payload)
        elif event.executionid == event.rootexecutionid:
            self._root(event)

    def frozen(self) -> Operation:
        """The operation as it stands."""
        counts = ResourceCounts(
            expected=self._fields.get("expected", self._base.resources.expected),
            seen=sum(self._tally.values()),
            complete=self._tally["+"],
            failed=self._tally["!"],
            in_progress=self._tally["~"],
        )
        fields = {name: value for name, value in self._fields.items() if name != "expected"}
        fields |= {"resources": counts, "ledger": self._ledger}
        fields["percent"] = _percent(counts, self.status)
        return msgspec.structs.replace(self._base, **fields)

    def _common(self, event: Event) -> None:
        if event.sequence:
            self._last = event.position
            self._fields["last_position"] = str(self._last)
        self._fields["updated"] = max(self.updated, event.time)
        if not self.terminal_now:
            self._fields["started"] = min(self.started, event.time)
        for name, value in (("plan", event.plan), ("project", event.projectid)):
            if value and not getattr(self, name):
                self._fields[name] = value

    @property
    def terminal_now(self) -> bool:
        """Whether the final event was folded."""
        status: Status = self.status
        return status.terminal

    def _root(self, event: Event) -> None:
        """A word about the root execution itself: its outcome, its state, its message."""
        status, message = event.data.status, event.data.message[:MESSAGE_KEPT]
        if not self.workflow:
            self._fields["workflow"] = _workflow(event)
        if self.terminal_now:
            # The engine's word can overtake the workflow's own: take its text, if it agrees.
            if message and not self.message and status is self.status:
                self._fields["message"] = message
            return
        if event.final and status is not None and status.terminal:
            self._fields |= {"status": status, "ended": event.time, "message": message}
        else:
            if status is not None and not status.terminal:
                self._fields["status"] = status
            if message:
                self._fields["message"] = message

    def _announced(self, payload: dict[str, Any]) -> None:
        for field, key in (("action", "action"), ("stack_name", "stack_name")):
            if isinstance(payload.get(key), str):
                self._fields[field] = payload[key]
        expected = payload.get("expected_resources")
        if isinstance(expected, int) and not isinstance(expected, bool) and expected > 0:
            self._fields["expected"] = expected

    def _task(self, event: Event) -> None:
        """A task of the root workflow is a stage; those of children are not."""
        payload, status = event.data.payload, Status.of(event.data.payload.get("state"))
        if payload.get("workflow_execution_id") != self._base.execution_id or status is None:
            return
        ended = event.time if status.terminal else None
        stages: list[Stage] = list(self.stages)
        known = next((at for at, one in enumerate(stages) if one.id == payload.get("id")), None)
        if known is not None:
            stages[known] = msgspec.structs.replace(stages[known], status=status, ended=ended)
        elif len(stages) < STAGES_KEPT:
            stages.append(
                Stage(
                    id=str(payload.get("id", "")),
                    name=str(payload.get("name", "")),
                    status=status,
                    started=event.time,
                    ended=ended,
                )
            )
        going = [one.name for one in stages if not one.status.terminal] or [stages[-1].name]
        self._fields |= {"stages": tuple(stages), "stage": going[-1]}

    def _heat(self, event: Event) -> None:
        payload = event.data.payload
        name, word = payload.get("resource_name"), payload.get("resource_status")
        status = Status.of(word)
        if not isinstance(name, str) or status is None:
            return
        stack = str(payload.get("stack_id", ""))
        if causes.is_stack_itself(payload):
            if name == self.stack_name:
                self._fields["stack_status"] = f"{payload.get('resource_action')}_{word}"
            elif stack not in self.ways:
                self._fields["ways"] = {**self.ways, stack: places.way(name, self.stack_name)}
        where = self.ways.get(stack, "")
        if not causes.is_stack_itself(payload):
            self._count(event, name, status, where)
        self._fields["failures"] = causes.settle(self.failures, event, where)

    def _count(self, event: Event, name: str, status: Status, where: str) -> None:
        subject = causes.subject_of(event)
        key = causes.digest(subject)
        before = self._ledger.get(key)
        mark = _MARKS.get(status, "~")
        if before is not None:
            self._tally[before] -= 1
        self._tally[mark] += 1
        self._ledger[key] = mark
        active = tuple(one for one in self.active if one.subject != subject)
        if mark == "~":
            going = Activity(subject=subject, name=name, since=event.time, where=where)
            active = (going, *active)
        self._fields["active"] = active[:ACTIVITIES_KEPT]


_MARKS = {Status.SUCCESS: "+", Status.FAILED: "!", Status.CANCELLED: "!"}


def _percent(counts: ResourceCounts, status: Status) -> float | None:
    if not counts.total:
        return None
    if status is Status.SUCCESS:
        return 100.0
    return round(100 * counts.complete / counts.total, 1)


def _workflow(event: Event) -> str:
    """The workflow's name: what the engine calls it, or the type of its own message."""
    named = event.data.payload.get("workflow_name")
    if isinstance(named, str) and named:
        return named
    engine = event.type.startswith((MISTRAL_WORKFLOW, "tripleo.worker."))
    return "" if engine else event.type
