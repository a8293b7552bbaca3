"""Starting what a deployment does to its stack: what is asked of Heat, and what is announced."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from typing import Any
from uuid import uuid4

import msgspec

from tripleo_actions import locks, plan_store, stack_expected, stack_lock
from tripleo_actions.base import Services
from tripleo_actions.faults import CallFailed, PlanLocked
from tripleo_actions.locks import Lease
from tripleo_actions.messaging import PROGRESS_QUEUE, post_progress
from tripleo_actions.stack_request import (
    IDENTIFIER,
    rendered_files,
    stack_request,
    with_defaults,
    with_event_sink,
)
from tripleo_actions.stack_watch import Started
from tripleo_worker.errors import InvalidInput, OperationCancelled
from tripleo_worker.events import STACK_ANNOUNCED

LOG = logging.getLogger(__name__)

#: Minutes of a deployment that a client can ask for.
LONGEST_TIMEOUT = 7 * 24 * 60
#: Seconds beyond the timeout until the wait ends: Heat gives up by itself before.
GRACE = 300

_WORDS = {"CREATE": "Creating", "UPDATE": "Updating", "DELETE": "Deleting"}

Request = dict[str, Any]


def deploy(services: Services, lease: Lease, plan: str, minutes: int, *, keep: bool) -> Started:
    """Create or update the stack of a plan.

    Args:
        services: The caller's.
        lease: The lock on the plan's deployment.
        plan: Its name, and the stack's.
        minutes: After which Heat gives up.
        keep: Whether configuration that has not changed is left alone.

    Raises:
        PlanLocked: the stack is in progress, or the plan is being changed.
        InvalidInput: the plan is faulty, or the stack half deleted.
        OperationCancelled: the execution has ended meanwhile.
        CallFailed: Heat refuses the plan.
    """
    stack = services.heat.stack(plan)
    started = _started(plan, stack, action_for(plan, stack), lease, minutes)
    request = request_of(services, plan, stack, keep=keep)
    announce(services, started, None)
    expected = expected_resources(services, started, request)
    _confirm(services, lease)
    started = _begin(services, started, with_event_sink(request, PROGRESS_QUEUE), minutes)
    announce(services, started, expected)
    return started


def undeploy(services: Services, lease: Lease, plan: str, minutes: int) -> Started:
    """Delete the stack of a plan; without a stack nothing is done.

    Raises:
        OperationCancelled: the execution has ended meanwhile.
        CallFailed: Heat refuses.
    """
    stack = services.heat.stack(plan)
    started = _started(plan, stack, "DELETE", lease, minutes)
    if stack is not None:
        announce(services, started, _listed(services, started))
        _confirm(services, lease)
        services.heat.delete_stack(plan, started.stack_id)
    return started


def request_of(
    services: Services, plan: str, stack: Mapping[str, Any] | None, *, keep: bool
) -> Request:
    """What Heat is asked to deploy for a plan.

    Args:
        services: The caller's.
        plan: Its name.
        stack: The plan's stack as it is, or None.
        keep: Whether the identifier that makes configuration run again stays as it was.
    """
    # No change may come between the files that are read.
    with locks.change(services.swift, plan, services.owner):
        read = plan_store.read(services, plan)
    request = stack_request(read.environment, rendered_files(read.files))
    if IDENTIFIER not in (request["template"].get("parameters") or {}):
        return request
    before = str(((stack or {}).get("parameters") or {}).get(IDENTIFIER) or "")
    now = str(int(time.time()))
    return with_defaults(request, {IDENTIFIER: (before or now) if keep else now})


def action_for(plan: str, stack: Mapping[str, Any] | None) -> str:
    """CREATE or UPDATE, by the stack that is there.

    Raises:
        PlanLocked: the stack is in progress.
        InvalidInput: it is half deleted.
    """
    if stack is None:
        return "CREATE"
    word = str(stack["stack_status"])
    if word.endswith("_IN_PROGRESS"):
        raise PlanLocked(
            f"The stack {plan} is {word}: nothing was started.",
            remedy="Wait until it is done, or cancel it.",
        )
    if word.startswith("DELETE_"):
        raise InvalidInput(
            f"The stack {plan} is {word}: nothing was started.", remedy="Delete it first."
        )
    return "UPDATE"


def expected_resources(services: Services, started: Started, request: Request) -> int | None:
    """How many resources will change; None if that cannot be told.

    Raises:
        CallFailed: Heat refuses to create a stack from this.
    """
    try:
        if started.action == "CREATE":
            return stack_expected.created(services.heat.preview(started.stack_name, request))
        return _expected_update(services, started, request)
    except CallFailed as error:
        if error.status in (400, 409) and started.action == "CREATE":
            raise
        LOG.warning("No preview: %s", error, extra={"action": "preview"})
    except (AttributeError, LookupError, TypeError) as error:
        LOG.warning("A preview could not be read: %r", error, extra={"action": "preview"})
    return None


def announce(services: Services, started: Started, expected: int | None) -> None:
    """Say which stack the deployment drives, before Heat says anything of it."""
    post_progress(
        services,
        STACK_ANNOUNCED,
        {
            "message": f"{_WORDS[started.action]} the stack {started.stack_name}",
            "plan_name": started.plan,
            "stack_name": started.stack_name,
            "stack_id": started.stack_id or None,
            "action": started.action,
            "expected_resources": expected,
        },
    )


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


def _started(
    plan: str, stack: Mapping[str, Any] | None, action: str, lease: Lease, minutes: int
) -> Started:
    return Started(
        plan=plan,
        stack_name=plan,
        stack_id=str(stack["id"]) if stack else "",
        action=action,
        before=stack.get("updated_time") if stack else None,
        nonce=lease.nonce,
        deadline=time.time() + minutes * 60 + GRACE,
    )


def _confirm(services: Services, lease: Lease) -> None:
    if stack_lock.has_ended(services, services.execution_id):
        raise OperationCancelled("The execution has ended meanwhile: nothing was started.")
    lease.confirm()


def _begin(services: Services, started: Started, request: Request, minutes: int) -> Started:
    """Tell Heat; a reply that is lost on its way back is no failure."""
    heat, name = services.heat, started.stack_name
    try:
        if started.action == "UPDATE":
            heat.update(name, started.stack_id, request, minutes)
            return started
        return msgspec.structs.replace(started, stack_id=heat.create(name, request, minutes))
    except CallFailed as error:
        if error.status is not None and error.status < 500:
            raise
        found = heat.stack(name)
        if found is None or not str(found["stack_status"]).startswith(started.action):
            raise
        if started.action == "UPDATE" and found.get("updated_time") == started.before:
            raise
        LOG.warning("Heat began, but did not say so: %s", error, extra={"action": "begin"})
        return msgspec.structs.replace(started, stack_id=str(found["id"]))


def _expected_update(services: Services, started: Started, request: Request) -> int:
    heat, name = services.heat, started.stack_name
    held = heat.deployed(name, started.stack_id)
    environment = stack_expected.unmasked(held["environment"], request["environment"])
    # Heat previews new stacks only, and the names of nodes come from the stack's.
    alias = f"preview-{uuid4().hex}"
    wanted = stack_expected.tree(heat.preview(alias, request), alias)
    deployed = stack_expected.tree(heat.preview(alias, held | {"environment": environment}), alias)
    return stack_expected.updated(wanted, deployed, heat.resources(name, started.stack_id), name)


def _listed(services: Services, started: Started) -> int | None:
    try:
        return len(services.heat.resources(started.stack_name, started.stack_id)) or None
    except CallFailed as error:
        LOG.warning("No list of resources: %s", error, extra={"action": "list"})
        return None
