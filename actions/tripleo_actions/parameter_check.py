"""Whether values fit the parameters that a plan's templates declare.

Source: the parameters in Heat's answer to a validation (``Type``, ``MinValue``, ``MaxValue``,
``MinLength``, ``MaxLength``, ``AllowedValues``, ``AllowedPattern``). What other constraints
say (custom ones, ``modulo``) Heat finds itself at the deployment.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from tripleo_worker.errors import InvalidInput

_TRUTHS = frozenset({"t", "true", "on", "y", "yes", "1", "f", "false", "off", "n", "no", "0"})


def check(tree: Mapping[str, Any], values: Mapping[str, Any]) -> None:
    """Compare values with the parameters of all templates, nested ones too.

    Args:
        tree: Heat's validation, see :func:`tripleo_actions.parameter_tree.flatten`.
        values: Parameter -> value; those that no template declares are let be.

    Raises:
        InvalidInput: some do not fit; the error names each parameter with its fault.
    """
    faults = sorted({fault for name, spec in _declared(tree, values) for fault in _faults(
        name, spec, values[name])})  # fmt: skip
    if faults:
        raise InvalidInput(
            "The parameters do not fit: " + "; ".join(faults) + ".",
            remedy="Correct them: nothing was stored.",
        )


def _declared(
    tree: Mapping[str, Any], values: Mapping[str, Any]
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    declared = tree.get("Parameters") or {}
    yield from ((name, spec) for name, spec in declared.items() if name in values)
    for nested in (tree.get("NestedParameters") or {}).values():
        yield from _declared(nested, values)


def _faults(name: str, spec: Mapping[str, Any], value: Any) -> Iterator[str]:
    if value is None:
        return
    kind = str(spec.get("Type", "String"))
    read, article = _KINDS.get(kind, (_string, "a text"))
    try:
        known = read(value)
    except (TypeError, ValueError):
        yield f"{name}: {_shown(spec, value)} is not {article}"
        return
    yield from (f"{name}: {_shown(spec, value)} {fault}" for fault in _constraints(spec, known))


def _constraints(spec: Mapping[str, Any], value: Any) -> Iterator[str]:
    if isinstance(value, float | int) and not isinstance(value, bool):
        low, high = spec.get("MinValue"), spec.get("MaxValue")
        if low is not None and value < float(low):
            yield f"is less than {low}"
        if high is not None and value > float(high):
            yield f"is more than {high}"
    if isinstance(value, str | list | dict):
        low, high = spec.get("MinLength"), spec.get("MaxLength")
        if low is not None and len(value) < int(low):
            yield f"is shorter than {low}"
        if high is not None and len(value) > int(high):
            yield f"is longer than {high}"
    allowed = spec.get("AllowedValues")
    if allowed is not None and not _among(value, allowed):
        yield f"is none of {', '.join(map(repr, allowed))}"
    pattern = spec.get("AllowedPattern")
    if pattern and isinstance(value, str) and not _matches(pattern, value):
        yield f"does not match {pattern}"


def _among(value: Any, allowed: list[Any]) -> bool:
    items = value if isinstance(value, list) else [value]
    texts = {str(one) for one in allowed}
    return all(item in allowed or str(item) in texts or _whole(item) in texts for item in items)


def _whole(value: Any) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _matches(pattern: str, value: str) -> bool:
    try:
        return re.match(rf"(?:{pattern})\Z", value) is not None
    except re.error:
        return True


def _shown(spec: Mapping[str, Any], value: Any) -> str:
    hidden = str(spec.get("NoEcho", "false")).lower() == "true"
    return "the value" if hidden else repr(value)[:80]


def _number(value: Any) -> float:
    if isinstance(value, bool):
        raise TypeError
    return float(value)


def _boolean(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    if str(value).strip().lower() not in _TRUTHS:
        raise ValueError
    return True


def _string(value: Any) -> str:
    if isinstance(value, dict | list):
        raise TypeError
    return str(value)


def _list(value: Any) -> list[Any]:
    if isinstance(value, list):
        return value
    if isinstance(value, dict | bool):
        raise TypeError
    return [item.strip() for item in str(value).split(",")] if value != "" else []


def _json(value: Any) -> Any:
    if isinstance(value, dict | list):
        return value
    found = json.loads(value) if value != "" else {}
    if not isinstance(found, dict | list):
        raise ValueError
    return found


_KINDS: dict[str, tuple[Callable[[Any], Any], str]] = {
    "Number": (_number, "a number"),
    "Boolean": (_boolean, "true or false"),
    "CommaDelimitedList": (_list, "a list"),
    "Json": (_json, "JSON"),
}
