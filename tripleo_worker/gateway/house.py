"""What the routes share: the feed, the journal, who may see what, and who is connected."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

import msgspec
from aiohttp import web

from tripleo_worker.errors import TripleOWorkerError
from tripleo_worker.gateway.access import Access
from tripleo_worker.gateway.metrics import Metrics
from tripleo_worker.identity import Caller
from tripleo_worker.ports import Feed, Health, Journal

#: Header that carries a token.
TOKEN_HEADER = "X-Auth-Token"  # noqa: S105 - the header's name


class Pace(msgspec.Struct, frozen=True, kw_only=True):
    """Times and numbers that the configuration sets; seconds where it is time."""

    heartbeat: float = 10.0
    stall: float = 30.0
    introduction: float = 10.0
    streams_per_project: int = 2000


class TooManyStreams(TripleOWorkerError):
    """The project holds too many streams open."""

    code = "too-many"


class House:
    """Lent to every route."""

    def __init__(
        self,
        *,
        feed: Feed,
        journal: Journal,
        access: Access,
        pace: Pace,
        sources: Callable[[], Mapping[str, Health]],
    ) -> None:
        self.feed = feed
        self.journal = journal
        self.access = access
        self.pace = pace
        self.sources = sources
        self.metrics = Metrics(sources)
        #: Set when the worker shuts down.
        self.closing = asyncio.Event()
        #: Set while no stream is open.
        self.idle = asyncio.Event()
        self.idle.set()
        self._serving = 0
        self._streams: Counter[str] = Counter()

    @contextmanager
    def serving(self) -> Iterator[None]:
        """Note that a stream is served, until the last byte of its end is written."""
        self._serving += 1
        self.idle.clear()
        try:
            yield
        finally:
            self._serving -= 1
            if not self._serving:
                self.idle.set()

    async def scope(self, request: web.Request, rule: str) -> tuple[Caller, str | None]:
        """Who asks, and the project whose events they may see; None: all.

        Raises:
            NotAuthenticated, NotAuthorised, IdentityUnavailable: see :class:`Access`.
        """
        caller = await self.access.caller(request.headers.get(TOKEN_HEADER))
        return caller, self.access.scope(caller, rule)

    @contextmanager
    def stream(self, caller: Caller, way: str) -> Iterator[None]:
        """Count a stream in and out.

        Raises:
            TooManyStreams: the caller's project has its number.
        """
        project = caller.project_id
        if self._streams[project] >= self.pace.streams_per_project:
            raise TooManyStreams(
                f"The project has {self._streams[project]} streams open.",
                remedy="Close some, or raise [gateway] streams_per_project.",
            )
        self._streams[project] += 1
        listeners = self.metrics.listeners.labels(way)
        listeners.inc()
        try:
            yield
        finally:
            listeners.dec()
            self._streams[project] -= 1
            if not self._streams[project]:
                del self._streams[project]


HOUSE = web.AppKey("house", House)
