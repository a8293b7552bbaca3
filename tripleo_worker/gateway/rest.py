"""Plain HTTP: pages of events, the newest position, operations, and how the worker fares."""

from __future__ import annotations

from typing import Any

import msgspec
from aiohttp import web

from tripleo_worker.errors import InvalidInput, JournalUnavailable
from tripleo_worker.events import Position, Status
from tripleo_worker.gateway import answers, asking, lines, policies
from tripleo_worker.gateway.house import HOUSE
from tripleo_worker.gateway.metrics import CONTENT_TYPE
from tripleo_worker.operations import brief
from tripleo_worker.ports import Filter, Journal, Page

NDJSON = "application/x-ndjson"


async def events(request: web.Request) -> web.StreamResponse:
    """``GET /v1/events``: a page, or with ``follow=true`` lines without end."""
    house = request.app[HOUSE]
    caller, project = await house.scope(request, policies.EVENTS)
    wanted = asking.page(request.query)
    as_lines = NDJSON in request.headers.get("Accept", "")
    if wanted.follow:
        if not as_lines:
            raise InvalidInput(
                "follow: needs lines.", remedy=f"Ask with the header Accept: {NDJSON}."
            )
        return await lines.follow(request, caller, project, wanted.asked)
    where = wanted.asked.where(project)
    start = await house.feed.subscribe(wanted.asked.since, where)
    start.close()
    position = start.position
    page = await _page(house.journal, position.sequence, where, wanted.limit)
    texts = [entry.text for entry in page.entries] if start.recovered else []
    after = Position(position.epoch, page.upto) if start.recovered else position
    house.metrics.delivered.labels("rest").inc(len(texts))
    if as_lines:
        return web.Response(
            body=b"".join(text + b"\n" for text in texts),
            content_type=NDJSON,
            headers={"X-Position": str(after), "X-Recovered": str(start.recovered).lower()},
        )
    body: dict[str, Any] = {
        "events": [msgspec.Raw(text) for text in texts],
        "position": str(after),
        "recovered": start.recovered,
    }
    if not start.recovered:
        body["operations"] = start.operations
    return answers.reply(body)


async def _page(journal: Journal, after: int, where: Filter, limit: int) -> Page:
    """The next page; one that is empty is the end, however little the filter lets through."""
    page = await journal.read(after, where, limit)
    while not page.entries and page.upto > after:
        after = page.upto
        page = await journal.read(after, where, limit)
    return page


async def position(request: web.Request) -> web.Response:
    """``GET /v1/position``: the newest place."""
    house = request.app[HOUSE]
    await house.scope(request, policies.POSITION)
    newest = Position(house.journal.epoch, await house.journal.head())
    return answers.reply({"position": str(newest)})


async def operations(request: web.Request) -> web.Response:
    """``GET /v1/operations``: those that may be seen, last started first."""
    house = request.app[HOUSE]
    _, project = await house.scope(request, policies.OPERATIONS)
    unknown = set(request.query) - {"plan", "status"}
    if unknown:
        raise InvalidInput(
            f"{min(unknown)[:40]}: is no parameter of this request.",
            remedy="There are: plan, status.",
        )
    word, plan = request.query.get("status"), request.query.get("plan")
    status = Status.of(word)
    if word and status is None:
        raise InvalidInput(
            f"status: {word[:40]!r} is none.", remedy=f"There are: {', '.join(Status)}."
        )
    found = await house.journal.operations(project=project, limit=asking.LARGEST_PAGE)
    shown = [
        operation
        for operation in found
        if (status is None or operation.status is status) and (not plan or operation.plan == plan)
    ]
    return answers.reply({"operations": shown})


async def operation(request: web.Request) -> web.Response:
    """``GET /v1/operations/{execution_id}``."""
    house = request.app[HOUSE]
    _, project = await house.scope(request, policies.OPERATION)
    found = await house.journal.operation(request.match_info["execution_id"])
    # One of another project does not exist, for all that this caller can tell.
    if found is None or not (project is None or found.project == project):
        return answers.reply(
            answers.told("not-found", "There is no such operation.", "List the operations."), 404
        )
    return answers.reply(brief(found))


async def healthz(_request: web.Request) -> web.Response:
    """``GET /healthz``: the process lives and its loop turns."""
    return answers.reply({"alive": True})


async def readyz(request: web.Request) -> web.Response:
    """``GET /readyz``: the journal can be read and every source has contact."""
    house = request.app[HOUSE]
    sources = house.sources()
    try:
        await house.journal.read(0, Filter(project=None), 1)
        trouble = ""
    except JournalUnavailable as error:
        trouble = error.message
    ready = not trouble and all(health.ok for health in sources.values())
    body = {
        "ready": ready,
        "journal": {"ok": not trouble, "detail": trouble},
        "sources": sources,
    }
    return answers.reply(body, 200 if ready else 503)


async def metrics(request: web.Request) -> web.Response:
    """``GET /metrics``."""
    house = request.app[HOUSE]
    try:
        house.metrics.head.set(await house.journal.head())
    except JournalUnavailable:
        house.metrics.head.set(float("nan"))
    return web.Response(body=house.metrics.text(), headers={"Content-Type": CONTENT_TYPE})
