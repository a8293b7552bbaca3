"""From a plan's files to what Heat takes: root template, files by key, one environment.

Heat gets every nested template and every ``get_file`` under the path from the plan's root, so
references are rewritten where they are relative to a template elsewhere. Only what is referred
to is sent.
"""

from __future__ import annotations

import json
import posixpath
from collections.abc import Iterable, Mapping
from typing import Any

from tripleo_actions import names, yaml_guard
from tripleo_worker.errors import InvalidInput

_TEMPLATE_SUFFIXES = (".yaml", ".template")
_ELSEWHERE = ("http://", "https://", "file://", "swift://", "swift+http")

Files = Mapping[str, str]


class Resolver:
    """Follows references from file to file.

    Args:
        files: Plan path -> text, rendered outputs included.
    """

    def __init__(self, files: Files) -> None:
        self._files = files
        #: What Heat needs besides the root template: key -> text.
        self.sent: dict[str, str] = {}
        self._visited: set[str] = set()

    def template(self, path: str, where: str) -> dict[str, Any]:
        """A template with its references rewritten; what it refers to is added to ``sent``.

        Raises:
            InvalidInput: a file is missing or is no template.
        """
        template = yaml_guard.load_mapping(self._text(path, where), path)
        if "heat_template_version" not in template:
            raise InvalidInput(f"{path}: has no heat_template_version, so it is no template.")
        rewritten: dict[str, Any] = self._rewrite(template, path)
        return rewritten

    def nested(self, path: str, where: str) -> str:
        """Add a nested template to what is sent.

        Returns:
            Its key.
        """
        if path not in self._visited:
            # Marked first: a template that refers to itself ends here, and Heat says why.
            self._visited.add(path)
            text = self._text(path, where)
            template = self.template(path, where)
            original = yaml_guard.load_mapping(text, path)
            self.sent[path] = text if template == original else json.dumps(template)
        return path

    def attached(self, path: str, where: str) -> str:
        """Add a file that ``get_file`` names; its key is returned."""
        self.sent[path] = self._text(path, where)
        return path

    def registry(self, registry: Mapping[str, Any], path: str) -> dict[str, Any]:
        """A ``resource_registry`` with its paths rewritten; ``path`` is the environment's."""
        return {key: self._registered(key, value, path) for key, value in registry.items()}

    def _registered(self, key: str, value: Any, path: str) -> Any:
        if isinstance(value, Mapping):
            return self.registry(value, path)
        if not isinstance(value, str) or not _is_template_path(value):
            return value
        where = f"{path}: resource_registry {key}"
        return self.nested(names.beside(path, value, where), where)

    def _rewrite(self, node: Any, path: str) -> Any:
        if isinstance(node, list):
            return [self._rewrite(item, path) for item in node]
        if not isinstance(node, dict):
            return node
        return {key: self._rewrite_item(key, value, path) for key, value in node.items()}

    def _rewrite_item(self, key: Any, value: Any, path: str) -> Any:
        if not isinstance(value, str) or value.startswith(_ELSEWHERE):
            return self._rewrite(value, path)
        if key == "get_file":
            return self.attached(names.beside(path, value, path), path)
        if key == "type" and _is_template_path(value):
            return self.nested(names.beside(path, value, path), path)
        return value

    def _text(self, path: str, where: str) -> str:
        text = self._files.get(path)
        if text is None:
            raise InvalidInput(
                f"{where}: refers to {path}, which is not in the plan.",
                remedy="Upload the file or correct the reference.",
            )
        return text


def heat_environment(
    environments: Iterable[tuple[str, Mapping[str, Any]]], resolver: Resolver
) -> dict[str, Any]:
    """One environment of several, later ones winning.

    Args:
        environments: Plan path (for relative references and errors) and content, in order.
        resolver: Takes in what their registries refer to.

    Returns:
        ``parameters``, ``parameter_defaults``, ``resource_registry`` and the like.
    """
    merged: dict[str, Any] = {}
    for path, content in environments:
        for key in content:
            merged[key] = _joined(key, merged.get(key), content, path, resolver)
    return merged


def _joined(
    key: str, held: Any, content: Mapping[str, Any], path: str, resolver: Resolver
) -> dict[str, Any] | list[Any]:
    if key in ("event_sinks", "encrypted_param_names"):
        return [*(held or []), *yaml_guard.section(content, key, path, list)]
    if key in ("parameter_defaults", "parameters"):
        return merge(held or {}, yaml_guard.section(content, key, path))
    if key == "resource_registry":
        registry = resolver.registry(yaml_guard.section(content, key, path), path)
        return merge(held or {}, registry)
    raise InvalidInput(f"{path}: Heat knows no section {key} of an environment.")


def merge(base: Mapping[str, Any], top: Mapping[str, Any]) -> dict[str, Any]:
    """Merge two mappings in depth; where they meet, ``top`` wins."""
    merged = dict(base)
    for key, value in top.items():
        held = merged.get(key)
        both = isinstance(held, Mapping) and isinstance(value, Mapping)
        merged[key] = merge(held, value) if both else value  # type: ignore[arg-type]
    return merged


def _is_template_path(value: str) -> bool:
    plain = not value.startswith(_ELSEWHERE) and "::" not in posixpath.basename(value)
    return plain and value.endswith(_TEMPLATE_SUFFIXES)
