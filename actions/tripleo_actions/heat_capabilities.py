"""Actions on what a plan offers: ``tripleo.heat_capabilities.*`` and ``tripleo.role.list``."""

from __future__ import annotations

from typing import Any

from tripleo_actions import (
    capabilities,
    locks,
    names,
    plan_environment,
    plan_store,
    rendering,
    yaml_guard,
)
from tripleo_actions.base import DEFAULT_CONTAINER, Services, TripleOAction
from tripleo_actions.plan_store import Plan
from tripleo_actions.stack_request import rendered_files, stack_request
from tripleo_worker.errors import InvalidInput

#: Where the environments of a plan lie.
_FOLDER = "environments/"


class GetCapabilities(TripleOAction):
    """Read the environments that a plan offers, and which are on.

    Args:
        container: The plan.

    Returns:
        Topic title -> topic, see :func:`tripleo_actions.capabilities.overview`.
    """

    def __init__(self, container: str = DEFAULT_CONTAINER) -> None:
        super().__init__()
        self.container = container

    def perform(self, services: Services) -> dict[str, Any]:
        """Read map and plan environment."""
        plan = plan_store.read(services, names.plan_name(self.container))
        files = rendered_files(plan.files)
        available = sorted(
            path for path in files if path.startswith(_FOLDER) and not rendering.is_template(path)
        )
        offered = capabilities.parse(files.get(capabilities.FILE, ""))
        return capabilities.overview(offered, enabled(plan), available)


class UpdateCapabilities(TripleOAction):
    """Switch environments of a plan on and off.

    What one requires comes with it; of a group that excludes, the others go. The order of
    those that stay is kept, whatever ``sort_environments`` says.

    Args:
        environments: Environment file -> on or off.
        container: The plan.
        purge_missing: Whether those of the map that are not named go off.
        sort_environments: Taken from clients in the field, and without effect.

    Returns:
        ``environments``: the plan's, in order.
    """

    def __init__(
        self,
        environments: dict[str, bool],
        container: str = DEFAULT_CONTAINER,
        purge_missing: bool = False,
        sort_environments: bool = False,
    ) -> None:
        super().__init__()
        self.environments = environments
        self.container = container
        self.purge_missing = purge_missing
        self.sort_environments = sort_environments

    def perform(self, services: Services) -> dict[str, Any]:
        """Read, check, store."""
        name = names.plan_name(self.container)
        wanted = checked(self.environments)
        with locks.change(services.swift, name, services.owner) as lease:
            plan = plan_store.read(services, name)
            files = rendered_files(plan.files)
            offered = capabilities.parse(files.get(capabilities.FILE, ""))
            on, off = capabilities.selection(
                offered, wanted, enabled(plan), purge=self.purge_missing
            )
            changed = plan_environment.with_environments(plan.environment, on, off)
            # Every file that is referred to must be there, before anything is stored.
            stack_request(changed, files)
            plan_store.write(services, lease, plan, changed)
        return {"environments": changed["environments"]}


class ListRoles(TripleOAction):
    """List the roles of a plan.

    Args:
        container: The plan.
        role_file_name: The file in the plan that holds them.
        detail: Whether each role comes as a whole.

    Returns:
        Names, or with ``detail`` the roles.
    """

    def __init__(
        self,
        container: str = DEFAULT_CONTAINER,
        role_file_name: str = rendering.ROLES_FILE,
        detail: bool = False,
    ) -> None:
        super().__init__()
        self.container = container
        self.role_file_name = role_file_name
        self.detail = detail

    def perform(self, services: Services) -> list[Any]:
        """Read the file."""
        path = names.plan_path(self.role_file_name, "role_file_name")
        plan = plan_store.read(services, names.plan_name(self.container))
        if path not in plan.files:
            raise InvalidInput(
                f"The plan {plan.name} has no file {path}.", remedy="Upload it to the plan."
            )
        roles = rendering.read_roles(plan.files, path)
        return roles if self.detail else [role["name"] for role in roles]


def enabled(plan: Plan) -> list[str]:
    """The environment files that are on, in order."""
    return [entry["path"] for entry in plan.environment["environments"] if "path" in entry]


def checked(environments: Any) -> dict[str, bool]:
    """Environment files with on or off.

    Raises:
        InvalidInput: it is no such mapping, or a path leads out of the plan.
    """
    given = yaml_guard.mapping(environments, "environments")
    for path, on in given.items():
        names.plan_path(path, "environments")
        if not isinstance(on, bool):
            raise InvalidInput(
                f"environments: {path} is {on!r}.", remedy="Give true or false for each file."
            )
    return dict(given)
