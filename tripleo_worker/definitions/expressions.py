"""Expressions in YAQL and Jinja2: whether they can be read, and what they refer to.

``$.name`` of something that is not there ends a workflow in the engine, without any
``on-error``; ``$.get(name)`` does not. The two are told apart here.

Source: ``mistral.expressions`` (how Mistral finds and evaluates them), Mistral 23.
"""

from __future__ import annotations

# yaql 3.2 uses it and does not import it.
import collections.abc  # noqa: F401
import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import jinja2
import yaql
from jinja2 import meta, nodes
from jinja2.sandbox import SandboxedEnvironment
from yaql.language import exceptions as yaql_errors
from yaql.language import expressions as yaql_nodes
from yaql.language import factory, yaqltypes

#: Functions that Mistral adds to both languages.
FUNCTIONS = frozenset(
    {
        "env", "execution", "executions", "global", "json_dump", "json_parse", "task", "tasks",
        "uuid", "yaml_dump", "yaml_parse",
    }
)  # fmt: skip

_YAQL = re.compile(r"<%.*?%>")
_JINJA = re.compile(r"\{\{.*?\}\}|\{%.*?%\}")
#: Functions that take expressions and leave ``$`` in them what it was.
_KEEPING = frozenset({"coalesce", "switch", "selectCase", "selectAllCases", "switchCase", "let"})
_JINJA_NAMES = FUNCTIONS | {"_", "__env", "__execution", "__task_execution"}


@dataclass
class Uses:
    """What a text refers to."""

    #: Variables that must be there: ``$.name``.
    variables: set[str] = field(default_factory=set)
    #: Variables that may be missing: ``$.get(name)``.
    optional: set[str] = field(default_factory=set)
    #: Tasks: ``task(name)``.
    tasks: set[str] = field(default_factory=set)
    #: Global variables: ``global(name)``.
    globals: set[str] = field(default_factory=set)
    #: Keys of the environment that must be there: ``env().name``.
    env: set[str] = field(default_factory=set)
    #: What is wrong with the text itself.
    faults: list[str] = field(default_factory=list)


def uses(text: str) -> Uses:
    """Read the expressions in a text; a text without any refers to nothing."""
    found = Uses()
    yaql_parts, jinja = _YAQL.findall(text), _JINJA.search(text)
    if text.count("<%") > len(yaql_parts):
        found.faults.append(
            "the expression is not closed in its line, so Mistral takes it for text; close it,"
            " or fold the lines with >-."
        )
    elif yaql_parts and jinja:
        found.faults.append("YAQL and Jinja2 in one text are refused by Mistral.")
    elif yaql_parts:
        _check_alone(text, yaql_parts[0], found)
        for part in yaql_parts:
            _read_yaql(part[2:-2], found)
    elif jinja:
        _check_alone(text, jinja[0], found)
        _read_jinja(text, found)
    return found


def _check_alone(text: str, expression: str, found: Uses) -> None:
    if text != expression and text.strip() == expression:
        found.faults.append(
            "space around the expression makes its value a text; fold the lines with >-."
        )


def _read_yaql(expression: str, found: Uses) -> None:
    try:
        tree = _engine()(expression)
    except (yaql_errors.YaqlException, KeyError, ValueError, TypeError) as error:
        found.faults.append(f"cannot be read as YAQL: {error}")
        return
    _Yaql(found).visit(tree.expression, own=True)


@functools.cache
def _engine() -> Any:
    return factory.YaqlFactory(allow_delegates=False, keyword_operator="=>").create()


@functools.cache
def _functions() -> tuple[frozenset[str], frozenset[str]]:
    """The functions of YAQL, and those that give ``$`` another meaning in their arguments."""
    known: set[str] = set()
    rebinding: set[str] = set()
    context = yaql.create_context()
    while context is not None:
        for name in getattr(context, "_functions", {}):
            known.add(name)
            specs, _ = context.get_functions(name)
            if any(_takes_lambda(spec) for spec in specs):
                rebinding.add(name)
        context = context.parent
    return frozenset(known | FUNCTIONS), frozenset(rebinding - _KEEPING)


def _takes_lambda(spec: Any) -> bool:
    return any(isinstance(one.value_type, yaqltypes.Lambda) for one in spec.parameters.values())


