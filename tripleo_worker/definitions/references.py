"""Every task, workflow and action that is referred to exists and takes what it is given."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from tripleo_worker.definitions import catalogue, model
from tripleo_worker.definitions.catalogue import Inputs
from tripleo_worker.definitions.grammar import ENGINE_COMMANDS
from tripleo_worker.definitions.model import Task, Workflow
from tripleo_worker.definitions.source import Finding, Source

_EXPRESSION = ("<%", "{{")


@dataclass(frozen=True)
class World:
    """Everything that a workflow can call."""

    #: Inputs of workflows by their full names.
    workflows: Mapping[str, Inputs]
    #: Inputs of the workbooks' own actions by their full names.
    actions: Mapping[str, Inputs]

    @classmethod
    def of(cls, sources: Sequence[Source]) -> World:
        """From workbooks whose form is right; of two with one name the first counts."""
        workflows: dict[str, Inputs] = {}
        actions: dict[str, Inputs] = {}
        for source in reversed(sources):
            for one in model.workflows(source):
                workflows[one.full_name] = Inputs.of(one.inputs)
            for name, data in (source.data.get("actions") or {}).items():
                taken = Inputs.of(model.declared(data.get("input")))
                actions[f"{source.data['name']}.{name}"] = taken
        return cls(workflows, actions)

    def workflow(self, name: str, workbook: str) -> Inputs | None:
        """The inputs of a workflow, which may be named without its own workbook."""
        return self.workflows.get(f"{workbook}.{name}", self.workflows.get(name))

    def action(self, name: str, workbook: str) -> Inputs:
        """The inputs of an action, which may be named without its own workbook.

        Raises:
            Missing: there is no such action.
        """
        own = self.actions.get(f"{workbook}.{name}", self.actions.get(name))
        return own if own is not None else catalogue.inputs(name)


def check(workflow: Workflow, world: World) -> Iterator[Finding]:
    """What a workflow refers to in vain."""
    for task in workflow.tasks.values():
        yield from _ways(workflow, task)
        yield from _join(workflow, task)
        yield from _called(workflow, task, world)


def check_action(source: Source, name: str, world: World) -> Iterator[Finding]:
    """The same for an action that a workbook defines."""
    path = ("actions", name)
    data = source.at(path)
    called, inline = model.command(data["base"])
    try:
        wanted = world.action(called, source.data["name"])
    except catalogue.Missing as missing:
        yield source.finding((*path, "base"), "action", str(missing))
        return
    given = set(data.get("base-input") or ()) | set(inline)
    for fault in _inputs(called, wanted, given):
        yield source.finding(path, "input", fault)


def _ways(workflow: Workflow, task: Task) -> Iterator[Finding]:
    for clause in task.clauses.values():
        for step in clause.steps:
            if step.target not in workflow.tasks and step.target not in ENGINE_COMMANDS:
                text = f"there is no task {step.target}."
                yield workflow.source.finding(step.path, "task", text)


def _join(workflow: Workflow, task: Task) -> Iterator[Finding]:
    if task.join is None:
        return
    leading = {
        source.name
        for source in workflow.tasks.values()
        for clause in source.clauses.values()
        for step in clause.steps
        if step.target == task.name
    }
    needed = task.join if isinstance(task.join, int) else 1
    if len(leading) < needed:
        text = f"{task.name} joins {needed} ways, and {len(leading)} lead to it."
        yield workflow.source.finding((*task.path, "join"), "task", text)


def _called(workflow: Workflow, task: Task, world: World) -> Iterator[Finding]:
    name = task.workflow or task.action
    kind = "workflow" if task.workflow else "action"
    if name.startswith(_EXPRESSION):
        return
    path = (*task.path, kind)
    try:
        wanted = _wanted(workflow, task, world)
    except catalogue.Missing as missing:
        yield workflow.source.finding(path, kind, str(missing))
        return
    if task.inputs is not None:
        for fault in _inputs(name, wanted, set(task.inputs)):
            yield workflow.source.finding(path, "input", fault)


def _wanted(workflow: Workflow, task: Task, world: World) -> Inputs:
    if not task.workflow:
        return world.action(task.action, workflow.workbook)
    wanted = world.workflow(task.workflow, workflow.workbook)
    if wanted is None:
        raise catalogue.Missing(f"there is no workflow {task.workflow}.")
    return wanted


def _inputs(name: str, wanted: Inputs, given: set[str]) -> Iterator[str]:
    for one in sorted(wanted.required - given):
        yield f"{name} needs the input {one}."
    if not wanted.open:
        for one in sorted(given - wanted.required - wanted.optional):
            yield f"{name} has no input {one}."
