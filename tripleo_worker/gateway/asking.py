"""What a listener asks for: positions, filters, limits."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from tripleo_worker.errors import InvalidInput
from tripleo_worker.feed import EARLIEST, LATEST
from tripleo_worker.ports import Filter

#: Events of one page, usually and at most.
PAGE, LARGEST_PAGE = 100, 1000
#: Seconds between heartbeats that a listener can ask for.
QUICKEST, SLOWEST = 0.1, 300.0
#: Characters of a filter's value.
LONGEST_VALUE = 255

_FILTERS = ("execution", "plan", "type")


class Asked(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A subscription, as the frame ``subscribe`` and the query of a stream give it."""

    since: str = LATEST
    execution: str = ""
    plan: str = ""
    type: str = ""
    heartbeat: float | None = None

    def where(self, project: str | None) -> Filter:
        """The filter within what may be seen."""
        return Filter(execution=self.execution, plan=self.plan, type=self.type, project=project)


class Read(msgspec.Struct, frozen=True, kw_only=True):
    """A page of events, as a query asks for it."""

    asked: Asked
    limit: int
    follow: bool


def stream(query: Mapping[str, str], last_event_id: str | None) -> Asked:
    """Read the query of a stream; ``Last-Event-ID`` wins over ``since``.

    Raises:
        InvalidInput: a parameter is unknown or none of its kind.
    """
    _known(query, ("since", "heartbeat", *_FILTERS))
    return _checked(
        Asked(
            since=last_event_id or query.get("since") or LATEST,
            heartbeat=_number(query, "heartbeat"),
            **{name: query.get(name, "") for name in _FILTERS},
        )
    )


def page(query: Mapping[str, str]) -> Read:
    """Read the query of a page; without ``since`` it begins with the oldest event.

    Raises:
        InvalidInput: a parameter is unknown or none of its kind.
    """
    _known(query, ("since", "limit", "follow", "heartbeat", *_FILTERS))
    limit = _number(query, "limit")
    if limit is not None and (limit != int(limit) or not 1 <= limit <= LARGEST_PAGE):
        raise InvalidInput(
            f"limit: {limit:g} is out of range.", remedy=f"Give 1 to {LARGEST_PAGE}."
        )
    follow = query.get("follow", "false")
    if follow not in ("true", "false"):
        raise InvalidInput(f"follow: {follow[:40]!r} is no choice.", remedy="Give true or false.")
    asked = _checked(
        Asked(
            since=query.get("since") or EARLIEST,
            heartbeat=_number(query, "heartbeat"),
            **{name: query.get(name, "") for name in _FILTERS},
        )
    )
    return Read(asked=asked, limit=int(limit or PAGE), follow=follow == "true")


def frame(asked: Asked) -> Asked:
    """Check the values of a frame.

    Raises:
        InvalidInput: a value is out of range.
    """
    return _checked(asked)


def _checked(asked: Asked) -> Asked:
    if asked.heartbeat is not None and not QUICKEST <= asked.heartbeat <= SLOWEST:
        raise InvalidInput(
            f"heartbeat: {asked.heartbeat:g} is out of range.",
            remedy=f"Give {QUICKEST:g} to {SLOWEST:g} seconds.",
        )
    for name in _FILTERS:
        if len(getattr(asked, name)) > LONGEST_VALUE:
            raise InvalidInput(
                f"{name}: is too long.", remedy=f"Give at most {LONGEST_VALUE} characters."
            )
    return asked


def _known(query: Mapping[str, str], names: tuple[str, ...]) -> None:
    unknown = sorted(set(query) - set(names))
    if unknown:
        raise InvalidInput(
            f"{unknown[0][:40]}: is no parameter of this request.",
            remedy=f"There are: {', '.join(names)}.",
        )


def _number(query: Mapping[str, str], name: str) -> float | None:
    text = query.get(name)
    if text is None:
        return None
    try:
        return float(text)
    except ValueError:
        raise InvalidInput(f"{name}: {text[:40]!r} is no number.", remedy="Give one.") from None
