"""Passwords that a plan wants: generated once, and never changed after."""

from __future__ import annotations

import re
import secrets
import string
from collections.abc import Callable, Iterable, Mapping
from typing import Any

#: Characters of a generated password: letters and digits pass every service's quoting.
_ALPHABET = string.ascii_letters + string.digits
_LENGTH = 25

_WANTED = re.compile(r"(?:Password|Secret|Passphrase)\Z")


def wanted(templates: Iterable[Mapping[str, Any]]) -> list[str]:
    """Parameters that ask for a generated password.

    They are hidden texts without a default, named ``…Password``, ``…Secret`` or
    ``…Passphrase``.

    Args:
        templates: Heat templates, read.
    """
    found = {
        name
        for template in templates
        for name, spec in (template.get("parameters") or {}).items()
        if _WANTED.search(str(name)) and isinstance(spec, Mapping) and _asks(spec)
    }
    return sorted(found)


def generate() -> str:
    """A new password."""
    return "".join(secrets.choice(_ALPHABET) for _ in range(_LENGTH))


def completed(
    held: Mapping[str, Any], names: Iterable[str], make: Callable[[], str] = generate
) -> dict[str, Any]:
    """The held passwords and new ones for the names that have none."""
    return {**{name: make() for name in names if name not in held}, **held}


def _asks(spec: Mapping[str, Any]) -> bool:
    return spec.get("hidden") is True and "default" not in spec and spec.get("type") == "string"
