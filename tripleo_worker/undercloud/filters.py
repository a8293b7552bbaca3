"""What the configuration templates need beyond Jinja2's own filters."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable
from typing import Any


def rabbitmq_hash(password: str, salt: str) -> str:
    """A password as the broker's definitions file holds it: salted SHA-256, base64.

    Args:
        password: the clear text.
        salt: four bytes as hexadecimal digits.
    """
    raw = bytes.fromhex(salt)
    return base64.b64encode(raw + hashlib.sha256(raw + password.encode()).digest()).decode()


def sql_text(text: str) -> str:
    """A text as an SQL literal."""
    return "'" + text.replace("\\", "\\\\").replace("'", "''") + "'"


FILTERS: dict[str, Callable[..., Any]] = {
    "rabbitmq_hash": rabbitmq_hash,
    "sql_text": sql_text,
    "json": json.dumps,
}
