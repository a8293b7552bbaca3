"""Answers in JSON; an error is ``{"error": {code, message, remedy}}`` whatever it was."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
from aiohttp import web

from tripleo_worker.errors import (
    InvalidInput,
    NotAuthenticated,
    NotAuthorised,
    ServiceError,
    TripleOWorkerError,
)

LOG = logging.getLogger(__name__)

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

_STATUSES: tuple[tuple[type[TripleOWorkerError], int], ...] = (
    (InvalidInput, 400),
    (NotAuthenticated, 401),
    (NotAuthorised, 403),
    (ServiceError, 503),
)
_CODES = {404: "not-found", 405: "method-not-allowed", 413: "too-large", 429: "too-many"}


def reply(body: Any, status: int = 200) -> web.Response:
    """An answer in JSON."""
    return web.Response(
        body=msgspec.json.encode(body), status=status, content_type="application/json"
    )


def told(code: str, message: str, remedy: str = "") -> dict[str, dict[str, str]]:
    """The body of an error, on HTTP and on a websocket."""
    return {"error": {"code": code, "message": message, "remedy": remedy}}


def told_of(error: TripleOWorkerError) -> dict[str, dict[str, str]]:
    """The body that tells an error of ours."""
    return told(error.code, error.message, error.remedy)


def status_of(error: TripleOWorkerError) -> int:
    """The HTTP status that says the same as an error of ours."""
    return next((status for kind, status in _STATUSES if isinstance(error, kind)), 500)


@web.middleware
async def errors(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Turn what goes wrong before an answer has begun into an answer."""
    try:
        return await handler(request)
    except TripleOWorkerError as error:
        return reply(told_of(error), status_of(error))
    except web.HTTPException as error:
        code = _CODES.get(error.status, "http-error")
        answer = reply(told(code, error.text or error.reason), error.status)
        if "Allow" in error.headers:
            answer.headers["Allow"] = error.headers["Allow"]
        return answer
    except Exception:
        LOG.exception("A request could not be answered", extra={"action": "answer"})
        return reply(
            told("internal-error", "The worker could not answer.", "Its log says why."), 500
        )
