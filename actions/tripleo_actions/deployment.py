"""Actions that deploy and undeploy a plan: ``tripleo.deployment.*``.

``deploy`` starts the stack, ``wait_for_stack`` follows it for a slice of time and is called
again until it is done. One lock a plan lies between the two, renewed by each slice and freed
at the end; one whose execution has ended is no lock any more.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from typing import Any

import msgspec

from tripleo_actions import locks, messages, names, plan_store, stack_watch
from tripleo_actions.base import DEFAULT_CONTAINER, DEFAULT_QUEUE, Services, TripleOAction
from tripleo_actions.faults import CallFailed, NotThere, PlanLocked
from tripleo_actions.locks import Lease
from tripleo_actions.messaging import PROGRESS_QUEUE, own_execution, post, post_progress
from tripleo_actions.stack_request import (
    rendered_files,
    stack_request,
    with_defaults,
    with_event_sink,
)
from tripleo_actions.stack_watch import Outcome, Started
from tripleo_worker.errors import InvalidInput
from tripleo_worker.events import STACK_ANNOUNCED, Status

LOG = logging.getLogger(__name__)

#: Seconds after which the lock of a deployment frees itself; each slice renews it.
LEASE_SECONDS = 900
#: Seconds of one slice: clients in the field give up after 360 without a message.
SLICE = 120.0
#: Seconds between two looks at the stack.
LOOK = 1.0
#: Minutes of a deployment that a client can ask for.
LONGEST_TIMEOUT = 7 * 24 * 60


class Deploy(TripleOAction):
    """Start to create or to update the stack of a plan.

    Refuses while the plan is deployed by another execution, or its stack is in progress.

    Args:
        timeout: Minutes after which Heat gives up.
        container: The plan.
        skip_deploy_identifier: Whether configuration that has not changed is left alone.

    Returns:
        What :class:`WaitForStack` takes as ``stack``.
    """

    def __init__(
        self,
        timeout: int = 240,
        container: str = DEFAULT_CONTAINER,
        skip_deploy_identifier: bool = False,
    ) -> None:
        super().__init__()
        self.timeout = timeout
        self.container = container
        self.skip_deploy_identifier = skip_deploy_identifier

    def perform(self, services: Services) -> dict[str, Any]:
        """Lock, render, announce, start."""
        name = names.plan_name(self.container)
        minutes = checked_timeout(self.timeout)
        lease = hold(services, name)
        try:
            return self._start(services, name, minutes, lease)
        except BaseException:
            _release(lease)
            raise

    def _start(self, services: Services, name: str, minutes: int, lease: Lease) -> dict[str, Any]:
        request = request_of(services, name, keep=self.skip_deploy_identifier)
        stack = services.heat.stack(name)
        started = Started(
            plan=name,
            stack_name=name,
            stack_id=str(stack["id"]) if stack else "",
            action=action_for(name, stack),
            before=stack.get("updated_time") if stack else None,
            nonce=lease.nonce,
        )
        expected = expected_resources(services, started, request)
        announce(services, started, expected)
        lease.confirm()
        if started.action == "CREATE":
            made = services.heat.create(name, request, minutes)
            started = msgspec.structs.replace(started, stack_id=made)
            announce(services, started, expected)
        else:
            services.heat.update(name, started.stack_id, request, minutes)
        as_dict: dict[str, Any] = msgspec.to_builtins(started)
        return as_dict


class Undeploy(TripleOAction):
    """Start to delete the stack of a plan.

    Args:
        container: The plan.

    Returns:
        What :class:`WaitForStack` takes as ``stack``; without a stack there is nothing to do,
        and the wait ends at once.
    """

    def __init__(self, container: str = DEFAULT_CONTAINER) -> None:
        super().__init__()
        self.container = container

    def perform(self, services: Services) -> dict[str, Any]:
        """Lock, announce, delete."""
        name = names.plan_name(self.container)
        lease = hold(services, name)
        try:
            stack = services.heat.stack(name)
            started = Started(
                plan=name,
                stack_name=name,
                stack_id=str(stack["id"]) if stack else "",
                action="DELETE",
                nonce=lease.nonce,
            )
            if stack is not None:
                announce(services, started, None)
                lease.confirm()
                services.heat.delete_stack(name, started.stack_id)
        except BaseException:
            _release(lease)
            raise
        as_dict: dict[str, Any] = msgspec.to_builtins(started)
        return as_dict


class WaitForStack(TripleOAction):
    """Follow a stack until it is done, or for a slice of time.

    Args:
        stack: What :class:`Deploy` or :class:`Undeploy` returned.
        type: Of the progress message at the slice's end; the workflow's name.
        queue_name: For it.

    Returns:
        ``done``, ``status``, ``message``, ``stack_status``, ``failures``.
    """

    def __init__(
        self, stack: dict[str, Any], type: str = "", queue_name: str = DEFAULT_QUEUE
    ) -> None:
        super().__init__()
        self.stack = stack
        self.type = type
        self.queue_name = queue_name

    def perform(self, services: Services) -> dict[str, Any]:
        """Look again and again."""
        started = msgspec.convert(self.stack, Started)
        lease = locks.resume(
            services.swift,
            lock_name(started.plan),
            nonce=started.nonce,
            owner=services.owner,
            seconds=LEASE_SECONDS,
        )
        outcome = follow(services, started, SLICE)
        if outcome.done:
            _release(lease)
        else:
            _renew(lease)
            self._report(services, outcome)
        as_dict: dict[str, Any] = msgspec.to_builtins(outcome)
        return as_dict

    def _report(self, services: Services, outcome: Outcome) -> None:
        if not self.type or not services.execution_id:
            return
        payload = messages.build_payload(
            status="RUNNING", message=outcome.message, execution=own_execution(services)
        )
        post(services, self.queue_name, {"type": self.type, "payload": payload})


def follow(services: Services, started: Started, seconds: float) -> Outcome:
    """Look at a stack until it is done or the time is over.

    Raises:
        CallFailed: Heat refuses; one that does not answer is asked again until the time is over.
    """
    until = time.monotonic() + seconds
    while True:
        try:
            outcome = stack_watch.judge(started, _stack(services, started))
        except CallFailed as error:
            if not _passing(error) or time.monotonic() >= until:
                raise
            LOG.warning("The stack could not be read: %s", error, extra={"action": "wait"})
        else:
            if outcome.status == "FAILED" and started.stack_id:
                outcome = stack_watch.explained(outcome, _failed(services, started))
            if outcome.done or time.monotonic() >= until:
                return outcome
        time.sleep(LOOK)


def request_of(services: Services, name: str, *, keep: bool) -> dict[str, Any]:
    """What Heat is asked to deploy for a plan, events to the queue of progress included.

    Args:
        services: The caller's.
        name: The plan.
        keep: Whether the identifier that makes configuration run again is left as it was.
    """
    plan = plan_store.read(services, name)
    request = stack_request(plan.environment, rendered_files(plan.files))
    declared = request["template"].get("parameters") or {}
    if not keep and "DeployIdentifier" in declared:
        request = with_defaults(request, {"DeployIdentifier": str(int(time.time()))})
    return with_event_sink(request, PROGRESS_QUEUE)


def action_for(name: str, stack: Mapping[str, Any] | None) -> str:
    """CREATE or UPDATE, by the stack that is there.

    Raises:
        InvalidInput: the stack is in progress, or half deleted.
    """
    if stack is None:
        return "CREATE"
    word = str(stack["stack_status"])
    if word.endswith("_IN_PROGRESS"):
        raise InvalidInput(
            f"The stack {name} is {word}: nothing was started.",
            remedy="Wait until it is done, or cancel it.",
        )
    if word.startswith("DELETE_"):
        raise InvalidInput(
            f"The stack {name} is {word}: nothing was started.", remedy="Delete it first."
        )
    return "UPDATE"


def expected_resources(services: Services, started: Started, request: dict[str, Any]) -> int | None:
    """How many resources will change, by Heat's own preview; None if it cannot tell.

    Raises:
        CallFailed: Heat refuses the templates or parameters.
    """
    body = {key: value for key, value in request.items() if key != "event_sinks"}
    try:
        if started.action == "CREATE":
            return stack_watch.count(services.heat.preview(started.stack_name, body))
        changes = services.heat.preview_update(started.stack_name, started.stack_id, body)
    except CallFailed as error:
        if error.status in (400, 409) and started.action == "CREATE":
            raise
        LOG.warning("No preview: %s", error, extra={"action": "preview"})
        return None
    kinds = ("added", "updated", "replaced", "deleted")
    return sum(len(changes.get(kind) or ()) for kind in kinds) or None


def announce(services: Services, started: Started, expected: int | None) -> None:
    """Say which stack the deployment drives, before Heat says anything of it."""
    word = {"CREATE": "creating", "UPDATE": "updating", "DELETE": "deleting"}[started.action]
    post_progress(
        services,
        STACK_ANNOUNCED,
        {
            "message": f"{word.capitalize()} the stack {started.stack_name}",
            "plan_name": started.plan,
            "stack_name": started.stack_name,
            "stack_id": started.stack_id or None,
            "action": started.action,
            "expected_resources": expected,
        },
    )


def hold(services: Services, plan: str) -> Lease:
    """Take the lock of a plan's deployment.

    Raises:
        PlanLocked: an execution that goes on holds it.
    """
    name = lock_name(plan)
    try:
        return _take(services, name)
    except PlanLocked:
        if not _abandoned(services, locks.holder(services.swift, name)):
            raise
    services.swift.delete(locks.CONTAINER, name)
    return _take(services, name)


def lock_name(plan: str) -> str:
    """Of the lock of a plan's deployment."""
    return f"{plan}/deployment"


