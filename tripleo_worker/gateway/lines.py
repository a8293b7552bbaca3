"""The stream in a plain HTTP answer: server-sent events, and JSON lines that go on.

Source: the HTML standard's ``text/event-stream``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import msgspec
from aiohttp import web

from tripleo_worker.errors import JournalUnavailable
from tripleo_worker.gateway import asking, policies
from tripleo_worker.gateway.access import expired
from tripleo_worker.gateway.asking import Asked
from tripleo_worker.gateway.house import HOUSE
from tripleo_worker.identity import Caller
from tripleo_worker.ports import Entry, Subscription

#: Seconds between two looks at the token's life and at the worker's shutdown.
LOOK = 1.0

_HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}


class Form(msgspec.Struct, frozen=True):
    """How a stream is written."""

    way: str
    content_type: str
    entries: Callable[[Sequence[Entry], str], bytes]
    heartbeat: Callable[[str], bytes]
    opening: Callable[[dict[str, Any]], bytes]


async def events(request: web.Request) -> web.StreamResponse:
    """``GET /v1/events/stream``: server-sent events."""
    house = request.app[HOUSE]
    caller, project = await house.scope(request, policies.STREAM)
    asked = asking.stream(request.query, request.headers.get("Last-Event-ID"))
    return await _serve(request, caller, project, asked, SSE)


async def follow(
    request: web.Request, caller: Caller, project: str | None, asked: Asked
) -> web.StreamResponse:
    """JSON lines without end."""
    return await _serve(request, caller, project, asked, NDJSON)


async def _serve(
    request: web.Request, caller: Caller, project: str | None, asked: Asked, form: Form
) -> web.StreamResponse:
    house = request.app[HOUSE]
    with house.serving(), house.stream(caller, form.way):
        subscription = await house.feed.subscribe(asked.since, asked.where(project))
        answer = web.StreamResponse(headers={**_HEADERS, "Content-Type": form.content_type})
        try:
            await answer.prepare(request)
            await answer.write(form.opening(_subscribed(subscription)))
            await _pump(request, answer, caller, subscription, asked, form)
        except (ConnectionError, JournalUnavailable):
            # Gone, or to come back: both ask for the last position again.
            pass
        except TimeoutError:
            house.metrics.slow.inc()
            _abort(request)
        finally:
            subscription.close()
    return answer


async def _pump(
    request: web.Request,
    answer: web.StreamResponse,
    caller: Caller,
    subscription: Subscription,
    asked: Asked,
    form: Form,
) -> None:
    """Write what comes, until the token's time is over or one of both ends goes."""
    house = request.app[HOUSE]
    loop = asyncio.get_running_loop()
    every = asked.heartbeat or house.pace.heartbeat
    silent = loop.time()
    delivered = house.metrics.delivered.labels(form.way)
    # aiohttp takes the transport away when the listener has gone.
    while request.transport is not None and not house.closing.is_set() and not expired(caller):
        patience = min(LOOK, max(silent + every - loop.time(), 0.0))
        entries = await subscription.next(patience)
        if entries:
            text = form.entries(entries, subscription.position.epoch)
        elif loop.time() >= silent + every:
            text = form.heartbeat(str(subscription.position))
        else:
            continue
        async with asyncio.timeout(house.pace.stall):
            await answer.write(text)
        delivered.inc(len(entries))
        silent = loop.time()


def _subscribed(subscription: Subscription) -> dict[str, Any]:
    told: dict[str, Any] = {
        "recovered": subscription.recovered,
        "position": str(subscription.position),
    }
    if not subscription.recovered:
        told["operations"] = subscription.operations
    return told


def _abort(request: web.Request) -> None:
    if request.transport is not None:
        request.transport.abort()


SSE = Form(
    "sse",
    "text/event-stream",
    lambda entries, epoch: b"".join(
        b"id: %s:%d\ndata: %s\n\n" % (epoch.encode(), entry.sequence, entry.text)
        for entry in entries
    ),
    lambda position: b": heartbeat %s\n\n" % position.encode(),
    lambda told: b"event: subscribed\ndata: %s\n\n" % msgspec.json.encode(told),
)
NDJSON = Form(
    "ndjson",
    "application/x-ndjson",
    lambda entries, _epoch: b"".join(entry.text + b"\n" for entry in entries),
    # An empty line: readers of JSON lines pass over it.
    lambda _position: b"\n",
    lambda told: b"" if told["recovered"] else msgspec.json.encode({"subscribed": told}) + b"\n",
)
