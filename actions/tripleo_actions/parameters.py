"""Actions on the parameters of a plan: ``tripleo.parameters.*``."""

from __future__ import annotations

from typing import Any

from tripleo_actions import (
    locks,
    names,
    parameter_check,
    parameter_tree,
    plan_environment,
    plan_store,
    yaml_guard,
)
from tripleo_actions.base import DEFAULT_CONTAINER, Services, TripleOAction
from tripleo_actions.faults import CallFailed
from tripleo_actions.plan_environment import PlanEnvironment
from tripleo_actions.plan_store import Plan
from tripleo_actions.stack_request import rendered_files, stack_request

#: The section that users set.
DEFAULT_KEY = "parameter_defaults"


class GetParameters(TripleOAction):
    """Read the parameters that a plan takes and those that are set.

    Args:
        container: The plan.

    Returns:
        ``heat_resource_tree`` as Heat's validation gives it, ``environment_parameters``.
    """

    def __init__(self, container: str = DEFAULT_CONTAINER) -> None:
        super().__init__()
        self.container = container

    def perform(self, services: Services) -> dict[str, Any]:
        """Ask Heat."""
        plan = plan_store.read(services, names.plan_name(self.container))
        return self.shown(validated(services, plan, plan.environment), plan.environment)

    def shown(self, tree: dict[str, Any], environment: PlanEnvironment) -> dict[str, Any]:
        """The result."""
        return {
            "heat_resource_tree": tree,
            "environment_parameters": environment[DEFAULT_KEY],
        }


class GetFlatParameters(GetParameters):
    """As :class:`GetParameters`, with the tree flattened to ``resources`` and ``parameters``."""

    def shown(self, tree: dict[str, Any], environment: PlanEnvironment) -> dict[str, Any]:
        """The result."""
        return super().shown(parameter_tree.flatten(tree), environment)


class UpdateParameters(TripleOAction):
    """Set parameters of a plan; those that are not named stay as they are.

    Args:
        parameters: Name -> value.
        container: The plan.
        key: The section of the plan environment.
        validate: Whether they are checked against the templates first.

    Returns:
        As :class:`GetFlatParameters`; without validation ``environment_parameters`` alone.
    """

    def __init__(
        self,
        parameters: dict[str, Any],
        container: str = DEFAULT_CONTAINER,
        key: str = DEFAULT_KEY,
        validate: bool = True,
    ) -> None:
        super().__init__()
        self.parameters = parameters
        self.container = container
        self.key = key
        self.validate = validate

    def perform(self, services: Services) -> dict[str, Any]:
        """Read, check, store."""
        name = names.plan_name(self.container)
        given = yaml_guard.mapping(self.parameters, "parameters")
        with locks.change(services.swift, name, services.owner) as lease:
            plan = plan_store.read(services, name)
            changed = plan_environment.with_parameters(plan.environment, given, self.key)
            result: dict[str, Any] = {"environment_parameters": changed[DEFAULT_KEY]}
            if self.validate:
                tree = _checked(services, plan, changed, given)
                result["heat_resource_tree"] = parameter_tree.flatten(tree)
            plan_store.write(services, lease, plan, changed)
            return result


class ResetParameters(TripleOAction):
    """Drop all parameters of a section of a plan; passwords cannot be dropped.

    Args:
        container: The plan.
        key: The section of the plan environment.

    Returns:
        The plan environment without its passwords.
    """

    def __init__(self, container: str = DEFAULT_CONTAINER, key: str = DEFAULT_KEY) -> None:
        super().__init__()
        self.container = container
        self.key = key

    def perform(self, services: Services) -> dict[str, Any]:
        """Read, drop, store."""
        name = names.plan_name(self.container)
        with locks.change(services.swift, name, services.owner) as lease:
            plan = plan_store.read(services, name)
            changed = plan_environment.without_parameters(plan.environment, self.key)
            plan_store.write(services, lease, plan, changed)
            return {key: value for key, value in changed.items() if key != "passwords"}


def _checked(
    services: Services, plan: Plan, changed: PlanEnvironment, given: dict[str, Any]
) -> dict[str, Any]:
    try:
        tree = validated(services, plan, changed)
    except CallFailed as error:
        if error.status == 400:
            # Heat's word for a value of the wrong kind names no parameter: ours does.
            parameter_check.check(validated(services, plan, plan.environment), given)
        raise
    parameter_check.check(tree, given)
    return tree


def validated(services: Services, plan: Plan, environment: PlanEnvironment) -> dict[str, Any]:
    """Heat's tree of the parameters of a plan.

    Raises:
        InvalidInput: a file of the plan is faulty or missing.
        CallFailed: Heat refuses the templates.
    """
    return services.heat.validate(stack_request(environment, rendered_files(plan.files)))
