"""The capabilities map: which environments a plan offers, and which are switched on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tripleo_actions import names, yaml_guard
from tripleo_worker.errors import InvalidInput

FILE = "capabilities-map.yaml"

#: The topic of environments that the map does not name.
OTHER = "Other"

Map = dict[str, Any]


def parse(text: str | bytes) -> Map:
    """Read a capabilities map.

    Raises:
        InvalidInput: a section has the wrong shape; the error names topic and group.
    """
    data = yaml_guard.load_mapping(text, FILE)
    topics = yaml_guard.section(data, "topics", FILE, list)
    return {**data, "topics": [_topic(topic, n) for n, topic in enumerate(topics, 1)]}


def files(capabilities: Map) -> Iterator[str]:
    """The environment files that the map names."""
    for group in _groups(capabilities):
        yield from (environment["file"] for environment in group["environments"])


def overview(capabilities: Map, enabled: list[str], available: list[str]) -> dict[str, Any]:
    """What clients show: each topic with its groups, each environment with ``enabled``.

    Args:
        capabilities: As :func:`parse` gives it.
        enabled: Environment files of the plan, in order.
        available: Further environment files in the plan, for the topic of the unnamed ones.

    Returns:
        Topic title -> topic; the topic ``Other`` for environments outside the map.
    """
    on = set(enabled)
    known = set(files(capabilities))
    topics = {topic["title"]: _shown(topic, on) for topic in capabilities["topics"]}
    root = {capabilities.get("root_environment")}
    others = [f for f in dict.fromkeys([*enabled, *available]) if f not in known | root]
    if others:
        topics[OTHER] = _other(others, on)
    return topics


def selection(
    capabilities: Map, wanted: Mapping[str, bool], enabled: list[str], *, purge: bool = False
) -> tuple[list[str], list[str]]:
    """Which environments a change switches on and off.

    What a switched-on environment requires is switched on before it. Of a mutually exclusive
    group the others go off.

    Args:
        capabilities: As :func:`parse` gives it.
        wanted: Environment file -> on or off.
        enabled: Environment files of the plan, in order.
        purge: Whether those of the map that ``wanted`` does not name go off.

    Returns:
        Those to switch on, in order, and those to switch off.

    Raises:
        InvalidInput: two environments of a mutually exclusive group are wanted, or a required
            one is switched off.
    """
    on = list(_with_required(capabilities, [f for f, yes in wanted.items() if yes]))
    off = [f for f, yes in wanted.items() if not yes]
    clash = next((f for f in on if f in off), None)
    if clash:
        raise InvalidInput(f"{clash} is required by another environment, so it cannot be off.")
    off += _excluded(capabilities, on)
    if purge:
        named = set(files(capabilities)) - {capabilities.get("root_environment")}
        off += [f for f in enabled if f in named and f not in on]
    return on, list(dict.fromkeys(off))


def _topic(topic: Any, number: int) -> dict[str, Any]:
    where = f"{FILE}, topic {number}"
    data = yaml_guard.mapping(topic, where)
    title = _title(data, where)
    groups = yaml_guard.section(data, "environment_groups", where, list)
    return {**data, "title": title, "environment_groups": [_group(g, title) for g in groups]}


def _group(group: Any, topic: str) -> dict[str, Any]:
    where = f"{FILE}, topic {topic}"
    data = yaml_guard.mapping(group, where)
    environments = yaml_guard.section(data, "environments", where, list)
    return {
        **data,
        "title": str(data.get("title") or ""),
        "environments": [_environment(e, where) for e in environments],
    }


def _environment(environment: Any, where: str) -> dict[str, Any]:
    data = yaml_guard.mapping(environment, where)
    file = names.plan_path(data.get("file"), where)
    requires = yaml_guard.section(data, "requires", f"{where}, {file}", list)
    return {**data, "file": file, "requires": [names.plan_path(r, where) for r in requires]}


def _title(data: Mapping[str, Any], where: str) -> str:
    title = data.get("title")
    if not isinstance(title, str) or not title:
        raise InvalidInput(f"{where}: has no title.")
    return title


def _shown(topic: Map, on: set[str]) -> Map:
    groups = [
        {
            **group,
            "environments": [{**e, "enabled": e["file"] in on} for e in group["environments"]],
        }
        for group in topic["environment_groups"]
    ]
    return {**topic, "environment_groups": groups}


def _other(files: list[str], on: set[str]) -> Map:
    groups = [
        {
            "title": file,
            "description": None,
            "environments": [
                {
                    "file": file,
                    "title": file,
                    "description": f"Enable {file} environment",
                    "enabled": file in on,
                    "requires": [],
                }
            ],
        }
        for file in files
    ]
    return {"title": OTHER, "description": None, "environment_groups": groups}


def _groups(capabilities: Map) -> Iterator[Map]:
    for topic in capabilities["topics"]:
        yield from topic["environment_groups"]


def _requirements(capabilities: Map) -> dict[str, list[str]]:
    return {e["file"]: e["requires"] for g in _groups(capabilities) for e in g["environments"]}


def _with_required(capabilities: Map, files: list[str]) -> dict[str, None]:
    requirements = _requirements(capabilities)
    ordered: dict[str, None] = {}
    pending: set[str] = set()

    def visit(file: str) -> None:
        if file in ordered or file in pending:
            return
        pending.add(file)
        for required in requirements.get(file, []):
            visit(required)
        ordered[file] = None

    for file in files:
        visit(file)
    return ordered


def _excluded(capabilities: Map, on: list[str]) -> list[str]:
    out: list[str] = []
    for group in _groups(capabilities):
        if not group.get("mutually_exclusive"):
            continue
        members = [environment["file"] for environment in group["environments"]]
        chosen = [file for file in members if file in on]
        if len(chosen) > 1:
            raise InvalidInput(f"Only one of {', '.join(chosen)} can be on ({group['title']}).")
        out += [file for file in members if chosen and file not in chosen]
    return out
