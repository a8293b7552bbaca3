"""The plan environment: what a plan consists of, beside its templates.

Keys: ``version``, ``name``, ``description``, ``template``, ``environments`` (``{path}`` or
``{data}``, order counts, later wins), ``parameter_defaults`` (the user's), ``passwords``
(generated), ``workflow_parameters``, ``derived_parameters``. The same mapping is a Mistral
Environment and ``plan-environment.yaml``. Every function returns a new mapping.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tripleo_actions import names, yaml_guard
from tripleo_actions.references import merge
from tripleo_worker.errors import InvalidInput

FILE = "plan-environment.yaml"
VERSION = 1.0
DEFAULT_TEMPLATE = "overcloud.yaml"

#: Sections that are mappings.
SECTIONS = ("parameter_defaults", "passwords", "workflow_parameters", "derived_parameters")

#: Sections that hold parameters, the weakest first.
PARAMETER_LAYERS = ("passwords", "derived_parameters", "parameter_defaults")

PlanEnvironment = dict[str, Any]


def parse(text: str | bytes, plan: str) -> PlanEnvironment:
    """Read ``plan-environment.yaml``.

    Raises:
        InvalidInput: it is not what a plan environment must be.
    """
    return checked(yaml_guard.load_mapping(text, FILE), plan)


def checked(data: Mapping[str, Any], plan: str) -> PlanEnvironment:
    """A plan environment in full form, named after its plan.

    Raises:
        InvalidInput: a section has the wrong shape or a path leads out of the plan.
    """
    environments = yaml_guard.section(data, "environments", FILE, list)
    base: PlanEnvironment = {
        "version": data.get("version") or VERSION,
        "name": plan,
        "description": str(data.get("description") or ""),
        "template": names.plan_path(data.get("template") or DEFAULT_TEMPLATE, FILE),
        "environments": [_entry(entry, n) for n, entry in enumerate(environments, 1)],
    }
    for key in SECTIONS:
        base[key] = yaml_guard.section(data, key, FILE)
    return {**base, **{key: value for key, value in data.items() if key not in base}}


def default(plan: str, capabilities: Mapping[str, Any]) -> PlanEnvironment:
    """The plan environment of a plan that came without one.

    Args:
        plan: Its name.
        capabilities: Its capabilities map, for the root template and environment.
    """
    root = capabilities.get("root_environment")
    return checked(
        {
            "template": capabilities.get("root_template") or DEFAULT_TEMPLATE,
            "environments": [{"path": root}] if root else [],
        },
        plan,
    )


def taken_up(found: PlanEnvironment, held: Mapping[str, Any] | None) -> PlanEnvironment:
    """A plan environment that a client wrote to Swift, in place of the held one.

    Passwords of the held one stay, whatever the client wrote: a stack may use them.
    """
    if held is None:
        return found
    passwords = {**found["passwords"], **(held.get("passwords") or {})}
    return {**found, "passwords": passwords}


def with_parameters(
    environment: PlanEnvironment, parameters: Mapping[str, Any], key: str = "parameter_defaults"
) -> PlanEnvironment:
    """Patch parameters: those given are set, the others stay.

    Raises:
        InvalidInput: ``key`` names no section of parameters.
    """
    _check_layer(key)
    return {**environment, key: {**(environment.get(key) or {}), **parameters}}


def without_parameters(
    environment: PlanEnvironment, key: str = "parameter_defaults"
) -> PlanEnvironment:
    """Drop all parameters of a section.

    Raises:
        InvalidInput: ``key`` names no section of parameters, or that of passwords.
    """
    _check_layer(key)
    if key == "passwords":
        raise InvalidInput("The passwords of a plan cannot be reset: a stack may use them.")
    return {**environment, key: {}}


def with_environments(
    environment: PlanEnvironment, wanted: Iterable[str], unwanted: Iterable[str]
) -> PlanEnvironment:
    """Switch environment files on and off; the order of those that stay is kept."""
    out = set(unwanted)
    kept = [e for e in environment["environments"] if e.get("path") not in out]
    have = {e.get("path") for e in kept}
    added = [{"path": path} for path in dict.fromkeys(wanted) if path not in have]
    return {**environment, "environments": kept + added}


def layers(
    environment: PlanEnvironment, files: Mapping[str, str]
) -> list[tuple[str, dict[str, Any]]]:
    """The environments for Heat in their order: the plan's, then its own parameters.

    Passwords are weaker than derived parameters, and those than the user's.

    Returns:
        Pairs of plan path and content.

    Raises:
        InvalidInput: an environment file is missing or faulty.
    """
    own: dict[str, Any] = {}
    for key in PARAMETER_LAYERS:
        own = merge(own, environment.get(key) or {})
    named = [_content(entry, files) for entry in environment["environments"]]
    return [*named, (FILE, {"parameter_defaults": own})]


def _content(entry: Mapping[str, Any], files: Mapping[str, str]) -> tuple[str, dict[str, Any]]:
    if "data" in entry:
        return FILE, dict(entry["data"])
    path = entry["path"]
    if path not in files:
        raise InvalidInput(
            f"{FILE}: the environment {path} is not in the plan.",
            remedy="Upload it, or take it off the plan's environments.",
        )
    return path, yaml_guard.load_mapping(files[path], path)


def _entry(entry: Any, number: int) -> dict[str, Any]:
    where = f"{FILE}, environment {number}"
    match entry:
        case {"path": path, **rest} if not rest:
            return {"path": names.plan_path(path, where)}
        case {"data": data, **rest} if not rest:
            return {"data": yaml_guard.mapping(data, where)}
    raise InvalidInput(f"{where}: either path or data is expected.")


def _check_layer(key: str) -> None:
    if key not in PARAMETER_LAYERS and key != "workflow_parameters":
        raise InvalidInput(
            f"{key!r} is no section of parameters.", remedy=f"Use {', '.join(PARAMETER_LAYERS)}."
        )
