"""Heat's tree of parameters, flattened to what clients draw."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Any

ROOT = "Root"


def flatten(tree: Mapping[str, Any]) -> dict[str, Any]:
    """Flatten the tree that Heat's validation gives.

    Args:
        tree: ``Parameters``, ``NestedParameters`` (resource -> ``Type`` and the same again),
            ``ParameterGroups``, ``Description``.

    Returns:
        ``resources``: id -> {id, name, type, description, parameters: [names], resources:
        [ids], parameter_groups}; ``parameters``: name -> Heat's description with the ``name``.
    """
    numbers = itertools.count(1)
    resources: dict[str, Any] = {}
    parameters: dict[str, Any] = {}

    def visit(name: str, node: Mapping[str, Any]) -> str:
        own = f"{next(numbers):05d}-{name}"
        resources[own] = entry = _entry(own, name, node)
        for parameter, spec in (node.get("Parameters") or {}).items():
            parameters.setdefault(parameter, {**spec, "name": parameter})
        nested = node.get("NestedParameters") or {}
        entry["resources"] = [visit(child, part) for child, part in nested.items()]
        return own

    visit(ROOT, tree)
    return {"resources": resources, "parameters": parameters}


def names(tree: Mapping[str, Any]) -> Iterator[str]:
    """Every parameter of the tree, nested ones too."""
    yield from tree.get("Parameters") or {}
    for part in (tree.get("NestedParameters") or {}).values():
        yield from names(part)


def _entry(own: str, name: str, node: Mapping[str, Any]) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "id": own,
        "name": name,
        "type": node.get("Type"),
        "description": node.get("Description"),
        "parameters": list(node.get("Parameters") or {}),
    }
    groups = node.get("ParameterGroups")
    return {**entry, "parameter_groups": groups} if groups else entry
