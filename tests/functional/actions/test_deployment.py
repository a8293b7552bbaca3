"""Deployments in the real services: what the queue, the engine and Heat say agrees."""

from __future__ import annotations

import json
from typing import Any

import pytest
from keystoneauth1.session import Session

from tests.functional.actions.queues import announced, told
from tests.functional.samples import DEPLOY, Plans, until
from tripleo_actions import locks
from tripleo_worker.errors import TripleOWorkerError

pytestmark = pytest.mark.timeout(300)
UNDEPLOY = "tripleo.deployment.v1.undeploy_plan"
#: A plan with few resources, so that what counts here is how long its steps take.
BARE = {
    "ControllerCount": 0,
    "ComputeCount": 0,
    "ControllerServices": [],
    "ComputeServices": [],
}


class Engine:
    """Executions in Mistral."""

    def __init__(self, plans: Plans) -> None:
        self.mistral = plans.mistral

    def start(self, workflow: str, **inputs: Any) -> str:
        body = {"workflow_name": workflow, "input": inputs}
        return str(self.mistral.call("POST", "/executions", json=body).json()["id"])

    def found(self, execution: str) -> dict[str, Any]:
        found: dict[str, Any] = self.mistral.call("GET", f"/executions/{execution}").json()
        return found | {"output": json.loads(found.get("output") or "{}")}

    def ended(self, execution: str, seconds: float = 150) -> dict[str, Any]:
        """The execution once it has ended."""

        def over() -> dict[str, Any] | None:
            found = self.found(execution)
            return found if found["state"] in ("SUCCESS", "ERROR", "CANCELLED") else None

        return until(over, f"{execution} ends", seconds)

    def run(self, workflow: str, **inputs: Any) -> tuple[str, dict[str, Any]]:
        execution = self.start(workflow, **inputs)
        return execution, self.ended(execution)

    def cancel(self, execution: str) -> None:
        self.mistral.call("PUT", f"/executions/{execution}", json={"state": "CANCELLED"})

    def running_action(self, execution: str, task: str) -> str | None:
        """The id of the action that a task is waiting for."""
        path = f"/executions/{execution}/tasks"
        tasks = self.mistral.call("GET", path).json()["tasks"]
        for one in (one for one in tasks if one["name"] == task):
            actions = self.mistral.call("GET", f"/tasks/{one['id']}/action_executions").json()
            for action in actions["action_executions"]:
                if action["state"] == "RUNNING":
                    return str(action["id"])
        return None


@pytest.fixture(scope="module")
def engine(plans: Plans) -> Engine:
    return Engine(plans)


def status(plans: Plans, plan: str) -> str:
    stack = plans.heat.stack(plan)
    return str(stack["stack_status"]) if stack else ""


def free(plans: Plans, plan: str) -> bool:
    """Whether nobody holds the lock of a plan's deployment."""
    return not locks.holder(plans.swift, f"{plan}/deployment")


def last(session: Session, execution: str) -> dict[str, Any]:
    """The one terminal message of an execution, which is its last."""
    messages = told(session, execution)
    assert [one["payload"]["status"] for one in messages[:-1]] == ["RUNNING"] * (len(messages) - 1)
    assert messages[-1]["payload"]["status"] in ("SUCCESS", "FAILED")
    payload: dict[str, Any] = messages[-1]["payload"]
    return payload | {"type": messages[-1]["type"]}


def test_a_deployment_is_followed_to_its_end_and_undone(
    plans: Plans, engine: Engine, session: Session
) -> None:
    plan = plans.create()
    execution, ended = engine.run(DEPLOY, container=plan)
    assert ended["state"] == "SUCCESS", ended
    assert status(plans, plan) == "CREATE_COMPLETE"
    message = last(session, execution)
    assert message["type"] == DEPLOY
    assert (message["status"], message["deployment_status"]) == ("SUCCESS", "DEPLOY_SUCCESS")
    assert message["plan_name"] == plan
    assert message["execution"]["input"]["container"] == plan
    for key in ("status", "message", "plan_name", "deployment_status"):
        assert ended["output"][key] == message[key]
    assert free(plans, plan)

    announcements, seen = announced(session, execution)
    assert [one["action"] for one in announcements] == ["CREATE", "CREATE"]
    assert announcements[0]["stack_id"] is None
    assert announcements[1]["stack_id"] == plans.heat.stack(plan)["id"]  # type: ignore[index]
    assert announcements[1]["expected_resources"] == len(seen) > 50

    updated, ended = engine.run(DEPLOY, container=plan)
    assert ended["state"] == "SUCCESS", ended
    assert status(plans, plan) == "UPDATE_COMPLETE"
    announcements, seen = announced(session, updated)
    assert [one["action"] for one in announcements] == ["UPDATE", "UPDATE"]
    assert announcements[1]["expected_resources"] == pytest.approx(len(seen), abs=2)

    undone, ended = engine.run(UNDEPLOY, container=plan)
    assert ended["state"] == "SUCCESS", ended
    assert plans.heat.stack(plan) is None
    message = last(session, undone)
    assert (message["type"], message["deployment_status"]) == (UNDEPLOY, "UNDEPLOYED")
    again, ended = engine.run(UNDEPLOY, container=plan)
    assert ended["state"] == "SUCCESS", ended
    assert "nothing was to be deleted" in last(session, again)["message"]