def checked_timeout(minutes: Any) -> int:
    """A timeout that Heat takes.

    Raises:
        InvalidInput: it is none.
    """
    whole = isinstance(minutes, int) and not isinstance(minutes, bool)
    if not whole or not 1 <= minutes <= LONGEST_TIMEOUT:
        raise InvalidInput(
            f"timeout: {minutes!r} is no number of minutes from 1 to {LONGEST_TIMEOUT}.",
            remedy="Give the minutes after which Heat gives up, e.g. 240.",
        )
    return int(minutes)


def _take(services: Services, name: str) -> Lease:
    return locks.take(services.swift, name, owner=services.owner, seconds=LEASE_SECONDS)


def _abandoned(services: Services, held: Mapping[str, Any]) -> bool:
    """Whether the execution that took a lock has ended without freeing it."""
    kind, _, execution = str(held.get("owner", "")).partition(" ")
    if kind != "execution" or execution == services.execution_id:
        return False
    try:
        status = Status.of(services.mistral.execution(execution).get("state"))
    except NotThere:
        return True
    return status is not None and status.terminal


def _stack(services: Services, started: Started) -> Mapping[str, Any] | None:
    if not started.stack_id:
        return None
    return services.heat.stack(f"{started.stack_name}/{started.stack_id}")


def _failed(services: Services, started: Started) -> list[dict[str, Any]]:
    try:
        return services.heat.failed_resources(started.stack_name, started.stack_id)
    except CallFailed as error:
        LOG.warning("No list of failed resources: %s", error, extra={"action": "explain"})
        return []


def _passing(error: CallFailed) -> bool:
    return error.status is None or error.status >= 500


def _release(lease: Lease) -> None:
    # It frees itself in the end; a failure here must not hide the deployment's outcome.
    try:
        lease.release()
    except CallFailed as error:
        LOG.warning("The lock stays until its time is over: %s", error, extra={"action": "unlock"})


def _renew(lease: Lease) -> None:
    try:
        lease.renew()
    except (CallFailed, PlanLocked) as error:
        LOG.warning("The lock was not renewed: %s", error, extra={"action": "relock"})
