"""Rendering a plan's Jinja2 templates, in a sandbox and within limits.

``X.j2.yaml`` renders once to ``X.yaml`` with ``roles`` and ``networks``; ``X.role.j2.yaml``
once a role to ``ROLE-X.yaml``; ``X.network.j2.yaml`` once an enabled network. Nothing is
rendered in a plan without ``roles_data.yaml``. All happens in memory: a template that fails
leaves the plan as it was.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping
from typing import Any

import jinja2
from jinja2 import sandbox

from tripleo_actions import yaml_guard
from tripleo_worker.errors import InvalidInput

ROLES_FILE = "roles_data.yaml"
NETWORKS_FILE = "network_data.yaml"
EXCLUDES_FILE = "j2_excludes.yaml"

_ROLE = ".role.j2.yaml"
_NETWORK = ".network.j2.yaml"
_PLAIN = ".j2.yaml"

#: Bytes that one template may render to.
MAX_OUTPUT = 4 * 1024 * 1024

Files = Mapping[str, str]


def render(files: Files) -> dict[str, str]:
    """Render all templates of a plan.

    Args:
        files: Plan path -> text.

    Returns:
        Plan path -> text of every output.

    Raises:
        InvalidInput: a template or its data is faulty; the error names file and line.
    """
    if ROLES_FILE not in files:
        return {}
    roles = read_roles(files)
    networks = _read_list(files, NETWORKS_FILE)
    excludes = _excludes(files)
    engine = _engine(files)
    outputs: dict[str, str] = {}
    for path in sorted(files):
        for target, context in _targets(path, roles, networks):
            if target not in excludes or not _per_item(path):
                outputs[target] = _render_one(engine, path, context)
    return outputs


def read_roles(files: Files, roles_file: str = ROLES_FILE) -> list[dict[str, Any]]:
    """The roles of a plan, each with its ``name``.

    Raises:
        InvalidInput: a role has no name, or two have the same.
    """
    roles = _read_list(files, roles_file)
    seen: set[str] = set()
    for number, role in enumerate(roles, 1):
        name = role.get("name")
        if not isinstance(name, str) or not name.isidentifier():
            raise InvalidInput(
                f"{roles_file}, entry {number}: the name {name!r} cannot be a role's.",
                remedy="Use letters and digits, beginning with a letter.",
            )
        if name.lower() in seen:
            raise InvalidInput(f"{roles_file}, entry {number}: the role {name} stands twice.")
        seen.add(name.lower())
    return roles


def is_template(path: str) -> bool:
    """Whether a file of a plan is a Jinja2 template."""
    return path.endswith(_PLAIN)


def _per_item(path: str) -> bool:
    return path.endswith((_ROLE, _NETWORK))


def _targets(
    path: str, roles: list[dict[str, Any]], networks: list[dict[str, Any]]
) -> Iterator[tuple[str, dict[str, Any]]]:
    if path.endswith(_ROLE):
        for role in roles:
            yield (
                _role_target(path, role),
                {"role": role["name"], "roles": roles} | {"networks": networks},
            )
    elif path.endswith(_NETWORK):
        for network in networks:
            if network.get("enabled", True):
                yield _network_target(path, network), {"network": network, "networks": networks}
    elif path.endswith(_PLAIN):
        yield path.removesuffix(_PLAIN) + ".yaml", {"roles": roles, "networks": networks}


def _role_target(path: str, role: Mapping[str, Any]) -> str:
    folder, base = posixpath.split(path.removesuffix(_ROLE))
    name = str(role["name"]).lower()
    if folder.startswith("network/config"):
        return posixpath.join(folder, role.get("deprecated_nic_config_name") or f"{name}.yaml")
    return posixpath.join(folder, f"{name}-{base}.yaml")


def _network_target(path: str, network: Mapping[str, Any]) -> str:
    folder, base = posixpath.split(path.removesuffix(_NETWORK))
    lower = network.get("name_lower") or str(network.get("name", "")).lower()
    stem = "port" if "port" in base else "network"
    return posixpath.join(folder, base.replace(stem, lower, 1) + ".yaml")


def _excludes(files: Files) -> frozenset[str]:
    data = yaml_guard.load_mapping(files.get(EXCLUDES_FILE, ""), EXCLUDES_FILE)
    names = yaml_guard.section(data, "name", EXCLUDES_FILE, list)
    return frozenset(str(name) for name in names)


def _read_list(files: Files, path: str) -> list[dict[str, Any]]:
    text = files.get(path, "")
    return yaml_guard.load_list(text, path) if text.strip() else []


def _engine(files: Files) -> sandbox.SandboxedEnvironment:
    return sandbox.ImmutableSandboxedEnvironment(
        loader=jinja2.FunctionLoader(lambda name: files.get(posixpath.normpath(name))),
        undefined=jinja2.StrictUndefined,
        autoescape=False,  # the output is YAML; nothing here becomes HTML
        keep_trailing_newline=True,
    )


def _render_one(engine: sandbox.SandboxedEnvironment, path: str, context: Mapping[str, Any]) -> str:
    try:
        text = "".join(_limited(engine.get_template(path).generate(context), path))
    except jinja2.TemplateSyntaxError as error:
        raise InvalidInput(f"{error.name or path}:{error.lineno}: {error.message}.") from error
    except (jinja2.TemplateError, ArithmeticError, LookupError, TypeError, ValueError) as error:
        raise InvalidInput(f"{path}: cannot be rendered: {error}.") from error
    return text


def _limited(pieces: Iterator[str], path: str) -> Iterator[str]:
    size = 0
    for piece in pieces:
        size += len(piece)
        if size > MAX_OUTPUT:
            raise InvalidInput(f"{path}: renders to more than {MAX_OUTPUT} bytes.")
        yield piece
