"""The commands to try next, by what was done and how it ended."""

from __future__ import annotations

from tripleo_worker.cli.deploy import WORKFLOW as DEPLOY
from tripleo_worker.cli.plan import CREATE
from tripleo_worker.events import Status
from tripleo_worker.operations import Operation


def steps(operation: Operation) -> list[str]:
    """The commands to try after an operation; none where nothing is obvious."""
    done = operation.status is Status.SUCCESS
    if operation.workflow == CREATE and done:
        return [f"openstack overcloud deploy --plan {operation.plan}"]
    if operation.workflow != DEPLOY:
        return []
    stack = operation.stack_name or operation.plan
    if done:
        return [f"openstack stack resource list --nested-depth 2 {stack}"]
    if not operation.failures:
        return []
    return [
        f"openstack stack failures list --long {stack}",
        f"openstack overcloud deploy --plan {operation.plan}",
    ]
