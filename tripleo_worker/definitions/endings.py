"""Every way through a workflow ends in its one terminal message, of the workflow's own type.

What the message says stands in the execution's output too.

Workflows whose name begins with an underscore are called by others only and are exempt from
the ending, and so is the workbook that posts the messages.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from tripleo_worker.definitions.model import OUTCOMES, Outcome, Step, Task, Workflow
from tripleo_worker.definitions.source import Finding

#: What posts a message.
ACTION = "tripleo.messaging.send"
WORKBOOK = "tripleo.messaging.v1"
SUB_WORKFLOW = f"{WORKBOOK}.send"

_STATUSES = ("RUNNING", "SUCCESS", "FAILED")
_ENDING = ("fail", "succeed")


def check(workflow: Workflow) -> Iterator[Finding]:
    """What is wrong with the messages of a workflow."""
    if workflow.workbook == WORKBOOK:
        return
    for task in workflow.tasks.values():
        if _sends(task):
            yield from _message(workflow, task)
    if workflow.private:
        return
    ending = frozenset(task.name for task in workflow.tasks.values() if _terminal(task))
    if not ending:
        text = f"{workflow.name} posts no terminal message; end each way with {ACTION}."
        yield workflow.source.finding(workflow.path, "ending", text)
        return
    yield from _output(workflow)
    yield from _started_at_once(workflow, ending)
    yield from _ends_without(workflow, ending)
    yield from _ends_twice(workflow, ending)


def _sends(task: Task) -> bool:
    return task.action == ACTION or task.workflow == SUB_WORKFLOW


def _terminal(task: Task) -> bool:
    # A status that an expression gives can be any; it is taken for the end that it may be.
    return _sends(task) and _input(task, "status") != "RUNNING"


def _input(task: Task, name: str) -> Any:
    return (task.inputs or {}).get(name)


def _message(workflow: Workflow, task: Task) -> Iterator[Finding]:
    kind, status = _input(task, "type"), _input(task, "status")
    own = workflow.full_name
    if kind is not None and kind != own and not str(kind).startswith(f"{own}."):
        text = f"the type of the message is {kind}, and the workflow's name is {own}."
        yield workflow.source.finding((*task.path, "input", "type"), "type", text)
    literal = isinstance(status, str) and not status.startswith(("<%", "{{"))
    if literal and status not in _STATUSES:
        text = f"the status {status} is none of {', '.join(_STATUSES)}."
        yield workflow.source.finding((*task.path, "input", "status"), "type", text)


def _output(workflow: Workflow) -> Iterator[Finding]:
    """Clients that missed the message read the same keys from the execution's output."""
    path = (*workflow.path, "output")
    given = workflow.source.at(path) or {}
    for key in ("status", "message"):
        if key not in given:
            text = f"the output has no {key}, which clients that missed the message read."
            yield workflow.source.finding(path, "output", text)


def _started_at_once(workflow: Workflow, ending: frozenset[str]) -> Iterator[Finding]:
    for name in workflow.starts:
        if name in ending and len(workflow.tasks) > 1:
            text = f"no way leads to {name}, so it is started at once."
            yield workflow.source.finding(workflow.tasks[name].path, "ending", text)


def _ends_without(workflow: Workflow, ending: frozenset[str]) -> Iterator[Finding]:
    """Follow every way up to a terminal message."""
    waiting, seen = list(workflow.starts), set(workflow.starts)
    while waiting:
        task = workflow.tasks[waiting.pop(0)]
        if task.name in ending:
            continue
        for outcome in OUTCOMES:
            yield from _open_end(workflow, task, outcome)
            for step in task.next(outcome):
                if step.target in workflow.tasks and step.target not in seen:
                    seen.add(step.target)
                    waiting.append(step.target)


def _open_end(workflow: Workflow, task: Task, outcome: Outcome) -> Iterator[Finding]:
    source, steps = workflow.source, task.next(outcome)
    when = f"after {task.name}" if outcome == "success" else f"at an error of {task.name}"
    for step in steps:
        if step.target in _ENDING:
            text = f"{step.target} ends the workflow {when} without its terminal message."
            yield source.finding(step.path, "ending", text)
    going = [step for step in steps if step.target not in ("noop", "pause")]
    if not going:
        remedy = "" if outcome == "success" else " Give it on-error, or the workflow task-defaults."
        text = f"the workflow ends {when} without its terminal message.{remedy}"
        yield source.finding(task.path, "ending", text)
    elif not _covers(going):
        text = (
            f"if no condition holds {when}, the workflow ends without its terminal message;"
            " give one way a condition that is the opposite of another's."
        )
        yield source.finding(going[0].path, "ending", text)


def _ends_twice(workflow: Workflow, ending: frozenset[str]) -> Iterator[Finding]:
    """Look behind every terminal message for a second one."""
    for first in sorted(ending):
        # A message that could not be posted may be followed by another try.
        waiting = list(workflow.tasks[first].next("success"))
        seen: set[str] = set()
        while waiting:
            step = waiting.pop()
            if step.target in seen or step.target not in workflow.tasks:
                continue
            seen.add(step.target)
            if step.target in ending:
                text = f"{step.target} posts a second terminal message, after {first}."
                yield workflow.source.finding(step.path, "ending", text)
                continue
            task = workflow.tasks[step.target]
            waiting += [step for outcome in OUTCOMES for step in task.next(outcome)]


_COMPARISON = re.compile(r"(.+?)(!=|<=|>=|==|=|<|>)(.+)\Z")
_OPPOSITE = {"=": "!=", "==": "!=", "!=": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}


def _covers(steps: Sequence[Step]) -> bool:
    """Whether one of the ways is always open, as far as that can be seen."""
    conditions = [_bare(step.condition) for step in steps]
    return any(not one or any(_opposite(one, other) for other in conditions) for one in conditions)


def _bare(condition: str) -> str:
    return "".join(condition.strip().strip("<%>{}").split())


def _opposite(one: str, other: str) -> bool:
    if other in (f"not{one}", f"not({one})"):
        return True
    mine, theirs = _COMPARISON.match(one), _COMPARISON.match(other)
    if mine is None or theirs is None:
        return False
    same = (mine[1], mine[3]) == (theirs[1], theirs[3])
    return same and _OPPOSITE[mine[2]] == theirs[2].replace("==", "=")
