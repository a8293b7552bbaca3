"""One deployment a plan: the lock that an execution holds while it works on the plan's stack.

It is taken by the action that starts, renewed by those that follow the stack, and freed at the
end. A lock whose execution has ended is none: whoever comes next takes it over.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from tripleo_actions import locks
from tripleo_actions.base import Services
from tripleo_actions.faults import CallFailed, NotThere, PlanLocked
from tripleo_actions.locks import Lease
from tripleo_worker.events import Status

LOG = logging.getLogger(__name__)

#: Seconds after which the lock of a deployment frees itself; each slice of waiting renews it.
LEASE_SECONDS = 900


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
    # Of several that find a dead lock only one may remove it, and not a new one by mistake.
    with locks.change(services.swift, name, services.owner):
        if _abandoned(services, locks.holder(services.swift, name)):
            services.swift.delete(locks.CONTAINER, name)
    return _take(services, name)


def lock_name(plan: str) -> str:
    """Of the lock of a plan's deployment."""
    return f"{plan}/deployment"


def held(services: Services, plan: str, nonce: str) -> Lease:
    """The lock that an earlier action of the same workflow took."""
    return locks.resume(
        services.swift,
        lock_name(plan),
        nonce=nonce,
        owner=services.owner,
        seconds=LEASE_SECONDS,
    )


def release(lease: Lease) -> None:
    """Free the lock; a failure is only logged, for the lock frees itself in the end."""
    try:
        lease.release()
    except CallFailed as error:
        LOG.warning("The lock stays until its time is over: %s", error, extra={"action": "unlock"})


def renew(lease: Lease) -> None:
    """Begin the lock's time anew; a failure is only logged."""
    try:
        lease.renew()
    except (CallFailed, PlanLocked) as error:
        LOG.warning("The lock was not renewed: %s", error, extra={"action": "relock"})


def has_ended(services: Services, execution: str) -> bool:
    """Whether an execution goes on no more; unknown counts as going on.

    Args:
        services: The caller's.
        execution: Its id; empty for an action that was called by itself.
    """
    if not execution:
        return False
    try:
        status = Status.of(services.mistral.execution(execution).get("state"))
    except NotThere:
        return True
    except CallFailed as error:
        LOG.warning("The execution could not be read: %s", error, extra={"action": "execution"})
        return False
    return status is not None and status.terminal


def _take(services: Services, name: str) -> Lease:
    return locks.take(services.swift, name, owner=services.owner, seconds=LEASE_SECONDS)


def _abandoned(services: Services, holder: Mapping[str, Any]) -> bool:
    """Whether the execution that took a lock has ended without freeing it."""
    kind, _, execution = str(holder.get("owner", "")).partition(" ")
    if kind != "execution" or execution == services.execution_id:
        return False
    return has_ended(services, execution)
