"""What several functional tests do: sample plans, and marks in the stream of events."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable
from typing import Any, TypeVar

from keystoneauth1.session import Session

from tripleo_actions.services.heat import Heat
from tripleo_actions.services.mistral import Mistral
from tripleo_actions.services.swift import Swift
from tripleo_actions.services.zaqar import Zaqar
from tripleo_worker.client.cloud import Cloud
from tripleo_worker.client.sync.connection import Connection

#: A deployment that is done in a few seconds.
QUICK = {
    "BootSeconds": 0,
    "ConfigSeconds": 0,
    "StepSeconds": 0,
    "ControllerCount": 1,
    "ComputeCount": 1,
}
DEPLOY = "tripleo.deployment.v1.deploy_plan"

Answer = TypeVar("Answer")


def until(ask: Callable[[], Answer | None], what: str, seconds: float = 60) -> Answer:
    """The first true answer."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        answer = ask()
        if answer:
            return answer
        time.sleep(0.1)
    raise AssertionError(f"{what}: not within {seconds} s")


class Plans:
    """Sample plans of one test, and the services that they live in."""

    def __init__(self, session: Session) -> None:
        self.client = Connection(Cloud(session))
        self.heat, self.swift, self.mistral = Heat(session), Swift(session), Mistral(session)
        self._zaqar = Zaqar(session)
        self._made: list[str] = []

    def create(self, **parameters: Any) -> str:
        """A sample plan under a name of its own, quick unless the parameters say otherwise."""
        name = self.name()
        self.client.action(
            "tripleo.plan.create", {"container": name, "use_default_templates": True}
        )
        self.update(name, **(QUICK | parameters))
        return name

    def name(self) -> str:
        """A name that nobody has, cleaned up after the test."""
        name = f"test-{uuid.uuid4().hex[:8]}"
        self._made.append(name)
        return name

    def update(self, plan: str, **parameters: Any) -> Any:
        """Set parameters."""
        inputs = {"container": plan, "parameters": parameters}
        return self.client.action("tripleo.parameters.update", inputs)

    def events(self, execution: str) -> list[dict[str, Any]]:
        """What the worker's journal holds of a root execution, in order."""
        found: list[dict[str, Any]] = []
        query, before = {"execution": execution, "since": "earliest"}, ""
        while query["since"] != before:
            before = query["since"]
            url = f"{self.client.cloud.endpoint()}/v1/events"
            page = self.client.cloud.session.get(url, params=query).json()
            found += page["events"]
            query["since"] = page["position"]
        return found

    def mark(self, kind: str) -> None:
        """Post what the worker journals, as an event of this type, after all before it."""
        self._zaqar.post("tripleo-progress", {"type": kind, "payload": {}}, 600)

    def remove(self) -> None:
        """Remove every plan and stack that was made here; Heat goes on deleting after it."""
        for name in self._made:
            stack = self.heat.stack(name)
            if stack is not None:
                self.heat.delete_stack(name, stack["id"])
            self.swift.delete_container(name)
            self.mistral.delete_environment(name)
        self._made.clear()
