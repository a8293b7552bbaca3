"""Parameter values that users type or write into environment files."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tripleo_actions import yaml_guard
from tripleo_worker.errors import InvalidInput

_NAME = re.compile(r"[A-Za-z_][\w.:-]*\Z")
#: The one section of an environment file that is not the plan's own affair.
SECTION = "parameter_defaults"


def collected(files: Sequence[str], pairs: Sequence[str]) -> dict[str, Any]:
    """Parameters of environment files, in their order, then those of the command line.

    Args:
        files: paths of environment files; of each, its ``parameter_defaults`` count.
        pairs: ``NAME=VALUE`` with the value in YAML.

    Raises:
        InvalidInput: a file or a pair cannot be used; the error says which and why.
    """
    found: dict[str, Any] = {}
    for path in files:
        found |= of_file(Path(path))
    for text in pairs:
        name, value = pair(text)
        found[name] = value
    return found


def pair(text: str) -> tuple[str, Any]:
    """Read ``NAME=VALUE``; an empty value is the empty text.

    Raises:
        InvalidInput: there is no ``=``, or the name or the YAML of the value is none.
    """
    name, equals, value = text.partition("=")
    if not equals or not _NAME.match(name):
        raise InvalidInput(
            f"--parameter {name[:80]!r}: this is not of the form NAME=VALUE.",
            remedy="Write for example --parameter ControllerCount=3.",
        )
    if not value:
        return name, ""
    try:
        return name, yaml_guard.load(value, f"--parameter {name}")
    except InvalidInput as error:
        raise InvalidInput(
            error.message,
            remedy=f"The value is read as YAML; put a text with special characters in quotes: "
            f"--parameter '{name}=\"…\"'.",
        ) from error


def of_file(path: Path) -> dict[str, Any]:
    """The ``parameter_defaults`` of an environment file.

    Raises:
        InvalidInput: it cannot be read, or has sections that only a plan can hold.
    """
    try:
        text = path.read_bytes()
    except OSError as error:
        raise InvalidInput(
            f"--environment-file {path}: {error.strerror or error}.",
            remedy="Give the path of an environment file that you may read.",
        ) from error
    data = yaml_guard.load_mapping(text, str(path))
    others = sorted(set(data) - {SECTION})
    if others:
        raise InvalidInput(
            f"{path}: only the section {SECTION} can be given here, not {', '.join(others)}.",
            remedy="Put such an environment among the plan's templates and create the plan anew.",
        )
    parameters: dict[str, Any] = yaml_guard.section(data, SECTION, str(path))
    return yaml_guard.mapping(parameters, f"{path}: {SECTION}")


def unknown(given: Mapping[str, Any], answer: Any) -> list[str]:
    """Warnings of parameters that nothing in the plan reads, for a name may be misspelt.

    Args:
        given: the parameters that were set.
        answer: what ``tripleo.parameters.update`` gave: ``heat_resource_tree`` with all
            ``parameters`` of the plan by their name; of anything else nothing is said.
    """
    match answer:
        case {"heat_resource_tree": {"parameters": dict(known)}}:
            return [_warning(name, known) for name in given if name not in known]
    return []


def _warning(name: str, known: Mapping[str, Any]) -> str:
    near = difflib.get_close_matches(name, known, 1)
    hint = f"; is {near[0]} meant?" if near else "."
    return f"Nothing in the plan reads the parameter {name}{hint}"
