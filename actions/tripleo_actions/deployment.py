"""Actions that deploy and undeploy a plan: ``tripleo.deployment.*``.

``deploy`` and ``undeploy`` start, ``wait_for_stack`` follows for a slice of time and is called
again until the stack is done. One lock a plan lies between them.
"""

from __future__ import annotations

from typing import Any

import msgspec

from tripleo_actions import messages, names, plan_store, stack_follow, stack_lock, stack_start
from tripleo_actions.base import DEFAULT_CONTAINER, DEFAULT_QUEUE, Services, TripleOAction
from tripleo_actions.faults import NotThere
from tripleo_actions.messaging import own_execution, post
from tripleo_actions.stack_start import checked_timeout
from tripleo_actions.stack_watch import Outcome, Started, deployment_status

#: Seconds of one slice: clients in the field give up after 360 without a message, and an
#: executor's thread is not held for longer.
SLICE = 120.0


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
        """Lock, then start; what does not start frees the lock."""
        name = names.plan_name(self.container)
        minutes = checked_timeout(self.timeout)
        lease = stack_lock.hold(services, name)
        try:
            started = stack_start.deploy(
                services, lease, name, minutes, keep=self.skip_deploy_identifier
            )
        except BaseException:
            stack_lock.release(lease)
            raise
        return _plain(started)


class Undeploy(TripleOAction):
    """Start to delete the stack of a plan.

    Args:
        container: The plan.
        timeout: Minutes after which nobody waits any longer.

    Returns:
        What :class:`WaitForStack` takes as ``stack``; without a stack there is nothing to do,
        and the wait ends at once.
    """

    def __init__(self, container: str = DEFAULT_CONTAINER, timeout: int = 240) -> None:
        super().__init__()
        self.container = container
        self.timeout = timeout

    def perform(self, services: Services) -> dict[str, Any]:
        """Lock, then start; what does not start frees the lock."""
        name = names.plan_name(self.container)
        minutes = checked_timeout(self.timeout)
        if plan_store.read_environment(services, name) is None:
            raise NotThere("Mistral", 404, f"There is no plan {name}.", remedy="List the plans.")
        lease = stack_lock.hold(services, name)
        try:
            started = stack_start.undeploy(services, lease, name, minutes)
        except BaseException:
            stack_lock.release(lease)
            raise
        return _plain(started)


class WaitForStack(TripleOAction):
    """Follow a stack until it is done, or for a slice of time.

    Args:
        stack: What :class:`Deploy` or :class:`Undeploy` returned.
        type: Of the progress message at the slice's end; the workflow's name.
        queue_name: For it.

    Returns:
        ``done``, ``status``, ``message``, ``stack_status``, ``deployment_status``, ``failures``
        (each ``name``, ``type``, ``reason``).
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
        lease = stack_lock.held(services, started.plan, started.nonce)
        try:
            outcome = stack_follow.follow(services, started, SLICE)
        except BaseException:
            stack_lock.release(lease)
            raise
        word = deployment_status(started.action, outcome.status)
        if outcome.done:
            stack_lock.release(lease)
        else:
            stack_lock.renew(lease)
            self._report(services, outcome, word)
        return _plain(outcome) | {"deployment_status": word}

    def _report(self, services: Services, outcome: Outcome, word: str) -> None:
        if not self.type or not services.execution_id:
            return
        payload = messages.build_payload(
            status="RUNNING",
            message=outcome.message,
            execution=own_execution(services),
            deployment_status=word,
        )
        post(services, self.queue_name, {"type": self.type, "payload": payload})


def _plain(struct: msgspec.Struct) -> dict[str, Any]:
    as_dict: dict[str, Any] = msgspec.to_builtins(struct)
    return as_dict
