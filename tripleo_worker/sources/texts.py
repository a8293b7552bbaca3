"""What senders wrote, read with patience: texts, times and ids in any form they took."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from tripleo_worker.events import Status


def one_text(message: object) -> str:
    """One text of a message in any of the forms that senders use.

    Args:
        message: a text, a list of texts or mappings, a mapping, or nothing.
    """
    match message:
        case None:
            return ""
        case str():
            return message
        case Mapping():
            return _of_mapping(message)
        case list() | tuple():
            return "\n".join(filter(None, map(one_text, message)))
    return str(message)


def in_words(status: Status, info: str) -> str:
    """How an execution ended, where it did not say it itself.

    Args:
        status: a terminal one.
        info: what the engine knows of it, or nothing.
    """
    said = {
        Status.SUCCESS: "The workflow ended with success, without a message of its own.",
        Status.CANCELLED: "The workflow was cancelled.",
    }.get(status, "The workflow failed without a message of its own.")
    return f"{said} {info}".strip()


def when(value: object, otherwise: datetime) -> datetime:
    """A time as services write it; without an offset it is UTC.

    Args:
        value: ISO 8601, with a blank or a T.
        otherwise: for what is no time.
    """
    if not isinstance(value, str):
        return otherwise
    try:
        read = datetime.fromisoformat(value.strip())
    except ValueError:
        return otherwise
    return read.replace(tzinfo=UTC) if read.tzinfo is None else read


def text_of(mapping: object, *keys: str) -> str:
    """The first text under one of the keys; empty if there is none."""
    if isinstance(mapping, Mapping):
        for key in keys:
            value = mapping.get(key)
            if isinstance(value, str) and value:
                return value
    return ""


def mapping_of(value: object) -> Mapping[str, Any]:
    """The value if it is a mapping, else an empty one."""
    return value if isinstance(value, Mapping) else {}


def raw_text(body: object) -> str:
    """A body as it is kept when it cannot be read."""
    if isinstance(body, bytes):
        return body.decode("utf-8", "backslashreplace")
    if isinstance(body, str):
        return body
    try:
        return json.dumps(body, ensure_ascii=False, default=str)
    except (TypeError, ValueError, RecursionError):
        return repr(body)


def _of_mapping(message: Mapping[Any, Any]) -> str:
    for key in ("message", "result", "error", "text"):
        if message.get(key):
            return one_text(message[key])
    return raw_text(message) if message else ""
