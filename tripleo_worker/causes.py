"""Which failures are causes: a failed resource, its reason, and what only passes it on.

A resource that fails fails its stack, that stack fails the resource it stands for in its
parent, and so on to the root; each repeats the reason behind a longer path. One cause is
shown once, at its deepest place.

Source of the forms: ``heat.common.exception.ResourceFailure`` and Heat's stack reasons.
"""

from __future__ import annotations

import hashlib
import re
from base64 import urlsafe_b64encode
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

import msgspec

from tripleo_worker.events import Event, Status
from tripleo_worker.places import labelled

#: Failures that are kept: the first ones by time.
FAILURES_KEPT = 50
#: Longest reason that is kept, in characters.
REASON_KEPT = 1000

_PATH = re.compile(r"\bresources(?:\.[^:\s]*|\[[^:]*?\][^:\s]*): ?")
_LEAD = re.compile(
    r"^(?:Resource \w+ failed: )?(?:[A-Za-z_.]+(?:Error|Failure|Exception|Failed): )?"
)
#: What Heat says of a resource that it stopped because another one failed.
_STOPPED = re.compile(r"^(?:Resource )?\w+ (?:aborted|cancelled)\b|^Stack \w+ cancelled")


class Failure(msgspec.Struct, frozen=True, kw_only=True):
    """A thing that failed, and why."""

    #: e.g. ``stack/ID/resource/NAME``.
    subject: str
    name: str
    reason: str
    time: datetime
    #: Type of the resource, e.g. ``OS::Heat::TestResource``; empty: not said.
    type: str = ""
    #: The resources above it, e.g. ``Compute.0``; empty: it stands in the root stack.
    where: str = ""

    @property
    def label(self) -> str:
        """Its name with the way to it."""
        return labelled(self.where, self.name)

    @property
    def cause(self) -> str:
        """The reason without the path and the exception names in front of it."""
        tail = _PATH.split(self.reason)[-1]
        return _LEAD.sub("", tail).strip()


def subject_of(event: Event) -> str:
    """``stack/ID/resource/NAME`` of a Heat resource event."""
    payload = event.data.payload
    return f"stack/{payload.get('stack_id', '')}/resource/{payload.get('resource_name', '')}"


def digest(subject: str) -> str:
    """Eleven characters that stand for a subject; 64 bits, so two never meet in practice."""
    raw = hashlib.blake2b(subject.encode(), digest_size=8).digest()
    return urlsafe_b64encode(raw).decode().rstrip("=")


def is_stack_itself(payload: Mapping[str, Any]) -> bool:
    """Whether a resource event is about its stack, not about a resource in it."""
    return payload.get("resource_type") == "OS::Heat::Stack" and payload.get(
        "physical_resource_id"
    ) == payload.get("stack_id")


def settle(known: tuple[Failure, ...], event: Event, where: str = "") -> tuple[Failure, ...]:
    """The causes after one more resource event, whichever came first.

    Args:
        known: the causes before.
        event: of a resource.
        where: the resources above it.
    """
    subject = subject_of(event)
    others = [failure for failure in known if failure.subject != subject]
    payload = event.data.payload
    if Status.of(payload.get("resource_status")) is not Status.FAILED:
        return known if len(others) == len(known) else tuple(others)
    failure = Failure(
        subject=subject,
        name=str(payload.get("resource_name", "")),
        reason=str(payload.get("resource_status_reason") or "no reason given")[:REASON_KEPT],
        time=event.time,
        type=str(payload.get("resource_type") or ""),
        where=where,
    )
    return _causes([*others, failure])


def _causes(failures: list[Failure]) -> tuple[Failure, ...]:
    deepest: dict[str, int] = {}
    for failure in failures:
        text, depth = failure.cause, _depth(failure)
        deepest[text] = min(depth, deepest.get(text, depth))
    own = [one for one in failures if _depth(one) == deepest[one.cause]]
    real = [one for one in own if not _STOPPED.search(one.cause)]
    ordered = sorted(real or own, key=lambda one: (one.time, one.subject))
    return tuple(ordered[:FAILURES_KEPT])


def _depth(failure: Failure) -> int:
    """How far the failure is above its cause: path parts its reason went through."""
    whole = "Resource " in failure.reason[:20] or failure.type == "OS::Heat::Stack"
    paths: Iterable[str] = _PATH.findall(failure.reason)
    return sum(part.count("resources") for part in paths) + whole