class _Yaql:
    """Walks a YAQL tree; ``own`` says whether ``$`` is still the workflow's context."""

    def __init__(self, found: Uses) -> None:
        self._found = found
        self._known, self._rebinding = _functions()

    def visit(self, node: Any, own: bool) -> None:
        """Note what a part refers to."""
        match node:
            case yaql_nodes.BinaryOperator(name="#operator_." | "#operator_?."):
                self._member(node, own)
            case yaql_nodes.BinaryOperator(name="#operator_->"):
                self._arrow(node, own)
            case yaql_nodes.IndexExpression():
                self._index(node, own)
            case yaql_nodes.MappingRuleExpression():
                self.visit(node.source, own)
                self.visit(node.destination, own)
            case yaql_nodes.Wrap():
                self.visit(node.expr, own)
            case yaql_nodes.GetContextValue():
                pass
            case yaql_nodes.Function():
                self._call(node, own, method=False)

    def _member(self, node: Any, own: bool) -> None:
        left, right = node.args
        name = _constant(right) if isinstance(right, yaql_nodes.KeywordConstant) else None
        if name is not None and own and _is_root(left):
            (self._found.optional if "?" in node.name else self._found.variables).add(name)
        elif name is not None and _is_call(left, "env") and "?" not in node.name:
            self._found.env.add(name)
        elif not (own and _is_root(left) and self._asked(right)):
            self.visit(left, own)
        if name is None:
            self._right(right, own)

    def _asked(self, right: Any) -> bool:
        """``$.get(name)`` and ``$.containsKey(name)``."""
        if not (_is_call(right, "get") or _is_call(right, "containsKey")) or not right.args:
            return False
        name = _constant(right.args[0])
        if isinstance(name, str):
            self._found.optional.add(name)
        return True

    def _right(self, right: Any, own: bool) -> None:
        if isinstance(right, yaql_nodes.Function):
            self._call(right, own, method=True)
        else:
            self.visit(right, own)

    def _arrow(self, node: Any, own: bool) -> None:
        left, right = node.args
        self.visit(left, own)
        self.visit(right, own and _is_call(left, "let"))

    def _index(self, node: Any, own: bool) -> None:
        base, *keys = node.args
        name = _constant(keys[0]) if keys else None
        if own and _is_root(base) and isinstance(name, str):
            self._found.variables.add(name)
        else:
            self.visit(base, own)
        for key in keys:
            self.visit(key, own)

    def _call(self, node: Any, own: bool, *, method: bool) -> None:
        name = node.name
        if name.isidentifier() and name not in self._known:
            self._found.faults.append(f"YAQL has no function {name}().")
        if name in ("task", "global") and node.args and not method:
            target = _constant(node.args[0])
            if isinstance(target, str):
                (self._found.tasks if name == "task" else self._found.globals).add(target)
        inside = own and not (name in self._rebinding and (method or name == "def"))
        for argument in node.args:
            self.visit(argument, inside)


def _is_root(node: Any) -> bool:
    return isinstance(node, yaql_nodes.GetContextValue) and _constant(node.args[0]) == "$"


def _is_call(node: Any, name: str) -> bool:
    return isinstance(node, yaql_nodes.Function) and node.name == name


def _constant(node: Any) -> Any:
    return node.value if isinstance(node, yaql_nodes.Constant) else None


@functools.cache
def _jinja() -> SandboxedEnvironment:
    made = SandboxedEnvironment(undefined=jinja2.StrictUndefined)
    for name in FUNCTIONS:
        made.filters[name] = str
    return made


def _read_jinja(text: str, found: Uses) -> None:
    environment = _jinja()
    try:
        tree = environment.parse(text)
        environment.compile(tree)
        tree = environment.parse(text)
    except jinja2.TemplateError as error:
        found.faults.append(f"cannot be read as Jinja2: {error}")
        return
    for name in sorted(meta.find_undeclared_variables(tree) - _JINJA_NAMES):
        found.faults.append(f"Jinja2 knows no {name} here; variables stand below _.")
    _visit_jinja(tree, found, optional=False)


def _visit_jinja(node: nodes.Node, found: Uses, *, optional: bool) -> None:
    asked = _asked_jinja(node)
    if asked is not None:
        found.optional.add(asked)
        return
    name = _member_jinja(node)
    if name is not None:
        (found.optional if optional else found.variables).add(name)
        return
    if isinstance(node, nodes.Call) and isinstance(node.node, nodes.Name) and node.args:
        first = node.args[0]
        if isinstance(first, nodes.Const) and node.node.name in ("task", "global"):
            (found.tasks if node.node.name == "task" else found.globals).add(str(first.value))
    for child, soft in _children_jinja(node):
        _visit_jinja(child, found, optional=optional or soft)


def _children_jinja(node: nodes.Node) -> Iterator[tuple[nodes.Node, bool]]:
    soft = (isinstance(node, nodes.Filter) and node.name in ("default", "d")) or (
        isinstance(node, nodes.Test) and node.name in ("defined", "undefined")
    )
    for child in node.iter_child_nodes():
        yield child, soft and child is getattr(node, "node", None)


def _asked_jinja(node: nodes.Node) -> str | None:
    match node:
        case nodes.Call(
            node=nodes.Getattr(node=nodes.Name(name="_"), attr="get"),
            args=[nodes.Const(value=str(name)), *_],
        ):
            return name
    return None


def _member_jinja(node: nodes.Node) -> str | None:
    match node:
        case nodes.Getattr(node=nodes.Name(name="_"), attr=name):
            return str(name)
        case nodes.Getitem(node=nodes.Name(name="_"), arg=nodes.Const(value=str(name))):
            return name
    return None
