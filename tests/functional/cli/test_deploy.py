"""Deployments as a user sees them: every end has its exit code, and all witnesses agree."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable
from typing import Any

import pytest

from tests.functional.cli.conftest import QUICK, Program, ended, latest, until
from tripleo_actions.services.heat import Heat
from tripleo_worker.client.sync.connection import Connection
from tripleo_worker.events import Status
from tripleo_worker.operations import Operation

pytestmark = pytest.mark.timeout(400)


def _running(cloud: Connection, plan: str) -> Operation | None:
    found = [one for one in cloud.operations(plan=plan) if one.workflow.endswith("deploy_plan")]
    return found[-1] if found and not found[-1].terminal else None


def test_success_then_failure_and_all_witnesses_agree(
    openstack: Program, plan: str, cloud: Connection, heat: Heat
) -> None:
    done = openstack("overcloud", "deploy", "--plan", plan, *QUICK)
    assert done.code == 0, done.err
    assert f"Deployment of {plan} succeeded" in done.err
    assert done.out == ""
    operation = latest(cloud, plan)
    assert operation.status is Status.SUCCESS
    assert operation.percent == 100.0
    assert heat.stack(plan)["stack_status"].endswith("_COMPLETE")
    assert cloud.cloud.engine.state(operation.execution_id).status is Status.SUCCESS

    broken = openstack("overcloud", "deploy", "--plan", plan, "--parameter", "FailRole=Compute")
    assert broken.code == 1, broken.err
    operation = latest(cloud, plan)
    assert operation.status is Status.FAILED
    cause = operation.failures[0]
    assert cause.name in broken.err
    assert cause.reason.split(":")[-1].strip()[:30] in " ".join(broken.err.split())
    assert heat.stack(plan)["stack_status"] == "UPDATE_FAILED"
    assert cloud.cloud.engine.state(operation.execution_id).status is Status.FAILED

    again = openstack("overcloud", "progress", "watch", "--execution", operation.execution_id)
    assert again.code == 1
    assert cause.name in again.err


def test_a_limit_and_ctrl_c_leave_the_deployment_alone(
    openstack: Program, plan: str, cloud: Connection
) -> None:
    slow = (*QUICK, "--parameter", "StepSeconds=3")
    typo = ("--parameter", "ControlerCount=1")
    limited = openstack("overcloud", "deploy", "--plan", plan, *slow, *typo, "--timeout", "0.05")
    assert limited.code == 3, limited.err
    assert "ControlerCount; is ControllerCount meant?" in limited.err
    assert "RUNNING" in limited.err
    running = until(lambda: _running(cloud, plan))
    watching = openstack.start(
        "overcloud", "progress", "watch", "--execution", running.execution_id
    )
    assert watching.stderr is not None
    assert watching.stderr.readline()
    watching.send_signal(signal.SIGINT)
    left = ended(watching)
    assert left.code == 130, left.err
    assert f"progress watch --execution {running.execution_id}" in left.err
    attached = openstack("overcloud", "progress", "watch", "--execution", running.execution_id)
    assert attached.code == 0, attached.err


def test_a_killed_worker_costs_one_warning_and_no_event(
    openstack: Program,
    plan: str,
    cloud: Connection,
    kill_worker: Callable[[], None],
    session: Any,
) -> None:
    words = ("overcloud", "deploy", "--plan", plan, *QUICK, "--parameter", "StepSeconds=3")
    deploying = openstack.start(*words, "--progress", "json")
    running = until(lambda: _running(cloud, plan))
    kill_worker()
    done = ended(deploying)
    assert done.code == 0, done.err
    records = [json.loads(line) for line in done.out.splitlines()]
    assert len([one for one in records if "warning" in one]) == 1
    seen = [one["event"]["sequence"] for one in records if "event" in one]
    assert seen == sorted(set(seen))
    stored = _stored(cloud, session, running.execution_id, records[-1]["operation"])
    assert seen == stored[: len(seen)]
    assert records[-1]["operation"]["status"] == "SUCCESS"


def _stored(cloud: Connection, session: Any, execution: str, seen: dict[str, Any]) -> list[str]:
    """The sequences of the journal up to the end of what a watcher saw."""
    found: list[str] = []
    since = "earliest"
    while True:
        query = {"since": since, "execution": execution, "limit": "500"}
        page = session.get(f"{cloud.cloud.endpoint()}/v1/events", params=query).json()
        found += [event["sequence"] for event in page["events"]]
        if not page["events"]:
            last = seen["last_position"].split(":")[1]
            return [one for one in found if int(one) <= int(last)]
        since = page["position"]


def test_a_deployment_that_is_cancelled_in_the_engine(
    openstack: Program, own_plan: str, cloud: Connection, session: Any, heat: Heat
) -> None:
    words = ("overcloud", "deploy", "--plan", own_plan, *QUICK, "--parameter", "StepSeconds=2")
    deploying = openstack.start(*words)
    running = until(lambda: _running(cloud, own_plan))
    until(lambda: heat.stack(own_plan))
    cancelled = openstack(
        "workflow", "execution", "update", "-s", "CANCELLED", running.execution_id
    )
    assert cancelled.code == 0, cancelled.err
    done = ended(deploying)
    assert done.code == 5, done.err
    assert "was cancelled" in done.err
    assert latest(cloud, own_plan).status is Status.CANCELLED
    until(lambda: "IN_PROGRESS" not in heat.stack(own_plan)["stack_status"], 90)


def test_without_a_worker_there_is_one_warning_and_the_outcome(
    openstack: Program, plan: str
) -> None:
    away = {"TRIPLEO_WORKER_ENDPOINT": "http://127.0.0.1:9"}
    done = openstack("overcloud", "deploy", "--plan", plan, *QUICK, **away)
    assert done.code == 0, done.err
    assert done.err.count("The worker does not answer") == 1
    assert "succeeded" in done.err


def test_a_plan_that_does_not_exist(openstack: Program) -> None:
    done = openstack("overcloud", "deploy", "--plan", "no-such-plan")
    assert done.code == 1
    assert "no-such-plan" in done.err
    done = openstack("overcloud", "deploy", "--plan", "no-such-plan", "--parameter", "A=1")
    assert done.code == 1
    assert "no-such-plan" in done.err
    assert "Traceback" not in done.err


def test_a_value_that_does_not_fit_is_refused_before_anything_starts(
    openstack: Program, plan: str, cloud: Connection
) -> None:
    before = cloud.operations(plan=plan)
    words = ("overcloud", "deploy", "--plan", plan, "--parameter", "ControllerCount=many")
    done = openstack(*words)
    assert done.code == 2
    assert "ControllerCount" in done.err
    assert "many" in done.err
    assert cloud.operations(plan=plan) == before
