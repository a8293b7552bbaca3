"""Reading queues without taking anything from them."""

from __future__ import annotations

import uuid
from typing import Any

from keystoneauth1.session import Session

from tripleo_actions.services.zaqar import Zaqar

CLIENT = {"Client-ID": str(uuid.uuid4())}


def bodies(session: Session, queue: str) -> list[dict[str, Any]]:
    """All messages of a queue, oldest first."""
    zaqar, found, marker = Zaqar(session), [], "none"
    while True:
        params = {"limit": "20", "echo": "true", "include_claimed": "true", "marker": marker}
        reply = zaqar.call("GET", f"/queues/{queue}/messages", params=params, headers=CLIENT)
        page = reply.json()["messages"] if reply.status_code == 200 else []
        found += [one["body"] for one in page]
        if not page:
            return found
        marker = page[-1]["href"].split("?")[0].rsplit("/", 1)[-1]


def told(session: Session, execution: str) -> list[dict[str, Any]]:
    """The contract messages of an execution, and a check that they are well formed."""
    every = bodies(session, "tripleo")
    own = [one for one in every if one["payload"].get("execution_id") == execution]
    for one in own:
        assert set(one) == {"type", "payload"}
        assert {"status", "message", "root_execution_id", "execution"} <= set(one["payload"])
    return own


def announced(session: Session, execution: str) -> tuple[list[dict[str, Any]], set[Any]]:
    """What a deployment announced, and the resources that sent events after that.

    Returns:
        The announcements, and a pair of stack id and resource name for each resource of the
        announced stack and those nested in it.
    """
    announcements: list[dict[str, Any]] = []
    stacks: set[str] = set()
    seen: set[Any] = set()
    for body in bodies(session, "tripleo-progress"):
        payload = body.get("payload", {})
        if body.get("type") == "tripleo.deployment.v1.stack":
            if payload["execution_id"] == execution:
                announcements.append(payload)
        elif announcements and payload.get("resource_type") == "OS::Heat::Stack":
            name = announcements[0]["stack_name"]
            if payload["resource_name"] == name or payload["resource_name"].startswith(f"{name}-"):
                stacks.add(payload["stack_id"])
        elif announcements and payload.get("stack_id") in stacks:
            seen.add((payload["stack_id"], payload["resource_name"]))
    return announcements, seen