def test_a_failure_names_the_resource_and_its_reason_and_can_be_mended(
    plans: Plans, engine: Engine, session: Session
) -> None:
    plan = plans.create(FailRole="Compute", ControllerCount=0)
    execution, ended = engine.run(DEPLOY, container=plan)
    assert ended["state"] == "ERROR"
    assert status(plans, plan) == "CREATE_FAILED"
    message = last(session, execution)
    assert (message["status"], message["deployment_status"]) == ("FAILED", "DEPLOY_FAILED")
    assert "ComputeServers.0.DiskCheck" in message["message"]
    assert "The disk of the node is faulty" in message["message"]
    [failure] = message["failures"]
    assert failure["type"] == "OS::TripleO::DiskCheck"
    assert ended["output"]["failures"] == message["failures"]
    assert ended["output"]["message"] == message["message"]
    assert "The disk of the node is faulty" in ended["state_info"]
    assert free(plans, plan)

    plans.update(plan, FailRole="")
    execution, ended = engine.run(DEPLOY, container=plan)
    assert ended["state"] == "SUCCESS", ended
    assert status(plans, plan) == "UPDATE_COMPLETE"


def test_one_deployment_a_plan_and_a_cancelled_one_leaves_no_lock(
    plans: Plans, engine: Engine, session: Session
) -> None:
    plan = plans.create(**BARE, StepSeconds=4)
    both = {engine.start(DEPLOY, container=plan) for _ in range(2)}
    until(lambda: status(plans, plan), "the stack is begun")
    [second] = until(
        lambda: [one for one in both if engine.found(one)["state"] == "ERROR"], "a refusal"
    )
    [first] = both - {second}
    message = last(session, second)
    assert message["status"] == "FAILED"
    assert f"being deployed by execution {first}" in message["message"]

    assert engine.found(first)["state"] == "RUNNING"
    engine.cancel(first)
    until(lambda: free(plans, plan), "the lock is free", 20)
    assert status(plans, plan) == "CREATE_IN_PROGRESS"
    third, refused = engine.run(DEPLOY, container=plan)
    assert refused["state"] == "ERROR"
    assert "CREATE_IN_PROGRESS: nothing was started" in last(session, third)["message"]

    until(lambda: "IN_PROGRESS" not in status(plans, plan), "the stack is done", 120)
    assert status(plans, plan) == "CREATE_COMPLETE"
    assert engine.found(first)["state"] == "CANCELLED"
    assert {one["payload"]["status"] for one in told(session, first)} == {"RUNNING"}
    _, ended = engine.run(DEPLOY, container=plan)
    assert ended["state"] == "SUCCESS", ended


def test_a_lost_executor_does_not_fail_the_deployment(
    plans: Plans, engine: Engine, session: Session
) -> None:
    plan = plans.create(**BARE, StepSeconds=2)
    execution = engine.start(DEPLOY, container=plan)
    waiting = until(lambda: engine.running_action(execution, "wait_for_stack"), "the wait")
    lost = {"state": "ERROR", "output": {"result": "Heartbeat wasn't received."}}
    engine.mistral.call("PUT", f"/action_executions/{waiting}", json=lost)
    ended = engine.ended(execution)
    assert ended["state"] == "SUCCESS", ended
    assert last(session, execution)["deployment_status"] == "DEPLOY_SUCCESS"


@pytest.mark.parametrize(
    ("inputs", "words"),
    [
        ({"container": "no-such-plan"}, "There is no plan no-such-plan"),
        ({"container": "../etc"}, "../etc"),
        ({"container": "no-such-plan", "timeout": 0}, "timeout: 0"),
    ],
)
@pytest.mark.parametrize("workflow", [DEPLOY, UNDEPLOY])
def test_what_cannot_be_started_is_refused_with_a_message(
    engine: Engine, session: Session, workflow: str, inputs: dict[str, Any], words: str
) -> None:
    execution, ended = engine.run(workflow, **inputs)
    assert ended["state"] == "ERROR"
    message = last(session, execution)
    assert message["status"] == "FAILED"
    assert words in message["message"]
    assert ended["output"]["message"] == message["message"]


def test_what_heat_refuses_is_told_in_its_words_and_nothing_is_made(
    plans: Plans, engine: Engine, session: Session
) -> None:
    plan = plans.create()
    plans.swift.put(plan, "services/service.yaml", b"heat_template_version: 2018-08-31\nfoo: {}\n")
    execution, ended = engine.run(DEPLOY, container=plan)
    assert ended["state"] == "ERROR"
    message = last(session, execution)["message"]
    assert "Heat answered 400" in message
    assert "Unknown Property Debug" in message
    assert status(plans, plan) == ""
    assert free(plans, plan)


def test_a_message_too_large_for_the_queue_is_moved_to_the_plans_container(
    plans: Plans, session: Session
) -> None:
    plan = plans.create()
    report = "ü€😀" * 60_000
    sent = plans.client.action(
        "tripleo.messaging.send",
        {
            "type": "tripleo.test.v1.large",
            "execution": {"id": plan},
            "message": "short",
            "payload": {"report": report, "password": "Canary-4711"},
            "plan_name": plan,
        },
    )
    assert sent["posted"]
    [message] = told(session, plan)
    assert message["payload"]["message"] == "short"
    url = message["payload"]["payload_url"]
    whole = session.get(url).json()
    assert whole["report"] == report
    assert whole["plan_name"] == plan
    assert "Canary-4711" not in json.dumps(whole)


def test_the_workflow_of_messages_posts_one(plans: Plans, engine: Engine, session: Session) -> None:
    execution, ended = engine.run(
        "tripleo.messaging.v1.send",
        queue_name="tripleo",
        type="tripleo.test.v1.sent",
        execution={"id": plans.name()},
        message="hello",
    )
    assert ended["state"] == "SUCCESS", ended
    assert (ended["output"]["status"], ended["output"]["message"]) == ("SUCCESS", "hello")
    assert told(session, execution) == []


def test_an_action_that_fails_says_why(plans: Plans) -> None:
    with pytest.raises(TripleOWorkerError, match="no-such-plan"):
        plans.client.action("tripleo.deployment.deploy", {"container": "no-such-plan"})
