"""Names and paths that users give: what is safe to use, and what is refused."""

from __future__ import annotations

import posixpath
import re

from tripleo_worker.errors import InvalidInput

#: A plan's name is also its stack's, its container's and its environment's: Heat is strictest.
_PLAN = re.compile(r"[a-zA-Z][a-zA-Z0-9_.-]{0,79}\Z")


def plan_name(name: object) -> str:
    """The name of a plan.

    Raises:
        InvalidInput: it cannot be one.
    """
    if not isinstance(name, str) or not _PLAN.match(name):
        raise InvalidInput(
            f"{str(name)[:80]!r} cannot be the name of a plan.",
            remedy="Use a letter, then letters, digits, '_', '.' and '-'; 80 at most.",
        )
    return name


def plan_path(path: object, where: str) -> str:
    """A path inside a plan, in normal form.

    Args:
        path: As given.
        where: What gives it, for errors.

    Raises:
        InvalidInput: it is absolute, leaves the plan, or is none.
    """
    if not isinstance(path, str) or not path or "\0" in path or "\\" in path:
        raise InvalidInput(f"{where}: {str(path)[:80]!r} is no path of a file in the plan.")
    normal = posixpath.normpath(path)
    if path.startswith("/") or normal.startswith("..") or normal == ".":
        raise InvalidInput(
            f"{where}: {path[:200]!r} leads out of the plan.",
            remedy="Give a path relative to the plan's root.",
        )
    return normal


def beside(path: str, reference: str, where: str) -> str:
    """The plan path that a file at ``path`` means by ``reference``.

    Raises:
        InvalidInput: it leads out of the plan.
    """
    return plan_path(posixpath.join(posixpath.dirname(path), reference), where)
