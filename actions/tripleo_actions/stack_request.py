"""What Heat is asked to deploy for a plan: template, files and one environment."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tripleo_actions import plan_environment, rendering
from tripleo_actions.references import Resolver, heat_environment

#: Seconds that Heat's events stay in their queue.
EVENT_TTL = 4 * 3600

#: The parameter that makes configuration run again when it changes.
IDENTIFIER = "DeployIdentifier"


def rendered_files(files: Mapping[str, str]) -> dict[str, str]:
    """A plan's files with the outputs of its Jinja2 templates.

    Raises:
        InvalidInput: a template or its data is faulty.
    """
    return {**files, **rendering.render(files)}


def stack_request(
    environment: plan_environment.PlanEnvironment, files: Mapping[str, str]
) -> dict[str, Any]:
    """Build the body of Heat's create, update, preview and validate calls.

    Args:
        environment: The plan environment.
        files: Plan path -> text, rendered.

    Returns:
        ``template``, ``files`` (key -> text) and ``environment``.

    Raises:
        InvalidInput: a file that is referred to is missing or faulty.
    """
    resolver = Resolver(files)
    template = resolver.template(environment["template"], plan_environment.FILE)
    merged = heat_environment(plan_environment.layers(environment, files), resolver)
    return {"template": template, "files": resolver.sent, "environment": merged}


def with_defaults(request: Mapping[str, Any], defaults: Mapping[str, Any]) -> dict[str, Any]:
    """The request with further parameter defaults, which win."""
    environment = dict(request["environment"])
    environment["parameter_defaults"] = {
        **(environment.get("parameter_defaults") or {}),
        **defaults,
    }
    return {**request, "environment": environment}


def with_event_sink(request: Mapping[str, Any], queue: str) -> dict[str, Any]:
    """The request with a queue to which Heat posts every resource event."""
    environment = dict(request["environment"])
    sink = {"type": "zaqar-queue", "target": queue, "ttl": EVENT_TTL}
    environment["event_sinks"] = [*environment.get("event_sinks", []), sink]
    return {**request, "environment": environment}
