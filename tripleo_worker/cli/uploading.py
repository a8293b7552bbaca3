"""The upload of a folder of templates: all checks first, then all files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tripleo_actions import yaml_guard
from tripleo_worker.client.folder import FAULTS_TOLD, Template, templates
from tripleo_worker.client.store import Store
from tripleo_worker.client.sync.connection import Connection
from tripleo_worker.errors import InvalidInput


def upload(connection: Connection, plan: str, folder: Path) -> None:
    """Upload a folder into a new plan's container.

    Raises:
        InvalidInput: the folder cannot be used, or the name is taken; nothing was uploaded.
        ServiceError: Swift or Mistral did not do their part.
    """
    found = templates(folder)
    check_yaml(found)
    if plan in (connection.action("tripleo.plan.list", {}) or []):
        raise InvalidInput(
            f"The plan {plan} exists.",
            remedy=f"Choose another name, or `openstack overcloud plan delete {plan}` first.",
        )
    store = Store(
        connection.cloud.session,
        region=connection.cloud.region,
        interface=connection.cloud.interface,
    )
    if not store.check_free(plan):
        connection.action("tripleo.plan.create_container", {"container": plan})
    store.upload(plan, found)


def check_yaml(found: Sequence[Template]) -> None:
    """Read every YAML file that is no Jinja2 template.

    Raises:
        InvalidInput: some cannot be read; the error names files and lines.
    """
    faults = []
    for template in found:
        if not template.path.endswith((".yaml", ".yml")) or ".j2." in template.path:
            continue
        try:
            yaml_guard.load(template.file.read_bytes(), template.path)
        except InvalidInput as error:
            faults.append(error.message)
    if faults:
        more = [f"and {len(faults) - FAULTS_TOLD} more"] if len(faults) > FAULTS_TOLD else []
        told = "\n  ".join([*faults[:FAULTS_TOLD], *more])
        raise InvalidInput(
            f"The templates hold what is no YAML:\n  {told}\n",
            remedy="Correct it; nothing was uploaded.",
        )
