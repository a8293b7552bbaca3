"""What is drawn of a wait, apart from how: the state that every way of drawing reads."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

import msgspec

from tripleo_worker import operations
from tripleo_worker.client.waiting import Contact, Progress
from tripleo_worker.events import HEAT_RESOURCE, Event, Status
from tripleo_worker.operations import Operation

#: Seconds without an event after which the silence is told.
QUIET = 10
#: Tasks of a workflow that only speak, check or tidy up; they are no stages for people.
_ASIDE = re.compile(r"(?:announce|fail|succeed|end|notify|set_status)\Z|(?:send|post|notify)_")


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """One sentence about one event."""

    time: datetime
    text: str
    #: ``info``, ``good``, ``bad`` or ``warning``.
    mood: str = "info"


#: Workflows as people call them: while they go on, and when they are done; a plan follows.
_DEEDS = {
    "tripleo.deployment.v1.deploy_plan": ("Deploying", "Deployment of"),
    "tripleo.plan_management.v1.create_deployment_plan": ("Creating plan", "Creation of plan"),
    "tripleo.plan_management.v1.update_deployment_plan": ("Updating plan", "Update of plan"),
    "tripleo.plan_management.v1.delete_deployment_plan": ("Deleting plan", "Deletion of plan"),
}


class View(msgspec.Struct, frozen=True, kw_only=True):
    """A wait at one moment."""

    #: What was started, as far as whoever started it knows.
    workflow: str = ""
    plan: str = ""
    operation: Operation | None = None
    contact: Contact = Contact.LIVE
    #: Whether events were missed for good.
    missed: bool = False
    #: Earlier operations, which tell how long this one may take.
    earlier: tuple[Operation, ...] = ()
    #: What was worth a line in the last progress; a text that was just said is not said again.
    said: Line | None = None
    last_text: str = ""

    @property
    def doing(self) -> str:
        """What goes on, e.g. ``Deploying overcloud``."""
        return self._words()[0]

    @property
    def deed(self) -> str:
        """What was done, e.g. ``Deployment of overcloud``."""
        return self._words()[1]

    def after(self, progress: Progress) -> View:
        """The view with what is new."""
        said = line(progress.event, progress.operation) if progress.event else None
        if said is not None and said.text == self.last_text:
            said = None
        return msgspec.structs.replace(
            self,
            operation=progress.operation,
            contact=progress.contact,
            missed=progress.missed,
            said=said,
            last_text=said.text if said else self.last_text,
        )

    def remaining(self, now: datetime) -> timedelta | None:
        """Time left; None where nothing earlier tells."""
        if self.operation is None:
            return None
        took = operations.durations(self.operation, self.earlier)
        return operations.eta(self.operation, now, took)

    def _words(self) -> tuple[str, str]:
        known = self.operation
        workflow = (known.workflow if known else "") or self.workflow
        plan = (known.plan if known else "") or self.plan
        doing, deed = _DEEDS.get(workflow, ("", ""))
        if doing:
            return f"{doing} {plan}".strip(), f"{deed} {plan}".strip()
        return f"Following {workflow or 'the operation'}", workflow or "The operation"


def stages(operation: Operation) -> list[operations.Stage]:
    """The stages that mean something to people."""
    return [stage for stage in operation.stages if not _ASIDE.match(stage.name)]


def leaves(operation: Operation) -> list[str]:
    """Labels of the resources in progress, without those that only wait for one below them."""
    labels = [one.label for one in operation.active]
    return [one for one in labels if not any(each.startswith(f"{one}.") for each in labels)]


def line(event: Event, operation: Operation | None) -> Line | None:
    """The sentence for an event; None for one that is only counted."""
    if event.type == HEAT_RESOURCE:
        return _failed_resource(event, operation)
    status, text = event.data.status, event.data.message
    if event.type.startswith(("mistral.", "orchestration.", "baremetal.")) or not text:
        return None
    if event.final and status is not Status.SUCCESS:
        # The summary that follows at once tells it.
        return None
    return Line(time=event.time, text=text, mood=_MOODS.get(status, "info") if status else "info")


_MOODS = {Status.SUCCESS: "good", Status.FAILED: "bad", Status.CANCELLED: "warning"}


def _failed_resource(event: Event, operation: Operation | None) -> Line | None:
    payload = event.data.payload
    causes = operation.failures if operation is not None else ()
    for failure in causes:
        subject = f"stack/{payload.get('stack_id')}/resource/{payload.get('resource_name')}"
        if failure.subject == subject and failure.time == event.time:
            return Line(time=event.time, text=f"{failure.label}: {failure.cause}", mood="bad")
    return None
