"""What became of a stack: whether it is done, how it ended, and what failed in it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from tripleo_actions.faults import cut

#: Failed resources that a message names; all stand in its payload, up to a limit.
NAMED, LISTED = 3, 50
#: Bytes of one reason.
REASON_BYTES = 2048

#: Heat's words for work that another resource's failure ended.
_ABORTED = ("aborted", "cancelled")


class Started(msgspec.Struct, frozen=True, kw_only=True):
    """What a stack was told to do; goes from action to action through the workflow."""

    plan: str
    stack_name: str
    stack_id: str
    #: CREATE, UPDATE or DELETE.
    action: str
    #: The stack's ``updated_time`` before; tells an update from the one before it.
    before: str | None = None
    #: Of the deployment's lock.
    nonce: str = ""


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """What a look at a stack brought."""

    done: bool
    #: RUNNING, SUCCESS or FAILED.
    status: str
    message: str
    stack_status: str
    failures: list[dict[str, str]] = []


def judge(started: Started, stack: Mapping[str, Any] | None) -> Outcome:
    """How a stack stands, measured by what it was told to do.

    Args:
        started: what it was told.
        stack: as Heat shows it; None: there is none.
    """
    name = started.stack_name
    if stack is None:
        return _gone(started)
    word = str(stack["stack_status"])
    action, _, state = word.partition("_")
    if action != started.action:
        if started.action == "UPDATE" and stack.get("updated_time") == started.before:
            return _going(name, word)
        text = f"Something else was done to the stack {name} meanwhile: it is {word}."
        return Outcome(done=True, status="FAILED", message=text, stack_status=word)
    if started.action == "UPDATE" and stack.get("updated_time") == started.before:
        return _going(name, f"still {word}")
    if state == "COMPLETE":
        text = f"The stack {name} is {word}."
        return Outcome(done=True, status="SUCCESS", message=text, stack_status=word)
    if state == "FAILED":
        reason = stack.get("stack_status_reason") or ""
        text = f"The stack {name} is {word}. {reason}".strip()
        return Outcome(done=True, status="FAILED", message=text, stack_status=word)
    return _going(name, word)


def explained(outcome: Outcome, resources: Iterable[Mapping[str, Any]]) -> Outcome:
    """A failure with the resources that caused it, instead of the stack's own summary.

    Args:
        outcome: of a stack that failed.
        resources: as Heat lists the failed ones, nested ones too.
    """
    failures = causes(list(resources))
    if not failures:
        return outcome
    named = "; ".join(f"{one['name']}: {one['reason']}" for one in failures[:NAMED])
    more = len(failures) - NAMED
    head, _, _ = outcome.message.partition(". ")
    text = f"{head.rstrip('.')}. {named}" + (f" (and {more} more)" if more > 0 else "")
    return msgspec.structs.replace(outcome, message=cut(text), failures=failures[:LISTED])


def causes(resources: Sequence[Mapping[str, Any]]) -> list[dict[str, str]]:
    """The failed resources that are not merely parents of failed ones, nor ended by them.

    Returns:
        Each ``name`` (with those of the resources above it), ``type`` and ``reason``.
    """
    stacks = {_link(one, "stack") for one in resources}
    leaves = [one for one in resources if _link(one, "nested") not in stacks]
    own = [one for one in leaves if not _aborted(one)] or leaves
    return [
        {
            "name": _name(one),
            "type": str(one.get("resource_type", "")),
            "reason": cut(str(one.get("resource_status_reason") or ""), REASON_BYTES),
        }
        for one in own
    ]


def count(preview: Iterable[Any]) -> int:
    """Resources of a preview: nested ones, and the one that each nest is made by."""
    return sum(1 + count(one) if isinstance(one, list) else 1 for one in preview)


def _going(name: str, word: str) -> Outcome:
    return Outcome(
        done=False, status="RUNNING", message=f"The stack {name} is {word}.", stack_status=word
    )


def _gone(started: Started) -> Outcome:
    if started.action == "DELETE":
        text = f"The stack {started.stack_name} is deleted."
        return Outcome(done=True, status="SUCCESS", message=text, stack_status="DELETE_COMPLETE")
    text = f"The stack {started.stack_name} was deleted meanwhile."
    return Outcome(done=True, status="FAILED", message=text, stack_status="DELETE_COMPLETE")


def _aborted(resource: Mapping[str, Any]) -> bool:
    reason = str(resource.get("resource_status_reason") or "").lower()
    return any(word in reason for word in _ABORTED)


def _link(resource: Mapping[str, Any], rel: str) -> str:
    links = resource.get("links") or ()
    return next((str(link["href"]) for link in links if link.get("rel") == rel), "")


def _name(resource: Mapping[str, Any]) -> str:
    parent = resource.get("parent_resource")
    name = str(resource.get("resource_name", ""))
    return f"{parent}.{name}" if parent else name
