"""Which deployment a Heat event belongs to.

Heat's events name a stack, and no execution. A deployment announces its stack before it
touches it; the first event of a stack, nested ones too, names the stack and gives its id.
Nothing here does I/O: events go in, the same events with their root execution come out.

Source: Heat's event sinks (``heat.engine.event``), names of nested stacks
(``heat.common.short_id``: parent, resource, twelve characters).
"""

from __future__ import annotations

import re
from collections import OrderedDict
from typing import Any

import msgspec

from tripleo_worker.causes import is_stack_itself
from tripleo_worker.events import HEAT_RESOURCE, STACK_ANNOUNCED, Event

#: Stacks, nested ones too, that are remembered.
STACKS_KEPT = 50_000
#: Deployments that are remembered: late events of those that ended find home too.
DEPLOYMENTS_KEPT = 500

_NESTED_END = re.compile(r"-.+-[a-z0-9]{12}\Z")
_ARN_END = re.compile(r"stacks/([^/]+)/([^/]+)\Z")


class Deployment(msgspec.Struct, frozen=True, kw_only=True):
    """What a deployment said about itself."""

    root: str
    plan: str
    project: str
    stack_name: str


class Correlator:
    """Remembers which stack is whose."""

    def __init__(self) -> None:
        self._deployments: OrderedDict[tuple[str, str], Deployment] = OrderedDict()
        self._stacks: OrderedDict[str, Deployment] = OrderedDict()

    def relate(self, event: Event) -> Event:
        """The event with root execution and plan where they are known; learns from it."""
        if event.type == STACK_ANNOUNCED:
            self._announced(event)
            return event
        stack, name = _stack_of(event)
        if not stack:
            return event
        owner = self._stacks.get(stack) or self._by_name(event.projectid, name)
        if owner is None or owner.project != event.projectid:
            return event
        self._remember(stack, owner)
        return msgspec.structs.replace(event, rootexecutionid=owner.root, plan=owner.plan)

    def _announced(self, event: Event) -> None:
        name = event.data.payload.get("stack_name")
        if not isinstance(name, str) or not event.rootexecutionid:
            return
        owner = Deployment(
            root=event.rootexecutionid, plan=event.plan, project=event.projectid, stack_name=name
        )
        key = event.projectid, name
        before = self._deployments.pop(key, None)
        self._deployments[key] = owner
        _trim(self._deployments, DEPLOYMENTS_KEPT)
        stack = event.data.payload.get("stack_id")
        if isinstance(stack, str) and stack:
            self._remember(stack, owner)
        if before is not None and before.root != owner.root:
            # The stack is updated by a new deployment: all that is nested in it goes along.
            self._stacks = OrderedDict(
                (known, owner if whose == before else whose)
                for known, whose in self._stacks.items()
            )

    def _by_name(self, project: str, name: str) -> Deployment | None:
        if not name:
            return None
        exact = self._deployments.get((project, name))
        if exact is not None:
            return exact
        outer = [
            owner
            for (whose, known), owner in self._deployments.items()
            if whose == project
            and name.startswith(known)
            and _NESTED_END.match(name, len(known)) is not None
        ]
        return max(outer, key=lambda owner: len(owner.stack_name), default=None)

    def _remember(self, stack: str, owner: Deployment) -> None:
        self._stacks[stack] = owner
        self._stacks.move_to_end(stack)
        _trim(self._stacks, STACKS_KEPT)


def _stack_of(event: Event) -> tuple[str, str]:
    """Id of the stack that an event is about, and its name where the event tells it."""
    payload: dict[str, Any] = event.data.payload
    if event.type == HEAT_RESOURCE:
        name = payload.get("resource_name") if is_stack_itself(payload) else ""
        return _text(payload.get("stack_id")), _text(name)
    if event.type.startswith("orchestration.stack."):
        found = _ARN_END.search(_text(payload.get("stack_identity")))
        return (found[2], found[1]) if found else ("", "")
    return "", ""


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _trim(kept: OrderedDict[Any, Any], limit: int) -> None:
    while len(kept) > limit:
        kept.popitem(last=False)
