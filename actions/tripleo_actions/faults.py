"""What an action says when it fails: ``{type, text, detail}``, the services' words verbatim.

Workflows read this form from ``task().result`` of a failed task and hand it on unread, so
that building a failure message cannot fail.
"""

from __future__ import annotations

from typing import Any

from tripleo_worker.errors import ServiceError, TripleOWorkerError

#: An error's text is stored with the task and travels in a message: enough to read, no more.
MAX_TEXT_BYTES = 8192

_CUT = " […]"


class CallFailed(ServiceError):
    """A call to a service was refused or did not arrive."""

    code = "call-failed"

    def __init__(self, service: str, status: int | None, text: str, *, remedy: str = "") -> None:
        self.service = service
        self.status = status
        super().__init__(text, remedy=remedy)


class NotThere(CallFailed):
    """What was asked for does not exist."""

    code = "not-found"


class PlanLocked(ServiceError):
    """Someone else is changing the plan."""

    code = "plan-locked"


def cut(text: str, limit: int = MAX_TEXT_BYTES) -> str:
    """Cut a text to at most ``limit`` encoded bytes, at a character, with a mark."""
    raw = text.encode("utf-8", "replace")
    if len(raw) <= limit:
        return text
    room = max(0, limit - len(_CUT.encode()))
    return raw[:room].decode("utf-8", "ignore") + _CUT


def as_error(error: BaseException) -> dict[str, Any]:
    """The form in which an action returns an error.

    Returns:
        ``type``: the error's stable code, or its class where it has none; ``text``: the
        sentence for people; ``detail``: service, HTTP status and remedy where they are known.
    """
    if not isinstance(error, TripleOWorkerError):
        text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        return {"type": type(error).__name__, "text": cut(text), "detail": {}}
    detail: dict[str, Any] = {"remedy": error.remedy} if error.remedy else {}
    if isinstance(error, CallFailed):
        detail |= {"service": error.service, "status": error.status}
    return {"type": error.code, "text": cut(str(error)), "detail": detail}


def error_text(error: object) -> str:
    """The sentence in whatever an errored task left behind.

    Mistral leaves our ``{type, text, detail}``, its own text (a time-out, a lost executor), a
    list of results of a task with items, or nothing.
    """
    match error:
        case {"text": str(text)} | {"message": str(text)} | {"result": str(text)}:
            return text
        case str(text):
            return text
        case None | [] | {}:
            return ""
        case list(items):
            return "\n".join(filter(None, map(error_text, items)))
    return str(error)
