"""Lease locks on plans, kept in Swift: atomic to take, freed by themselves after a crash.

A lock is an object that only one can create (``If-None-Match: *``) and that Swift itself
removes once its lease runs out. It stands in a container of its own, one object a plan and
purpose: no plan blocks another, and plans' containers hold plan files only.

Swift checks ``If-None-Match`` before it writes, so two writers at the same instant could both
be let in. The lock in this process keeps its own threads apart, and :meth:`Lease.confirm`,
called before anything is written, finds out who came second.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from tripleo_actions.faults import CallFailed, NotThere, PlanLocked
from tripleo_actions.services.swift import Swift

CONTAINER = "tripleo-locks"

#: Seconds after which a lock for one change frees itself.
CHANGE_SECONDS = 300
#: Seconds that a change waits for the one before it.
PATIENCE = 60.0

_PAUSE = 0.2

_local: dict[tuple[str, str], threading.Lock] = {}
_local_guard = threading.Lock()


@dataclass(frozen=True, kw_only=True)
class Lease:
    """A lock that is held."""

    swift: Swift
    name: str
    owner: str
    #: Tells this lease from any other, the same owner's too.
    nonce: str
    seconds: int

    def confirm(self) -> None:
        """Make sure that the lock is still held, before something is written.

        Raises:
            PlanLocked: it ran out, or another came first.
        """
        held = holder(self.swift, self.name)
        if held.get("nonce") != self.nonce:
            raise PlanLocked(_refusal(self.name, held), remedy="Try again.")

    def renew(self) -> None:
        """Begin the lease's time anew.

        Raises:
            PlanLocked: it ran out, and another holds the lock.
        """
        self.confirm()
        headers = {"X-Delete-After": str(self.seconds)}
        body = _body(self.owner, self.nonce, self.seconds)
        self.swift.put(CONTAINER, self.name, body, headers)

    def release(self) -> None:
        """Free the lock, unless another holds it by now."""
        if holder(self.swift, self.name).get("nonce") == self.nonce:
            self.swift.delete(CONTAINER, self.name)


def take(swift: Swift, name: str, *, owner: str, seconds: int) -> Lease:
    """Take a lock.

    Args:
        swift: The plan's project.
        name: Plan and purpose.
        owner: Who takes it, for the error that others see.
        seconds: The lease.

    Raises:
        PlanLocked: another holds it.
    """
    lease = Lease(swift=swift, name=name, owner=owner, nonce=uuid4().hex, seconds=seconds)
    body = _body(owner, lease.nonce, seconds)
    try:
        taken = swift.create(CONTAINER, name, body, seconds=seconds)
    except NotThere:
        swift.create_container(CONTAINER, {})
        taken = swift.create(CONTAINER, name, body, seconds=seconds)
    if not taken:
        raise PlanLocked(_refusal(name, holder(swift, name)))
    return lease


def resume(swift: Swift, name: str, *, nonce: str, owner: str, seconds: int) -> Lease:
    """A lease that an earlier action of the same workflow took."""
    return Lease(swift=swift, name=name, owner=owner, nonce=nonce, seconds=seconds)


@contextmanager
def change(
    swift: Swift, plan: str, owner: str, sleep: Callable[[float], None] = time.sleep
) -> Iterator[Lease]:
    """Hold a plan for one change, waiting for the change before it.

    Raises:
        PlanLocked: the plan was not free within :data:`PATIENCE` seconds.
    """
    name = f"{plan}/change"
    with _own_turn((swift.url, name)):
        lease = _patiently(swift, name, owner, sleep)
        try:
            yield lease
        finally:
            _quietly(lease.release)


@contextmanager
def _own_turn(key: tuple[str, str]) -> Iterator[None]:
    with _local_guard:
        turn = _local.setdefault(key, threading.Lock())
    if not turn.acquire(timeout=PATIENCE):
        raise PlanLocked(_refusal(key[1], {}), remedy="Try again.")
    try:
        yield
    finally:
        turn.release()


def _patiently(swift: Swift, name: str, owner: str, sleep: Callable[[float], None]) -> Lease:
    waited = 0.0
    while True:
        try:
            return take(swift, name, owner=owner, seconds=CHANGE_SECONDS)
        except PlanLocked:
            if waited >= PATIENCE:
                raise
        sleep(_PAUSE)
        waited += _PAUSE


def _quietly(release: Callable[[], None]) -> None:
    # The lease runs out by itself; a failure here must not hide the change's own outcome.
    try:
        release()
    except CallFailed:
        return


def holder(swift: Swift, name: str) -> dict[str, Any]:
    """Who holds a lock: ``owner``, ``nonce``, ``until``; empty if nobody does."""
    try:
        held: dict[str, Any] = json.loads(swift.get(CONTAINER, name).body)
    except NotThere:
        return {}
    return held


def _body(owner: str, nonce: str, seconds: int) -> bytes:
    return json.dumps({"owner": owner, "nonce": nonce, "until": time.time() + seconds}).encode()


def _refusal(name: str, held: dict[str, Any]) -> str:
    plan, _, purpose = name.partition("/")
    doing = "being deployed" if purpose == "deployment" else "being changed"
    owner = f" by {held['owner']}" if held.get("owner") else ""
    until = time.strftime("%H:%M:%S UTC", time.gmtime(held["until"])) if held.get("until") else ""
    return f"The plan {plan} is {doing}{owner}{f', until {until} at the latest' if until else ''}."
