"""Of a deployment that fails, message, Heat, Mistral and the journal say the same."""

from __future__ import annotations

from typing import Any

import pytest

from tests.functional.samples import DEPLOY, Plans, until
from tripleo_worker.errors import InvalidInput
from tripleo_worker.events import Status

pytestmark = pytest.mark.timeout(180)


def events(plans: Plans, execution: str) -> list[dict[str, Any]]:
    """Those of an execution once the engine's own word of its end has come."""

    def complete() -> list[dict[str, Any]]:
        found = plans.events(execution)
        return found if found and found[-1]["type"] == "mistral.workflow.failed" else []

    return until(complete, "the engine's word", 20)


def test_a_failed_resource_is_named_alike_by_all_witnesses(plans: Plans) -> None:
    plan = plans.create(FailRole="Compute")
    operation = plans.client.run(DEPLOY, {"container": plan}).wait()
    found = events(plans, operation.execution_id)
    state = plans.client.cloud.engine.state(operation.execution_id)
    stack = plans.heat.stack(plan)
    assert stack is not None

    (final,) = [one for one in found if one.get("final")]
    assert final["type"] == DEPLOY
    states = operation.status, state.status, final["data"]["status"]
    assert states == (Status.FAILED,) * 3
    assert stack["stack_status"] == "CREATE_FAILED"

    path, depth = f"/stacks/{plan}/{stack['id']}/resources", {"nested_depth": "20"}
    resources = plans.heat.call("GET", path, params=depth).json()["resources"]
    (broken,) = [one for one in resources if one["resource_type"] == "OS::TripleO::DiskCheck"
                 and one["resource_status"] == "CREATE_FAILED"]  # fmt: skip
    (failure,) = final["data"]["payload"]["failures"]
    assert failure["name"].endswith(broken["resource_name"])
    assert failure["reason"] == broken["resource_status_reason"]
    for told in (operation.message, state.message, final["data"]["message"]):
        assert failure["name"] in told
        assert failure["reason"] in told
    cause = operation.failures[0]
    assert cause.name.endswith(broken["resource_name"])
    assert cause.reason in broken["resource_status_reason"]

    with pytest.raises(InvalidInput, match=f"The plan {plan} is deployed"):
        plans.client.action("tripleo.plan.delete", {"container": plan})
