"""Actions on plans: ``tripleo.plan.*``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tripleo_actions import (
    capabilities,
    locks,
    names,
    passwords,
    plan_environment,
    plan_store,
    rendering,
    sample,
    yaml_guard,
)
from tripleo_actions.base import DEFAULT_CONTAINER, Services, TripleOAction
from tripleo_actions.faults import CallFailed, NotThere
from tripleo_actions.plan_environment import PlanEnvironment
from tripleo_actions.stack_request import rendered_files, stack_request
from tripleo_worker.errors import InvalidInput


class CreateContainer(TripleOAction):
    """Make the Swift container that holds a plan's templates.

    Args:
        container: The plan's name.

    Returns:
        Nothing.
    """

    def __init__(self, container: str) -> None:
        super().__init__()
        self.container = container

    def perform(self, services: Services) -> None:
        """Make it, marked as a plan's."""
        create_container(services, names.plan_name(self.container))


class ListPlans(TripleOAction):
    """List the plans.

    Returns:
        Their names, sorted.
    """

    def perform(self, services: Services) -> list[str]:
        """Read Mistral's environments and leave out what is no plan."""
        environments = services.mistral.environments()
        return sorted(e["name"] for e in environments if plan_store.is_plan(e["variables"]))


class DeletePlan(TripleOAction):
    """Delete a plan: its environment, its templates, its container.

    Refuses what is no plan, and a plan that has a stack.

    Args:
        container: The plan's name.

    Returns:
        Nothing.
    """

    def __init__(self, container: str) -> None:
        super().__init__()
        self.container = container

    def perform(self, services: Services) -> None:
        """Check, then remove."""
        name = names.plan_name(self.container)
        with locks.change(services.swift, name, services.owner) as lease:
            check_deletable(services, name)
            lease.confirm()
            services.swift.delete_container(name)
            services.mistral.delete_environment(name)


class CreatePlan(TripleOAction):
    """Make a plan of the templates in its container.

    All is rendered and checked first; a plan that cannot be made leaves nothing behind.

    Args:
        container: The plan's name.
        generate_passwords: Whether the passwords that it wants are generated.
        validate_stack: Whether Heat checks the templates.
        use_default_templates: Whether the sample plan is uploaded into the container first.
        source_url: A Git repository of templates: not taken, see the error.

    Returns:
        ``plan_name``.
    """

    def __init__(
        self,
        container: str = DEFAULT_CONTAINER,
        generate_passwords: bool = True,
        validate_stack: bool = True,
        use_default_templates: bool = False,
        source_url: str | None = None,
    ) -> None:
        super().__init__()
        self.container = container
        self.generate_passwords = generate_passwords
        self.validate_stack = validate_stack
        self.use_default_templates = use_default_templates
        self.source_url = source_url

    def perform(self, services: Services) -> dict[str, Any]:
        """Read, render, check, store."""
        name = names.plan_name(self.container)
        if self.source_url:
            raise InvalidInput(
                "source_url: plans are made of uploaded templates.",
                remedy="Upload the templates to the plan's container.",
            )
        with locks.change(services.swift, name, services.owner) as lease:
            if plan_store.read_environment(services, name) is not None:
                raise InvalidInput(f"The plan {name} exists.", remedy="Update it, or delete it.")
            if not self.use_default_templates:
                return self._store(services, lease, name)
            check_unused(services, name)
            try:
                upload_sample(services, name)
                return self._store(services, lease, name)
            except Exception:
                services.swift.delete_container(name)
                raise

    def _store(self, services: Services, lease: locks.Lease, name: str) -> dict[str, Any]:
        plan = plan_store.read(services, name, new=True)
        files = rendered_files(plan.files)
        check_offered(files)
        environment = plan.environment or plan_environment.default(name, read_map(files))
        if self.generate_passwords:
            environment = with_passwords(environment, files)
        request = stack_request(environment, files)
        if self.validate_stack:
            services.heat.validate(request)
        outputs = {path: text for path, text in files.items() if plan.files.get(path) != text}
        plan_store.write(services, lease, plan, environment, outputs)
        return {"plan_name": name}


class UpdatePlan(CreatePlan):
    """Take up the templates that were uploaded into an existing plan's container.

    Parameters, passwords and the environments that are on stay; inputs as for creating.
    """

    def perform(self, services: Services) -> dict[str, Any]:
        """Read, render, check, store."""
        name = names.plan_name(self.container)
        with locks.change(services.swift, name, services.owner) as lease:
            if plan_store.read_environment(services, name) is None:
                raise NotThere("Mistral", 404, f"There is no plan {name}.")
            return self._store(services, lease, name)


def create_container(services: Services, name: str) -> None:
    """Make a plan's container, marked as such."""
    services.swift.create_container(name, {plan_store.CONTAINER_MARK: "plan"})


def upload_sample(services: Services, name: str) -> None:
    """Upload the sample plan into a plan's container."""
    create_container(services, name)
    services.swift.put_many(name, sample.files())


def check_unused(services: Services, name: str) -> None:
    """Make sure that a container holds nothing of a user's.

    Raises:
        InvalidInput: it does.
    """
    try:
        found = services.swift.objects(name)
    except NotThere:
        return
    if found:
        raise InvalidInput(
            f"The container {name} holds {len(found)} files already: nothing was uploaded.",
            remedy="Take another name, or create the plan from these files.",
        )


def check_deletable(services: Services, name: str) -> None:
    """Make sure that a name is a plan's, and that nothing is deployed from it.

    Raises:
        InvalidInput: it is not; the error says why.
    """
    if plan_store.read_environment(services, name) is None and not _marked(services, name):
        raise InvalidInput(f"{name} is no plan: nothing was deleted.", remedy="List the plans.")
    stack = services.heat.stack(name)
    if stack is not None:
        raise InvalidInput(
            f"The plan {name} is deployed (stack {stack['stack_status']}): nothing was deleted.",
            remedy=f"Delete the stack {name} first.",
        )


def read_map(files: Mapping[str, str]) -> capabilities.Map:
    """A plan's capabilities map; an empty one if it has none."""
    return capabilities.parse(files.get(capabilities.FILE, ""))


def check_offered(files: Mapping[str, str]) -> None:
    """Make sure that what a plan offers can be read before anybody switches it on.

    Raises:
        InvalidInput: its capabilities map or an environment is faulty; file and line are named.
    """
    named = {path for path in capabilities.files(read_map(files)) if path in files}
    folder = {path for path in files if path.startswith("environments/")}
    for path in sorted(named | folder):
        if path.endswith((".yaml", ".yml")) and not rendering.is_template(path):
            yaml_guard.load_mapping(files[path], path)


def with_passwords(environment: PlanEnvironment, files: Mapping[str, str]) -> PlanEnvironment:
    """The environment with a password for every parameter that wants one."""
    templates = [
        yaml_guard.load_mapping(text, path)
        for path, text in files.items()
        if path.endswith(".yaml") and "heat_template_version" in text and ".j2." not in path
    ]
    wanted = passwords.wanted(templates)
    return {**environment, "passwords": passwords.completed(environment["passwords"], wanted)}


def _marked(services: Services, name: str) -> bool:
    try:
        return plan_store.CONTAINER_MARK in services.swift.container_metadata(name)
    except CallFailed as error:
        if error.status == 404:
            return False
        raise
