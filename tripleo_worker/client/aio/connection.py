"""The client's front door for asyncio: connect, follow the stream, run workflows."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping
from types import TracebackType
from typing import Any, Self

from tripleo_worker.client.aio.run import BEAT, Run
from tripleo_worker.client.aio.stream import Stream
from tripleo_worker.client.cloud import Cloud, from_clouds_yaml
from tripleo_worker.client.core import Lost
from tripleo_worker.client.frames import EARLIEST, LATEST, Subscribed, Subscription
from tripleo_worker.client.waiting import Contact, Limits
from tripleo_worker.errors import NoWorker
from tripleo_worker.events import Event, Position
from tripleo_worker.operations import Operation

LOG = logging.getLogger(__name__)


def connect(
    cloud: str | None = None, *, session: Any = None, endpoint: str | None = None
) -> Connection:
    """Connect to a cloud; arguments and errors as in ``tripleo_worker.client.connect``."""
    if session is not None:
        return Connection(Cloud(session, endpoint=endpoint))
    return Connection(from_clouds_yaml(cloud, endpoint=endpoint))


class Connection:
    """A cloud's workflows and the worker that watches them."""

    def __init__(self, cloud: Cloud) -> None:
        self.cloud = cloud
        self._open: list[Stream | Run] = []

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def follow(
        self,
        *,
        execution: str = "",
        plan: str = "",
        type: str = "",
        since: str | Position = LATEST,
    ) -> AsyncIterator[Event | Subscribed]:
        """Every event that matches, in order, once, for ever; as in the ``sync`` connection."""
        wanted = Subscription(execution=execution, plan=plan, type=type, since=str(since))
        stream = Stream(self.cloud, wanted)
        self._open.append(stream)
        try:
            while True:
                signal = await stream.next(BEAT)
                if isinstance(signal, Event):
                    yield signal
                elif isinstance(signal, Subscribed) and not signal.recovered:
                    yield signal
                elif isinstance(signal, Lost):
                    LOG.warning(
                        "The stream is lost (%s); it comes back by itself.",
                        signal.reason,
                        extra={"action": "stream_lost"},
                    )
        finally:
            self._open.remove(stream)
            await stream.close()

    async def run(
        self, workflow: str, inputs: Mapping[str, Any], *, limits: Limits | None = None
    ) -> Run:
        """Start a workflow and follow it; the place in the stream is taken before the start.

        Raises:
            InvalidInput, ServiceError: Mistral did not start it.
        """
        try:
            since, contact = await asyncio.to_thread(self.cloud.position), Contact.LIVE
        except NoWorker as error:
            # Mistral tells the outcome without a worker; one that comes later tells the rest.
            since, contact = EARLIEST, Contact.POLLING
            LOG.warning("%s Only start and end will be seen.", error, extra={"action": "no_worker"})
        execution = await asyncio.to_thread(self.cloud.engine.start, workflow, inputs)
        return self._followed(execution, since, limits, contact)

    def watch(
        self, execution: str, *, since: str | Position = EARLIEST, limits: Limits | None = None
    ) -> Run:
        """Follow an execution that runs already, or has ended."""
        return self._followed(execution, str(since), limits, Contact.LIVE)

    async def action(self, name: str, inputs: Mapping[str, Any]) -> Any:
        """Run a single Mistral action and wait for its result.

        Raises:
            OperationFailed: the action failed; the message is its own.
            InvalidInput, ServiceError: Mistral did not run it.
        """
        return await asyncio.to_thread(self.cloud.engine.run_action, name, inputs)

    async def operations(self, *, plan: str = "", status: str = "") -> list[Operation]:
        """The operations that the worker knows, oldest first.

        Raises:
            NoWorker: there is no worker, or it does not answer.
        """
        return await asyncio.to_thread(self.cloud.operations, plan=plan, status=status)

    async def close(self) -> None:
        """Leave every stream that is still open."""
        for each in list(self._open):
            await each.close()

    def _followed(self, execution: str, since: str, limits: Limits | None, contact: Contact) -> Run:
        run = Run(self.cloud, execution, since=since, limits=limits, contact=contact)
        self._open.append(run)
        return run
