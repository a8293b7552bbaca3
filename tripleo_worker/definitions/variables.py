"""Every variable and task that an expression refers to exists, on every way to it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tripleo_worker.definitions import expressions, flow
from tripleo_worker.definitions.model import OUTCOMES, Task, Workflow, texts
from tripleo_worker.definitions.source import Finding, Path


@dataclass(frozen=True)
class _Site:
    """A part of a workflow whose expressions know the same."""

    path: Path
    value: Any
    known: flow.Facts


def check(workflow: Workflow) -> Iterator[Finding]:
    """What expressions of a workflow refer to in vain."""
    names = _Names.of(workflow)
    for site in _sites(workflow):
        for path, text in texts(site.value, site.path):
            for fault in names.faults(expressions.uses(text), site.known):
                yield workflow.source.finding(path, *fault)


def check_action(source: Any, path: Path) -> Iterator[Finding]:
    """The same for an action that a workbook defines."""
    data = source.at(path)
    for key in ("base", "base-input", "output"):
        for where, text in texts(data.get(key), (*path, key)):
            for fault in expressions.uses(text).faults:
                yield source.finding(where, "expression", fault)


@dataclass(frozen=True)
class _Names:
    """Every name that a workflow gives to something."""

    variables: frozenset[str]
    tasks: frozenset[str]
    globals: frozenset[str]

    @classmethod
    def of(cls, workflow: Workflow) -> _Names:
        """Collect them."""
        published = {
            name
            for task in workflow.tasks.values()
            for clause in task.clauses.values()
            for name in clause.published
        }
        items = {name for task in workflow.tasks.values() for name in task.items}
        return cls(
            flow.base(workflow) | published | items,
            frozenset(workflow.tasks),
            frozenset(_globals(workflow)),
        )

    def faults(self, used: expressions.Uses, known: flow.Facts) -> Iterator[tuple[str, str]]:
        """Rule and text of each thing that is wrong."""
        for fault in used.faults:
            yield "expression", fault
        for name in sorted(used.variables | used.optional):
            if name not in self.variables:
                yield "variable", f"nothing sets the variable {name}."
            elif name in used.variables and name not in known:
                yield (
                    "variable",
                    f"the variable {name} is not set on every way to here, which would end the"
                    f" workflow at once; use $.get({name}).",
                )
        for name in sorted(used.tasks):
            if name not in self.tasks:
                yield "task", f"there is no task {name}."
            elif flow.ran(name) not in known:
                yield "task", f"the task {name} has not run on every way to here."
        for name in sorted(used.globals - self.globals):
            yield "variable", f"nothing publishes the global variable {name}."
        for name in sorted(used.env):
            yield (
                "variable",
                f"an environment without {name} would end the workflow at once; use"
                f" env().get({name}).",
            )


def _globals(workflow: Workflow) -> Iterator[str]:
    for task in workflow.tasks.values():
        for clause in ("on-success", "on-error", "on-complete"):
            value = workflow.source.at((*task.path, clause))
            if isinstance(value, dict):
                yield from ((value.get("publish") or {}).get("global") or {})


def _sites(workflow: Workflow) -> Iterator[_Site]:
    before = flow.before_each(workflow)
    given, start = frozenset(workflow.inputs) | flow.BUILT_IN, flow.base(workflow)
    yield from _part(workflow, ("input",), flow.BUILT_IN)
    yield from _part(workflow, ("vars",), given)
    yield from _part(workflow, ("task-defaults",), start)
    yield from _part(workflow, ("output",), flow.at_the_end(workflow, before))
    # Mistral takes what there is, and an error in it hides the one that it is about.
    yield from _part(workflow, ("output-on-error",), start)
    for task in workflow.tasks.values():
        yield from _task_sites(workflow, task, before[task.name])


#: Parts that are read after the task: it is known what it did, and nothing is published yet.
_LATE = ("publish", "publish-on-error", "publish-on-skip", "retry", "fail-on", "wait-after")
_CLAUSES = ("on-success", "on-error", "on-complete", "on-skip")


def _task_sites(workflow: Workflow, task: Task, before: flow.Facts) -> Iterator[_Site]:
    data = workflow.source.at(task.path)
    with_items, done = before | task.items, before | {flow.ran(task.name)}
    ends = {
        f"on-{outcome}": flow.after(task, outcome, before) for outcome in OUTCOMES
    }  # fmt: skip
    for key, value in data.items():
        path = (*task.path, key)
        if key in _CLAUSES:
            known = ends.get(key, ends["on-success"] & ends["on-error"])
            # What a clause publishes is read before the clause has published it.
            yield _Site(path, value, known)
        elif key in _LATE:
            yield _Site(path, value, done)
        elif key in ("action", "workflow", "input"):
            yield _Site(path, value, with_items)
        elif key not in ("description", "tags"):
            yield _Site(path, value, before)


def _part(workflow: Workflow, path: Path, known: flow.Facts) -> Iterator[_Site]:
    where = (*workflow.path, *path)
    yield _Site(where, workflow.source.at(where), known)
