"""The plan that ships with the product: it deploys on Heat alone, without Nova or Neutron."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import resources
from importlib.resources.abc import Traversable


def files() -> dict[str, bytes]:
    """Its files: plan path -> content."""
    root = resources.files("tripleo_actions") / "sample_plan"
    return dict(_walk(root, ""))


def _walk(folder: Traversable, prefix: str) -> Iterator[tuple[str, bytes]]:
    for entry in sorted(folder.iterdir(), key=lambda item: item.name):
        if entry.is_dir():
            yield from _walk(entry, f"{prefix}{entry.name}/")
        elif entry.name.endswith((".yaml", ".sh", ".rst")):
            yield f"{prefix}{entry.name}", entry.read_bytes()
