"""Waiting for one execution: what to fold, when to ask Mistral, when to give up.

Without I/O and without a clock: a shell hands over what the stream says and what Mistral
answered, each with the time (seconds of a monotonic clock), and acts on what comes back.
Waiting is driven by time, so an execution that dies without a word is noticed with no
message at all; limits count the lack of progress apart from the whole duration.
"""

from __future__ import annotations

import enum
from datetime import datetime

import msgspec

from tripleo_worker.client.core import Back, Lost, Signal
from tripleo_worker.client.frames import Subscribed
from tripleo_worker.errors import ContactLost, OperationTimedOut
from tripleo_worker.events import EXECUTION_WATCHED, Event, EventData, Status
from tripleo_worker.operations import Operation, fold

#: Seconds of silence after which Mistral is asked while the stream stands.
ASK_WHEN_SILENT = 10.0
#: Seconds between two questions to Mistral while no stream stands.
ASK_WITHOUT_STREAM = 2.0
#: Seconds that the final event may take after Mistral said that the execution ended.
GRACE = 3.0
#: Seconds that causes of a failure may come after its final event.
CAUSES_MAY_FOLLOW = 1.5


class Contact(enum.StrEnum):
    """By what way news of the execution comes."""

    LIVE = "live"
    RECONNECTING = "reconnecting"
    POLLING = "polling"


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """When a wait ends before the operation does; all in seconds, None for never."""

    deadline: float | None = None
    #: Without any event of the operation.
    idle: float | None = None
    #: Without any answer, neither from the worker nor from Mistral.
    contact: float | None = 120.0


class ExecutionState(msgspec.Struct, frozen=True, kw_only=True):
    """An execution as Mistral has it."""

    id: str
    workflow: str
    status: Status
    message: str
    created: datetime
    updated: datetime


class Progress(msgspec.Struct, frozen=True, kw_only=True):
    """The operation at one moment of a wait."""

    #: None as long as nothing is known but the execution's id.
    operation: Operation | None
    #: What is new; None where only the contact changed, or time passed.
    event: Event | None
    contact: Contact
    #: Whether events were missed for good: the journal no longer reached back to them.
    missed: bool = False


class Wait:
    """The wait for one execution."""

    def __init__(
        self, execution: str, limits: Limits, now: float, contact: Contact = Contact.LIVE
    ) -> None:
        self.operation: Operation | None = None
        self.contact = contact
        self._missed = False
        self._execution = execution
        self._limits = limits
        self._began = self._progress = self._asked = self._reached = now
        self._ended: float | None = None
        self._answer: ExecutionState | None = None
        self._answered_at = 0.0

    def take(self, signal: Signal, now: float) -> Progress | None:
        """Fold what the stream says; None where it changes nothing to be seen."""
        self._reached = self._reached if isinstance(signal, Lost) else now
        if isinstance(signal, Event):
            return self._event(signal, now)
        before = self.contact, self.operation
        if isinstance(signal, Lost) and self.contact is Contact.LIVE:
            self.contact = Contact.RECONNECTING
        elif isinstance(signal, Back | Subscribed):
            self.contact = Contact.LIVE
        if isinstance(signal, Back):
            self._missed = self._missed or not signal.recovered
        if isinstance(signal, Subscribed) and not signal.recovered:
            self._snapshot(signal, now)
        return None if before == (self.contact, self.operation) else self.shown()

    def shown(self, event: Event | None = None) -> Progress:
        """The operation as it stands."""
        return Progress(
            operation=self.operation, event=event, contact=self.contact, missed=self._missed
        )

    def due(self, now: float) -> bool:
        """Whether Mistral should be asked for the state of the execution."""
        if self._ended is not None or self._answer is not None:
            return False
        if self.contact is Contact.LIVE:
            return now - max(self._progress, self._asked) >= ASK_WHEN_SILENT
        return now - self._asked >= ASK_WITHOUT_STREAM

    def answered(self, state: ExecutionState | None, now: float) -> Progress | None:
        """Take Mistral's answer; None stands for no answer."""
        self._asked = now
        if state is None:
            return None
        self._reached = now
        if state.status.terminal:
            self._answer, self._answered_at = state, now
            return self.settled(now)
        if self.operation is None or self.operation.status is not state.status:
            return self._event(_watched(state, final=False), now)
        return None

    def settled(self, now: float) -> Progress | None:
        """End by Mistral's word once the final event had its time to come and did not."""
        if self._answer is None or self._ended is not None:
            return None
        if self.contact is Contact.LIVE and now - self._answered_at < GRACE:
            return None
        return self._event(_watched(self._answer, final=True), now)

    def finished(self, now: float) -> bool:
        """Whether the outcome stands and nothing that belongs to it is to be expected."""
        if self._ended is None or self.operation is None:
            return False
        explained = self.operation.failures or not self.operation.resources.seen
        awaited = self.operation.status is Status.FAILED and not explained
        return not awaited or now - self._ended >= CAUSES_MAY_FOLLOW

    def overdue(self, now: float) -> bool:
        """Whether a limit has passed; ask Mistral once more, then raise :meth:`expiry`."""
        return self._ended is None and self._passed(now) is not None

    def expiry(self, state: ExecutionState | None, now: float) -> Exception:
        """The error that ends the wait and says the true state, as Mistral answered last."""
        which = self._passed(now)
        if which == "contact" and state is None:
            return ContactLost(
                f"Neither the worker nor Mistral has answered for {now - self._reached:.0f} s.",
                remedy=f"The execution may go on; see `openstack workflow execution show "
                f"{self._execution}` when they are back.",
            )
        word = state.status if state else "in an unknown state, for Mistral does not answer"
        limit = {
            "deadline": f"It did not end within {now - self._began:.0f} s",
            "idle": f"Nothing was heard of it for {now - self._progress:.0f} s",
        }.get(which or "", "The wait ended")
        return OperationTimedOut(
            f"{limit}; the execution is {word}.",
            remedy=f"Watch on with `openstack overcloud progress watch --execution "
            f"{self._execution}`.",
        )

    def _passed(self, now: float) -> str | None:
        since = {"deadline": self._began, "idle": self._progress, "contact": self._reached}
        for name, start in since.items():
            limit: float | None = getattr(self._limits, name)
            if limit is not None and now - start >= limit:
                return name
        return None

    def _event(self, event: Event, now: float) -> Progress | None:
        before = self.operation
        after = fold(before, event)
        if after is before or after is None or after.execution_id != self._execution:
            return None
        self.operation, self._progress = after, now
        if after.terminal and self._ended is None:
            self._ended = now
        return self.shown(event)

    def _snapshot(self, answer: Subscribed, now: float) -> None:
        """The journal lost what came between; go on from the worker's own fold of it."""
        known = self.operation
        for operation in answer.operations:
            if operation.execution_id != self._execution or (known and known.terminal):
                continue
            self.operation, self._progress = operation, now
            if operation.terminal:
                self._ended = now


def _watched(state: ExecutionState, *, final: bool) -> Event:
    """Mistral's answer as the event that the worker's own watch would write."""
    message = state.message
    if final and not message:
        message = "The workflow ended without a word of its own."
    return Event(
        id=f"{state.id} {state.status} {state.updated.isoformat()}",
        source="/mistral/executions",
        type=EXECUTION_WATCHED,
        # A state that only goes on is no news: it must not hide that nothing is heard.
        time=state.updated if final else state.created,
        subject=f"execution/{state.id}",
        executionid=state.id,
        rootexecutionid=state.id,
        final=final,
        data=EventData(
            status=state.status, message=message, payload={"workflow_name": state.workflow}
        ),
    )
