"""Masking of secrets, before anything is stored, sent or logged.

Two nets: a value under a key that names a secret is masked whatever it is; a text is searched
for forms that carry secrets (URLs with a password, PEM keys, tokens, ``password=…``). Masking
twice changes nothing more. Nothing here knows where a value came from or goes to.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

#: What stands in a secret's place.
MASK = "***"

_SENSITIVE = (
    r"pass(?:word|wd|phrase)s?|passwd|secret|token|credential|"
    r"(?:private|auth|api|access|fernet|encryption|ssh|host)[_-]?keys?"
)

#: Keys whose value is secret, in snake, kebab or camel case: ``pm_password``, ``AdminPassword``.
_SECRET_KEY = re.compile(rf"(?:{_SENSITIVE})\d*$|^(?:{_SENSITIVE})|keystonecredential", re.I)

#: Keys that only speak about secrets.
_PLAIN_KEY = re.compile(r"(?:_id|_url|_uri|_name|_length|_count|_expires\w*|_type|Id|Name)$")

_IN_TEXT = (
    # Not begun within a word: else a long one is looked at from each of its letters.
    (re.compile(r"((?<![\w+.-])\w[\w+.-]*://[^\s/:@]*:)[^\s/@]+(@)"), rf"\1{MASK}\2"),
    (
        re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*-----|\Z)", re.S),
        MASK,
    ),
    (re.compile(r"gAAAA[\w-]{20,}={0,2}"), MASK),
    (re.compile(r"(\bBearer\s+)[\w.~+/-]{8,}=*", re.I), rf"\1{MASK}"),
    (
        re.compile(
            rf"""((?:\b|_|[a-z])(?:{_SENSITIVE})\\?["']?\s*[=:]\s*)"""
            r"""(\\?["'])?(?!\*\*\*)((?(2)(?:(?!\2).)+|[^\s,;&}\])"']+))""",
            re.I,
        ),
        rf"\1\2{MASK}",
    ),
)


def mask(value: Any) -> Any:
    """The value with every secret in it replaced.

    Args:
        value: What JSON can hold; other things pass as they are.

    Returns:
        A value of the same shape; mappings and lists are new.
    """
    match value:
        case str():
            return mask_text(value)
        case Mapping():
            return {key: _mask_item(key, item) for key, item in value.items()}
        case list() | tuple():
            return [mask(item) for item in value]
    return value


def mask_text(text: str) -> str:
    """A text with every form that carries a secret replaced."""
    for pattern, stead in _IN_TEXT:
        text = pattern.sub(stead, text)
    return text


def secret_key(key: object) -> bool:
    """Whether a key names a secret."""
    return (
        isinstance(key, str)
        and _SECRET_KEY.search(key) is not None
        and _PLAIN_KEY.search(key) is None
    )


def _mask_item(key: object, item: Any) -> Any:
    if item in (None, "", [], {}) or isinstance(item, bool):
        return item
    return MASK if secret_key(key) else mask(item)
