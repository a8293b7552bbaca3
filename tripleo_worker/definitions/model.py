"""Workflows as their author meant them: tasks, the ways between them, what each step leaves.

Built from a workbook whose form is right; ``task-defaults`` are applied to each task as the
engine applies them.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from tripleo_worker.definitions.source import Path, Source

Outcome = Literal["success", "error"]
OUTCOMES: tuple[Outcome, Outcome] = ("success", "error")

_TARGET = re.compile(r"\s*([\w.-]+)")
_COMMAND = re.compile(r"\s*(<%.*?%>|\{\{.*?\}\}|[\w.]+[^=(\s\"]*)(.*)", re.S)
_PARAMETER = re.compile(
    r"""([-\w]+)=("[^"]*"|'[^']*'|<%.*?%>|\{\{.*?\}\}|\[.*\]|true|false|null|\d+)""", re.S
)
_ITEM = re.compile(r"\s*([\w-]+)\s+in\s")


@dataclass(frozen=True)
class Step:
    """A way from a task to the next, or to a command of the engine."""

    target: str
    #: The expression that must hold; empty: always.
    condition: str
    path: Path


@dataclass(frozen=True)
class Clause:
    """One ``on-…`` of a task."""

    steps: tuple[Step, ...] = ()
    #: Variables that later tasks see.
    published: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Task:
    """One task of a workflow."""

    name: str
    path: Path
    #: Name of what it runs; an expression stays as it is.
    action: str = ""
    workflow: str = ""
    #: Its inputs; None where one expression gives them all.
    inputs: Mapping[str, Any] | None = None
    #: Variables of ``with-items``.
    items: frozenset[str] = frozenset()
    #: ``all``, ``one``, a number, or None.
    join: str | int | None = None
    clauses: Mapping[str, Clause] = field(default_factory=dict)

    def next(self, outcome: Outcome) -> tuple[Step, ...]:
        """The ways that are open after an outcome."""
        return self.clauses[f"on-{outcome}"].steps + self.clauses["on-complete"].steps

    def published(self, outcome: Outcome) -> frozenset[str]:
        """The variables that it sets at an outcome."""
        both = self.clauses[f"on-{outcome}"].published | self.clauses["on-complete"].published
        return both


@dataclass(frozen=True)
class Workflow:
    """One workflow of a workbook."""

    source: Source
    path: Path
    workbook: str
    name: str
    #: Inputs; whether each must be given.
    inputs: Mapping[str, bool]
    variables: frozenset[str]
    tasks: Mapping[str, Task]

    @property
    def full_name(self) -> str:
        """The name by which Mistral knows it."""
        return f"{self.workbook}.{self.name}"

    @property
    def private(self) -> bool:
        """Whether only other workflows call it."""
        return self.name.startswith("_")

    @property
    def starts(self) -> tuple[str, ...]:
        """The tasks to which no way leads: the engine starts with them."""
        reached = {
            step.target
            for task in self.tasks.values()
            for clause in task.clauses.values()
            for step in clause.steps
        }
        return tuple(name for name in self.tasks if name not in reached)


def workflows(source: Source) -> Iterator[Workflow]:
    """The workflows of a workbook whose form is right."""
    workbook = source.data["name"]
    for name in source.data.get("workflows") or ():
        yield _workflow(source, workbook, ("workflows", name))


def declared(entries: Any) -> dict[str, bool]:
    """An ``input`` section: whether each input must be given."""
    named: dict[str, bool] = {}
    for entry in entries or ():
        if isinstance(entry, str):
            named[entry] = True
        else:
            named.update(dict.fromkeys(entry, False))
    return named


def command(text: str) -> tuple[str, dict[str, Any]]:
    """An ``action`` or ``workflow`` of a task: its name, and the inputs in the same line."""
    match = _COMMAND.match(text)
    if match is None:
        return text, {}
    return match[1], {name: _value(value) for name, value in _PARAMETER.findall(match[2])}


def texts(value: Any, path: Path) -> Iterator[tuple[Path, str]]:
    """All texts in a part, each with its path."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from texts(item, (*path, key))
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from texts(item, (*path, number))


def _workflow(source: Source, workbook: str, path: Path) -> Workflow:
    data = source.at(path)
    defaults = data.get("task-defaults") or {}
    return Workflow(
        source=source,
        path=path,
        workbook=workbook,
        name=str(path[-1]),
        inputs=declared(data.get("input")),
        variables=frozenset(data.get("vars") or ()),
        tasks={
            name: _task(source, (*path, "tasks", name), defaults, (*path, "task-defaults"))
            for name in data["tasks"]
        },
    )


def _task(source: Source, path: Path, defaults: dict[str, Any], default_path: Path) -> Task:
    data, name = source.at(path), str(path[-1])
    runs, inline = command(data.get("workflow") or data.get("action") or "std.noop")
    given = data.get("input") or {}
    clauses = {}
    for kind in ("on-success", "on-error", "on-complete", "on-skip"):
        own = _clause(data.get(kind), (*path, kind))
        usual = _clause(defaults.get(kind), (*default_path, kind))
        steps = own.steps or tuple(step for step in usual.steps if step.target != name)
        published = own.published | frozenset(data.get(_PUBLISH.get(kind, "")) or ())
        clauses[kind] = Clause(steps, published)
    return Task(
        name=name,
        path=path,
        action="" if "workflow" in data else runs,
        workflow=runs if "workflow" in data else "",
        inputs=None if isinstance(given, str) else given | inline,
        items=_items(data.get("with-items")),
        join=data.get("join"),
        clauses=clauses,
    )


_PUBLISH = {
    "on-success": "publish",
    "on-error": "publish-on-error",
    "on-skip": "publish-on-skip",
}


def _clause(value: Any, path: Path) -> Clause:
    if not isinstance(value, dict):
        return Clause(tuple(_steps(value, path)))
    published = (value.get("publish") or {}).get("branch") or ()
    return Clause(tuple(_steps(value.get("next"), (*path, "next"))), frozenset(published))


def _steps(value: Any, path: Path) -> Iterator[Step]:
    for number, item in enumerate(value if isinstance(value, list) else [value]):
        where = (*path, number) if isinstance(value, list) else path
        if isinstance(item, str):
            yield Step(_target(item), "", where)
        elif isinstance(item, dict):
            yield from (Step(_target(name), str(when), where) for name, when in item.items())


def _target(text: str) -> str:
    match = _TARGET.match(text)
    return match[1] if match else text


def _items(value: Any) -> frozenset[str]:
    entries = value if isinstance(value, list) else [value]
    found = (_ITEM.match(entry) for entry in entries if isinstance(entry, str))
    return frozenset(match[1] for match in found if match)


def _value(text: str) -> Any:
    if text[:1] in "\"'":
        return text[1:-1]
    try:
        return json.loads(text)
    except ValueError:
        return _literal(text)


def _literal(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text
