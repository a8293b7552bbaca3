"""The contract message that clients in the field read: building it, keeping it small.

``{type, payload: {status, message, execution_id, root_execution_id, execution, …}}``. Both
ways of naming the execution stand in each payload, ``message`` always does, and the fixed
keys win over extra ones. Secrets are masked before anything is measured.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tripleo_actions.faults import cut, error_text
from tripleo_worker.redact import mask

#: Zaqar's default limit for one request is 256 KiB; the wrapping and a margin come off.
MAX_BYTES = 256 * 1024 - 4096

#: Seconds that a message stays in its queue.
TTL = 4 * 3600

#: Encoded bytes of each text that stays when a payload is moved out.
_KEPT_TEXT_BYTES = 4096

_EXECUTION_KEYS = ("input", "params", "created_at", "updated_at")
_PLAN_INPUTS = ("plan_name", "plan", "container")


def execution_part(execution: Mapping[str, Any]) -> dict[str, Any]:
    """The ``execution`` of a payload, masked and without the workflow's definition.

    Args:
        execution: As Mistral's API or its ``execution()`` gives it; ``id`` at least.
    """
    own = str(execution.get("id") or "")
    root = str(execution.get("root_execution_id") or "") or own
    known = {key: execution.get(key) for key in _EXECUTION_KEYS}
    known |= {key: known[key] or {} for key in ("input", "params")}
    kept: dict[str, Any] = mask(known)
    return {"id": own, "root_execution_id": root, **kept}


def plan_of(execution: Mapping[str, Any]) -> str | None:
    """The plan that an execution works on, by the names that workflows' inputs use."""
    given = execution.get("input") or {}
    names = (given.get(key) for key in _PLAN_INPUTS)
    return next((name for name in names if isinstance(name, str) and name), None)


def build_payload(
    *,
    status: str,
    message: Any,
    execution: Mapping[str, Any],
    extra: Mapping[str, Any] | None = None,
    plan_name: str | None = None,
    deployment_status: str | None = None,
) -> dict[str, Any]:
    """The payload of a message.

    Args:
        status: RUNNING, SUCCESS or FAILED.
        message: A text; or what a failed task left, whose text is taken; or a list or mapping
            where a client expects one (it stands as it is); None means the empty text.
        execution: The execution reported on; ``id`` at least.
        extra: Further keys; the fixed ones win.
        plan_name: Where it is not the plan of the execution's input.
        deployment_status: Where it applies.
    """
    part = execution_part(execution)
    optional = {
        "plan_name": plan_name or plan_of(execution),
        "deployment_status": deployment_status,
    }
    fixed = {
        "status": status,
        "message": mask(_readable(message)),
        "execution_id": part["id"],
        "root_execution_id": part["root_execution_id"],
        "execution": part,
    }
    failure = {"error": message} if _is_error(message) else {}
    further: dict[str, Any] = mask({**failure, **(extra or {})})
    return further | {k: v for k, v in optional.items() if v} | fixed


def encoded_size(message: Mapping[str, Any]) -> int:
    """Bytes of a message as it goes over the wire."""
    return len(json.dumps(message).encode())


def fits(message: Mapping[str, Any], limit: int = MAX_BYTES) -> bool:
    """Whether Zaqar takes the message."""
    return encoded_size(message) <= limit


def shrink(payload: Mapping[str, Any], url: str | None) -> dict[str, Any]:
    """What of a payload is posted when all of it is too large.

    Args:
        payload: As :func:`build_payload` made it.
        url: Where the whole payload was stored; None if it could not be.

    Returns:
        The fixed keys, texts cut, with ``payload_url``.
    """
    message = payload.get("message", "")
    text = message if isinstance(message, str) else json.dumps(message)
    execution = {k: v for k, v in payload["execution"].items() if k not in ("input", "params")}
    kept = {
        "status": payload["status"],
        "message": _cut_encoded(text),
        "execution_id": payload["execution_id"],
        "root_execution_id": payload["root_execution_id"],
        "execution": execution | {"input": _small_input(payload), "params": {}},
        "payload_url": url,
    }
    small = ("plan_name", "deployment_status")
    return kept | {k: payload[k] for k in small if k in payload}


def _small_input(payload: Mapping[str, Any]) -> dict[str, Any]:
    # Clients in the field look up what an execution was about by these.
    given = payload["execution"].get("input") or {}
    return {k: given[k] for k in _PLAN_INPUTS if isinstance(given.get(k), str)}


def _cut_encoded(text: str) -> str:
    # JSON writes a character beyond ASCII as up to twelve bytes.
    worst = max((len(json.dumps(char)) - 2 for char in set(text)), default=1)
    return cut(text, max(64, _KEPT_TEXT_BYTES * 4 // worst)) if worst > 4 else cut(text, 16_384)


def _is_error(message: Any) -> bool:
    return isinstance(message, Mapping) and {"type", "text", "detail"} <= message.keys()


def _readable(message: Any) -> Any:
    if message is None:
        return ""
    return error_text(message) if _is_error(message) else message
