"""The policy of each route; the file of ``[oslo_policy]`` can change it."""

from __future__ import annotations

from typing import Any

from oslo_policy import policy

STREAM = "tripleo_worker:stream"
EVENTS = "tripleo_worker:events:list"
POSITION = "tripleo_worker:position:get"
OPERATIONS = "tripleo_worker:operations:list"
OPERATION = "tripleo_worker:operations:get"
ALL_PROJECTS = "tripleo_worker:all_projects"

_LISTENER = "rule:listener"


def _route(name: str, description: str, path: str) -> Any:
    return policy.DocumentedRuleDefault(
        name=name,
        check_str=_LISTENER,
        description=description,
        operations=[{"path": path, "method": "GET"}],
    )


RULES = (
    policy.RuleDefault(
        "listener",
        "role:reader or role:member or role:admin",
        "Who may see the events of the token's project.",
    ),
    policy.DocumentedRuleDefault(
        name=ALL_PROJECTS,
        check_str="role:admin",
        description="See the events of all projects, and those of none.",
        operations=[{"path": "/v1/*", "method": "GET"}],
    ),
    policy.DocumentedRuleDefault(
        name=STREAM,
        check_str=_LISTENER,
        description="Listen to the stream, over a websocket or as server-sent events.",
        operations=[
            {"path": "/v1/stream", "method": "GET"},
            {"path": "/v1/events/stream", "method": "GET"},
        ],
    ),
    _route(EVENTS, "Read events of the journal.", "/v1/events"),
    _route(POSITION, "Ask for the newest position.", "/v1/position"),
    _route(OPERATIONS, "List the operations.", "/v1/operations"),
    _route(OPERATION, "See one operation.", "/v1/operations/{execution_id}"),
)


def list_rules() -> tuple[Any, ...]:
    """Every rule; the entry point ``oslo.policy.policies``."""
    return RULES
