"""What is known where in a workflow: which variables are set and which tasks have run.

A fact holds before a task if it holds on every way to it. A ``join: all`` waits for all its
ways, so that what holds on any of them holds there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import reduce

from tripleo_worker.definitions.model import OUTCOMES, Outcome, Task, Workflow

#: What the engine puts into every context.
BUILT_IN = frozenset({"openstack", "__env", "__execution", "__task_execution"})

Facts = frozenset[str]


def ran(task: str) -> str:
    """The fact that a task has run; no variable has such a name."""
    return f"task {task}"


def base(workflow: Workflow) -> Facts:
    """What is known from the start."""
    return frozenset(workflow.inputs) | workflow.variables | BUILT_IN


def after(task: Task, outcome: Outcome, before: Facts) -> Facts:
    """What is known when a task has ended so."""
    return before | task.published(outcome) | {ran(task.name)}


def before_each(workflow: Workflow) -> Mapping[str, Facts]:
    """What is known before each task; a task that no way reaches knows everything."""
    everything = _everything(workflow)
    start = base(workflow)
    known = {name: start if name in workflow.starts else everything for name in workflow.tasks}
    changed = True
    while changed:
        changed = False
        for name, task in workflow.tasks.items():
            if name in workflow.starts:
                continue
            arriving = _arriving(workflow, task, known, everything)
            if arriving != known[name]:
                known[name], changed = arriving, True
    return known


def at_the_end(workflow: Workflow, known: Mapping[str, Facts]) -> Facts:
    """What is known when the workflow has ended, other than by ``fail``."""
    ends = [
        after(task, outcome, known[task.name])
        for task in workflow.tasks.values()
        for outcome in OUTCOMES
        if _ends(workflow, task, outcome)
    ]
    return _shared(ends, base(workflow))


def _ends(workflow: Workflow, task: Task, outcome: Outcome) -> bool:
    steps = task.next(outcome)
    targets = {step.target for step in steps}
    if not steps:
        # An error that nothing handles fails the workflow, and there is no output.
        return outcome == "success"
    return "succeed" in targets or not (targets & (workflow.tasks.keys() | {"fail"}))


def _everything(workflow: Workflow) -> Facts:
    published = (
        name
        for task in workflow.tasks.values()
        for outcome in OUTCOMES
        for name in task.published(outcome)
    )
    return base(workflow) | frozenset(published) | {ran(name) for name in workflow.tasks}


def _arriving(
    workflow: Workflow, task: Task, known: Mapping[str, Facts], everything: Facts
) -> Facts:
    each = []
    for source in workflow.tasks.values():
        ways = [
            after(source, outcome, known[source.name])
            for outcome in OUTCOMES
            if any(step.target == task.name for step in source.next(outcome))
        ]
        if ways:
            each.append(_shared(ways, everything))
    if task.join == "all":
        return frozenset().union(*each)
    return _shared(each, everything)


def _shared(ways: Iterable[Facts], otherwise: Facts) -> Facts:
    listed = list(ways)
    return reduce(lambda one, other: one & other, listed) if listed else otherwise
