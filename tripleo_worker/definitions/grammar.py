"""The form of a Mistral v2 workbook: which keys stand where, and what their values may be.

Mistral checks this itself when a workbook is loaded; here it is checked without Mistral, with
the line, and with what Mistral takes and then treats otherwise than it was meant.

Source: ``mistral.lang.v2`` (the schemas of its specifications), Mistral 23.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from tripleo_worker.definitions.source import Finding, Path, Source

ENGINE_COMMANDS = frozenset({"noop", "fail", "succeed", "pause"})

_WORKBOOK = ("version", "name", "description", "tags", "actions", "workflows")
_ACTION = ("base", "base-input", "input", "output", "description", "tags")
_WORKFLOW = (
    "type", "description", "tags", "input", "output", "output-on-error", "vars",
    "task-defaults", "tasks",
)  # fmt: skip
_COUNTS = ("wait-before", "wait-after", "timeout", "concurrency")
_FLAGS = ("pause-before", "fail-on", "safe-rerun", "keep-result")
_CLAUSES = ("on-success", "on-error", "on-complete", "on-skip")
_PUBLISHES = ("publish", "publish-on-error", "publish-on-skip")
_DEFAULTS = (*_COUNTS, *_FLAGS[:3], *_CLAUSES, "retry", "requires")
_TASK = (
    "description", "tags", "action", "workflow", "input", "with-items", "join", "target",
    "retry", *_COUNTS, *_FLAGS, *_CLAUSES, *_PUBLISHES,
)  # fmt: skip

_NAME = re.compile(r"\w+\Z")
_EXPRESSION = re.compile(r"\s*(<%.*%>|\{\{.*\}\})\s*\Z", re.S)
_ITEMS = re.compile(r"\s*[\w-]+\s+in\s+(\[.+\]|<%.+%>|\{\{.+\}\})\s*\Z", re.S)
_MAX_TASK_NAME, _MAX_JOIN_NAME = 255, 208


def check(source: Source) -> list[Finding]:
    """What is wrong with the form of a workbook."""
    grammar = _Grammar(source)
    grammar.workbook()
    return grammar.found


class _Grammar:
    def __init__(self, source: Source) -> None:
        self._source = source
        self.found: list[Finding] = []

    def workbook(self) -> None:
        data = self._source.data
        self._keys((), _WORKBOOK, ("version", "name"))
        if "version" in data and data["version"] not in ("2.0", 2.0, 2):
            self._say(("version",), "must be '2.0'.")
        self._each((), ("name", "description"), _text)
        self._each((), ("tags",), _texts)
        for kind, one in (("actions", self.action), ("workflows", self.workflow)):
            self._items((kind,), one)
        if not data.get("workflows") and not data.get("actions"):
            self._say((), "has neither workflows nor actions.")

    def action(self, path: Path) -> None:
        self._keys(path, _ACTION, ("base",))
        self._each(path, ("base", "description"), _text)
        self._each(path, ("base-input",), _mapping)
        self._inputs((*path, "input"))

    def workflow(self, path: Path) -> None:
        self._keys(path, _WORKFLOW, ("tasks",))
        if self._at((*path, "type")) not in (None, "direct"):
            self._say((*path, "type"), "must be direct: it is the only type that is checked here.")
        self._each(path, ("description",), _text)
        self._each(path, ("tags",), _texts)
        self._each(path, ("output", "output-on-error", "vars"), _mapping)
        self._inputs((*path, "input"))
        self.defaults((*path, "task-defaults"))
        self._items((*path, "tasks"), self.task)

    def defaults(self, path: Path) -> None:
        if self._at(path) is None:
            return
        self._keys(path, _DEFAULTS)
        self._policies(path)

    def task(self, path: Path) -> None:
        self._keys(path, _TASK)
        name = str(path[-1])
        if name in ENGINE_COMMANDS:
            self._say(path, f"{name} is a command of the engine and no name for a task.")
        joins = self._at((*path, "join")) is not None
        if len(name) > (_MAX_JOIN_NAME if joins else _MAX_TASK_NAME):
            self._say(path, "the name of the task is too long for Mistral.")
        if {"action", "workflow"} <= set(self._at(path) or ()):
            self._say(path, "has both an action and a workflow.")
        self._each(path, ("action", "workflow", "description", "target"), _text)
        self._each(path, ("tags",), _texts)
        self._each(path, ("join",), _join)
        self._each(path, ("with-items",), _with_items)
        self._each(path, ("input",), _mapping_or_expression)
        self._each(path, _PUBLISHES, _mapping)
        self._policies(path)

    def clause(self, path: Path) -> None:
        """One ``on-…``: a task, a list of tasks, or both what to publish and what is next."""
        value = self._at(path)
        if not isinstance(value, dict):
            self._next(path, value)
            return
        if not set(value) <= {"publish", "next"}:
            self._say(path, "a condition here is ignored by Mistral; make it a list: '- task: …'.")
            return
        for scope, names in (value.get("publish") or {}).items():
            where = (*path, "publish", scope)
            if scope not in ("branch", "global", "atomic"):
                self._say(where, "is no scope: branch, global or atomic.")
            elif not isinstance(names, dict):
                self._say(where, "must be a mapping.")
        if isinstance(value.get("next"), dict):
            self._say((*path, "next"), "a condition here is ignored by Mistral; make it a list.")
        elif "next" in value:
            self._next((*path, "next"), value["next"])

    def _next(self, path: Path, value: Any) -> None:
        if isinstance(value, str) and value:
            return
        if not isinstance(value, list) or not value:
            self._say(path, "must be a task or a list of tasks.")
            return
        for number, item in enumerate(value):
            if isinstance(item, str) and item:
                continue
            single = isinstance(item, dict) and len(item) == 1
            if not single or not _is_expression(next(iter(item.values()))):
                self._say((*path, number), "must be a task, or 'task: <% condition %>'.")

    def _policies(self, path: Path) -> None:
        self._each(path, _COUNTS, _count)
        self._each(path, _FLAGS, _flag)
        self._retry((*path, "retry"))
        for name in _CLAUSES:
            if name in (self._at(path) or ()):
                self.clause((*path, name))

    def _retry(self, path: Path) -> None:
        value = self._at(path)
        if value is None or (isinstance(value, str) and value):
            return
        self._keys(path, ("count", "delay", "break-on", "continue-on"), ("count", "delay"))
        self._each(path, ("count", "delay"), _count)
        self._each(path, ("break-on", "continue-on"), _condition)

    def _inputs(self, path: Path) -> None:
        value = self._at(path)
        if value is None:
            return
        if not isinstance(value, list) or not value:
            self._say(path, "must be a list of names, each alone or as 'name: default'.")
            return
        seen: set[str] = set()
        for number, item in enumerate(value):
            single = isinstance(item, dict) and len(item) == 1
            name = next(iter(item)) if single else item
            if not isinstance(name, str) or not _NAME.match(name):
                self._say((*path, number), "must be a name, or 'name: default'.")
            elif name in seen:
                self._say((*path, number), f"the input {name} stands twice.")
            else:
                seen.add(name)

    def _items(self, path: Path, check_one: Callable[[Path], None]) -> None:
        value = self._at(path)
        if value is None and not self._present(path):
            return
        if not isinstance(value, dict) or not value:
            self._say(path, "must be a mapping that is not empty.")
            return
        for name, item in value.items():
            if not isinstance(name, str) or not _NAME.match(name):
                self._say((*path, name), f"{name!r} is no name: letters, digits and _ only.")
            elif not isinstance(item, dict) or not item:
                self._say((*path, name), "must be a mapping that is not empty.")
            else:
                check_one((*path, name))

    def _keys(self, path: Path, known: Iterable[str], required: Iterable[str] = ()) -> None:
        value = self._at(path)
        if not isinstance(value, dict):
            self._say(path, "must be a mapping.")
            return
        for key in value:
            if key not in known:
                close = difflib.get_close_matches(str(key), known, 1)
                hint = f"; did you mean {close[0]}?" if close else "."
                self._say((*path, key), f"the key {key} is not known here{hint}")
        for key in required:
            if key not in value:
                self._say(path, f"the key {key} is missing.")

    def _each(self, path: Path, keys: Iterable[str], wrong: Callable[[Any], str]) -> None:
        value = self._at(path)
        for key in keys:
            if isinstance(value, dict) and key in value and (why := wrong(value[key])):
                self._say((*path, key), f"{key} {why}")

    def _at(self, path: Path) -> Any:
        return self._source.at(path)

    def _present(self, path: Path) -> bool:
        around = self._at(path[:-1])
        return isinstance(around, Mapping) and path[-1] in around

    def _say(self, path: Path, text: str) -> None:
        named = text if text[:1].isalpha() and path else f"the workbook {text}"
        if path and not text.startswith(("the ", "a ", *(str(path[-1]),))):
            named = f"{path[-1]} {text}"
        self.found.append(self._source.finding(path, "schema", named))


def _is_expression(value: Any) -> bool:
    return isinstance(value, str) and _EXPRESSION.match(value) is not None


def _text(value: Any) -> str:
    return "" if isinstance(value, str) and value else "must be a text that is not empty."


def _texts(value: Any) -> str:
    good = isinstance(value, list) and value and all(isinstance(item, str) for item in value)
    return "" if good else "must be a list of texts."


def _mapping(value: Any) -> str:
    return "" if isinstance(value, dict) and value else "must be a mapping that is not empty."


def _mapping_or_expression(value: Any) -> str:
    return "" if _is_expression(value) else _mapping(value)


def _condition(value: Any) -> str:
    return "" if _is_expression(value) else "must be an expression: <% … %>."


def _count(value: Any) -> str:
    whole = isinstance(value, int) and not isinstance(value, bool) and value >= 0
    return "" if whole or _is_expression(value) else "must be a whole number or an expression."


def _flag(value: Any) -> str:
    good = isinstance(value, bool) or _is_expression(value)
    return "" if good else "must be true, false or an expression."


def _join(value: Any) -> str:
    if value in ("all", "one") or (not isinstance(value, bool) and isinstance(value, int)):
        return ""
    return "must be all, one or a number."


def _with_items(value: Any) -> str:
    items = value if isinstance(value, list) else [value]
    if items and all(isinstance(item, str) and _ITEMS.match(item) for item in items):
        return ""
    return "must have the form 'name in <% list %>'."
