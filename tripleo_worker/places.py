"""Where a Heat resource stands in a deployment: the way to it from the root stack.

Heat's events name a resource and its stack's id, and the names repeat: every node has a
``NodeConfig``. A nested stack's own name tells the way to it, for Heat puts the names of its
parents in front, each followed by twelve characters of its own.

Source of the form: ``heat.engine.resource.Resource.physical_resource_name`` and
``heat.common.short_id``.
"""

from __future__ import annotations

import re

_OWN = re.compile(r"-[a-z2-7]{12}(?=-|\Z)")


def way(stack: str, root: str) -> str:
    """The names of the resources above a nested stack, with dots between; empty for the root.

    Args:
        stack: the nested stack's name, e.g. ``overcloud-Compute-lwtf2gi6z4tm-0-u6w46dknolna``.
        root: the root stack's name.

    Returns:
        e.g. ``Compute.0``.
    """
    if stack == root:
        return ""
    below = stack.removeprefix(f"{root}-") if root else stack
    return ".".join(part.strip("-") for part in _OWN.split(below) if part.strip("-"))


def labelled(where: str, name: str) -> str:
    """The name of a resource with the way to it, e.g. ``Compute.0.NodeConfig``."""
    return f"{where}.{name}" if where else name
