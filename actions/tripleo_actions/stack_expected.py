"""How many resources of a stack will send events: what progress is measured by.

For a new stack Heat's preview tells. For an update Heat's own preview counts resources that it
then leaves alone and breaks on nested stacks that grow, so two previews are compared here, of
what was deployed and of what is wanted, and the difference is laid over what is there.

Sources: ``POST /stacks/preview`` (nested stacks are lists in it), ``GET …/resources``; Heat
updates each nested stack, changed or not (``StackResource._needs_update``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tripleo_worker import places

#: What Heat shows in place of a hidden parameter's value.
MASKED = "******"

Preview = Sequence[Any]
Listing = Sequence[Mapping[str, Any]]


@dataclass(frozen=True, kw_only=True)
class Tree:
    """What a preview shows."""

    #: Way to each resource that is no stack, names with dashes between -> type and properties.
    leaves: Mapping[str, Any]
    #: How many nested stacks there are.
    nests: int


def created(preview: Preview) -> int:
    """Resources of a new stack: nested ones, and the one that each nested stack is made by."""
    return sum(1 + created(one) if isinstance(one, list) else 1 for one in preview)


def updated(wanted: Tree, deployed: Tree, listing: Listing, stack: str) -> int:
    """Resources that an update creates, changes or deletes.

    Args:
        wanted: What is to be deployed.
        deployed: What was deployed last.
        listing: The stack's resources as Heat lists them, nested ones too.
        stack: The stack's name.
    """
    here = {_way(one, stack): _complete(one) for one in listing if not is_nest(one)}
    begun = sum(
        1
        for way, leaf in wanted.leaves.items()
        if not here.get(way, False) or deployed.leaves.get(way, leaf) != leaf
    )
    gone = sum(way not in wanted.leaves for way in here)
    return wanted.nests + begun + gone + _nests_gone(wanted, listing, stack)


def tree(preview: Preview, stack: str) -> Tree:
    """Read a preview; ``stack`` is the name that it was asked for under."""
    leaves = dict(_leaves(preview, stack))
    return Tree(leaves=leaves, nests=created(preview) - len(leaves))


def unmasked(
    environment: Mapping[str, Any], wanted: Mapping[str, Any], events: str = "event_sinks"
) -> dict[str, Any]:
    """A deployed environment that can be previewed again: without sinks, hidden values known.

    Args:
        environment: As Heat shows it.
        wanted: The one to be deployed; its values stand in for those that Heat hides.
        events: The section that is left out.
    """
    plain = {key: value for key, value in environment.items() if key != events}
    for section in ("parameters", "parameter_defaults"):
        known = wanted.get(section) or {}
        held = plain.get(section) or {}
        plain[section] = {
            name: known.get(name, value) if value == MASKED else value
            for name, value in held.items()
        }
    return plain


def is_nest(resource: Mapping[str, Any]) -> bool:
    """Whether a listed resource is a nested stack."""
    return bool(link(resource, "nested"))


def link(resource: Mapping[str, Any], rel: str) -> str:
    """The address that a listed resource gives for a relation; empty if it gives none."""
    links = resource.get("links") or ()
    return next((str(one["href"]) for one in links if one.get("rel") == rel), "")


def place(resource: Mapping[str, Any], stack: str) -> str:
    """The way to a listed resource from its root stack, e.g. ``Compute.0.NodeConfig``."""
    # .../stacks/NAME/ID
    parts = link(resource, "stack").rsplit("/", 2)
    own = parts[-2] if len(parts) == 3 else stack
    return places.labelled(places.way(own, stack), str(resource.get("resource_name", "")))


def _way(resource: Mapping[str, Any], stack: str) -> str:
    return place(resource, stack).replace(".", "-")


def _complete(resource: Mapping[str, Any]) -> bool:
    word = str(resource.get("resource_status", ""))
    return word.endswith("_COMPLETE") and not word.startswith("INIT_")


def _leaves(preview: Iterable[Any], stack: str) -> Iterator[tuple[str, Any]]:
    for one in preview:
        if isinstance(one, list):
            yield from _leaves(one, stack)
        else:
            above = str(one.get("stack_name", stack)).removeprefix(stack)
            way = f"{above}-{one['resource_name']}".lstrip("-").replace(".", "-")
            yield way, (one.get("resource_type"), one.get("properties"))


def _nests_gone(wanted: Tree, listing: Listing, stack: str) -> int:
    """Nested stacks below the root's own that nothing stands in any more."""
    kept: set[str] = set()
    for way in wanted.leaves:
        parts = way.split("-")
        kept |= {"-".join(parts[:length]) for length in range(1, len(parts))}
    nests = (one for one in listing if is_nest(one) and "." in place(one, stack))
    return sum(_way(one, stack) not in kept for one in nests)
