"""The gateway: routes, and a server that starts and stops.

::

    gateway = Gateway(house, host="127.0.0.1", port=8785)
    await gateway.start()
    ...
    await gateway.stop()
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from typing import Any

from aiohttp import web

from tripleo_worker.errors import PortTaken
from tripleo_worker.gateway import answers, lines, rest, websocket
from tripleo_worker.gateway.access import Access, TokenCheck
from tripleo_worker.gateway.house import HOUSE, House, Pace
from tripleo_worker.ports import Feed, Health, Journal

LOG = logging.getLogger(__name__)

#: Bytes of a request's body; no route reads one.
LARGEST_BODY = 64 * 1024
#: Seconds that open requests may take at the shutdown.
DRAIN = 0.8


def build(
    conf: Any,
    *,
    feed: Feed,
    journal: Journal,
    identity: TokenCheck,
    sources: Callable[[], Mapping[str, Health]],
) -> House:
    """Make what the routes share.

    Args:
        conf: with the groups ``[gateway]`` and ``[oslo_policy]``.
        feed: what streams come from.
        journal: what pages and operations come from.
        identity: tells who is behind a token.
        sources: tells how each source fares, by name.
    """
    options = conf.gateway
    return House(
        feed=feed,
        journal=journal,
        access=Access(identity, conf, options.token_cache),
        pace=Pace(
            heartbeat=options.heartbeat,
            stall=options.stall,
            introduction=options.introduction,
            streams_per_project=options.streams_per_project,
        ),
        sources=sources,
    )


def routes(house: House) -> web.Application:
    """The application with every route."""
    application = web.Application(middlewares=[answers.errors], client_max_size=LARGEST_BODY)
    application[HOUSE] = house
    application.add_routes(
        [
            web.get("/v1/stream", websocket.stream),
            web.get("/v1/events/stream", lines.events),
            web.get("/v1/events", rest.events),
            web.get("/v1/position", rest.position),
            web.get("/v1/operations", rest.operations),
            web.get("/v1/operations/{execution_id}", rest.operation),
            web.get("/healthz", rest.healthz),
            web.get("/readyz", rest.readyz),
            web.get("/metrics", rest.metrics),
        ]
    )
    return application


class Gateway:
    """The server.

    Args:
        house: from :func:`build`.
        host: address to listen on.
        port: to listen on; 0: any free one, see :attr:`port`.
    """

    def __init__(self, house: House, *, host: str, port: int) -> None:
        self._house = house
        self._host = host
        self._port = port
        self._runner = web.AppRunner(
            routes(house), access_log=None, shutdown_timeout=0.1, handle_signals=False
        )

    @property
    def port(self) -> int:
        """The port that it listens on."""
        addresses = self._runner.addresses
        return int(addresses[0][1]) if addresses else self._port

    async def start(self) -> None:
        """Listen.

        Raises:
            PortTaken: the port is another's, or not ours to take.
        """
        await self._runner.setup()
        try:
            await web.TCPSite(self._runner, self._host, self._port, backlog=1024).start()
        except OSError as error:
            await self._runner.cleanup()
            raise PortTaken(
                f"The gateway cannot listen on {self._host} port {self._port}: {error.strerror}.",
                remedy="Stop what uses it, or set [gateway] host and port.",
            ) from error

    async def stop(self) -> None:
        """Tell every listener to come back later, and stop; takes about a second at most."""
        self._house.closing.set()
        try:
            async with asyncio.timeout(DRAIN):
                await self._house.idle.wait()
        except TimeoutError:
            LOG.info("Some listeners were dropped", extra={"action": "drop_listeners"})
        await self._runner.cleanup()
