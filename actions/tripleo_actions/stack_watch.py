"""What became of a stack: whether it is done, how it ended, and what failed in it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from tripleo_actions import stack_expected
from tripleo_actions.faults import CallFailed, cut
from tripleo_actions.stack_expected import link

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
    #: Seconds since the epoch after which nobody waits any longer.
    deadline: float = float("inf")


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """What a look at a stack brought."""

    done: bool
    #: RUNNING, SUCCESS, FAILED or CANCELLED.
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


def explained(outcome: Outcome, resources: Iterable[Mapping[str, Any]], stack: str) -> Outcome:
    """A failure with the resources that caused it, instead of the stack's own summary.

    Args:
        outcome: Of a stack that failed.
        resources: As Heat lists the failed ones, nested ones too.
        stack: The root stack's name.
    """
    failures = causes(list(resources), stack)
    if not failures:
        return outcome
    named = "; ".join(f"{one['name']}: {one['reason']}" for one in failures[:NAMED])
    more = len(failures) - NAMED
    text = f"The stack {stack} is {outcome.stack_status}. {named}"
    text += f" (and {more} more)" if more > 0 else ""
    return msgspec.structs.replace(outcome, message=cut(text), failures=failures[:LISTED])


def given_up(outcome: Outcome) -> Outcome:
    """The outcome of a wait whose time is over."""
    text = f"Gave up waiting. {outcome.message}"
    return msgspec.structs.replace(outcome, done=True, status="FAILED", message=text)


def left_alone(outcome: Outcome) -> Outcome:
    """The outcome of a wait whose execution has ended; the stack goes on by itself."""
    text = f"The execution has ended meanwhile. {outcome.message}"
    return msgspec.structs.replace(outcome, done=True, status="CANCELLED", message=text)


def unseen(started: Started, reason: str) -> Outcome:
    """The outcome of a look at which Heat did not answer."""
    text = f"The stack {started.stack_name} cannot be seen at the moment: {reason}"
    return Outcome(done=False, status="RUNNING", message=cut(text), stack_status="UNKNOWN")


def unknown(started: Started, error: CallFailed) -> CallFailed:
    """The error of a wait that Heat refuses to answer any more, e.g. to an old token."""
    text = f"{error.message} Whether the stack {started.stack_name} goes on is not known."
    return CallFailed(error.service, error.status, text, remedy="Ask Heat for the stack.")


def deployment_status(action: str, status: str) -> str:
    """The word of clients in the field for how a plan's deployment stands."""
    prefix = "UNDEPLOY" if action == "DELETE" else "DEPLOY"
    ended = {"SUCCESS": "UNDEPLOYED" if action == "DELETE" else "DEPLOY_SUCCESS"}
    ended |= {"FAILED": f"{prefix}_FAILED", "RUNNING": f"{prefix}ING"}
    return ended.get(status, "UNKNOWN")


def causes(resources: Sequence[Mapping[str, Any]], stack: str) -> list[dict[str, str]]:
    """The failed resources that are not merely parents of failed ones, nor ended by them.

    Returns:
        Each ``name`` (with those of the resources above it), ``type`` and ``reason``.
    """
    stacks = {link(one, "stack") for one in resources}
    leaves = [one for one in resources if link(one, "nested") not in stacks]
    own = [one for one in leaves if not _aborted(one)] or leaves
    return [
        {
            "name": stack_expected.place(one, stack),
            "type": str(one.get("resource_type", "")),
            "reason": cut(str(one.get("resource_status_reason") or ""), REASON_BYTES),
        }
        for one in own
    ]


def _going(name: str, word: str) -> Outcome:
    return Outcome(
        done=False, status="RUNNING", message=f"The stack {name} is {word}.", stack_status=word
    )


def _gone(started: Started) -> Outcome:
    if started.action == "DELETE" and not started.stack_id:
        text = f"There is no stack {started.stack_name}: nothing was to be deleted."
        return Outcome(done=True, status="SUCCESS", message=text, stack_status="")
    if started.action == "DELETE":
        text = f"The stack {started.stack_name} is deleted."
        return Outcome(done=True, status="SUCCESS", message=text, stack_status="DELETE_COMPLETE")
    text = f"The stack {started.stack_name} was deleted meanwhile."
    return Outcome(done=True, status="FAILED", message=text, stack_status="DELETE_COMPLETE")


def _aborted(resource: Mapping[str, Any]) -> bool:
    reason = str(resource.get("resource_status_reason") or "").lower()
    return any(word in reason for word in _ABORTED)
