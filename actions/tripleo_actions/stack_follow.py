"""Following a stack through Heat for a slice of time."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Any

from tripleo_actions import stack_lock, stack_watch
from tripleo_actions.base import Services
from tripleo_actions.faults import CallFailed
from tripleo_actions.stack_watch import Outcome, Started

LOG = logging.getLogger(__name__)

#: Seconds between two looks at the stack.
LOOK = 1.0
#: Looks between two at the execution: one that was cancelled must free its lock soon.
LOOKS_TO_ASK = 5


def follow(
    services: Services,
    started: Started,
    seconds: float,
    *,
    sleep: Callable[[float], None] = time.sleep,
    clock: Callable[[], float] = time.time,
) -> Outcome:
    """Look at a stack until it is done, or the time is over, or nobody waits any more.

    Raises:
        CallFailed: Heat refuses to say. One that does not answer is asked again.
    """
    until = clock() + seconds
    looks = 0
    while True:
        outcome = _look(services, started)
        if outcome.done:
            return outcome
        now = clock()
        if now >= started.deadline:
            return stack_watch.given_up(outcome)
        looks += 1
        if looks % LOOKS_TO_ASK == 0 and stack_lock.has_ended(services, services.execution_id):
            return stack_watch.left_alone(outcome)
        if now >= until:
            return outcome
        sleep(LOOK)


def _look(services: Services, started: Started) -> Outcome:
    try:
        outcome = stack_watch.judge(started, _stack(services, started))
    except CallFailed as error:
        if error.status is not None and error.status < 500:
            raise stack_watch.unknown(started, error) from error
        LOG.warning("The stack could not be read: %s", error, extra={"action": "wait"})
        return stack_watch.unseen(started, str(error))
    if outcome.status == "FAILED" and started.stack_id:
        return stack_watch.explained(outcome, _failed(services, started), started.stack_name)
    return outcome


def _stack(services: Services, started: Started) -> dict[str, Any] | None:
    if not started.stack_id:
        return None
    return services.heat.stack(f"{started.stack_name}/{started.stack_id}")


def _failed(services: Services, started: Started) -> list[dict[str, Any]]:
    try:
        return services.heat.resources(started.stack_name, started.stack_id, status="FAILED")
    except CallFailed as error:
        LOG.warning("No list of failed resources: %s", error, extra={"action": "explain"})
        return []
