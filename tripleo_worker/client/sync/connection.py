"""The client's front door: connect to a cloud, follow its stream, run its workflows."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from types import TracebackType
from typing import Any, Self

from tripleo_worker.client.cloud import Cloud, from_clouds_yaml
from tripleo_worker.client.core import Lost
from tripleo_worker.client.frames import EARLIEST, LATEST, Subscribed, Subscription
from tripleo_worker.client.sync.run import BEAT, Run
from tripleo_worker.client.sync.stream import Stream
from tripleo_worker.client.waiting import Contact, Limits
from tripleo_worker.errors import NoWorker
from tripleo_worker.events import Event, Position
from tripleo_worker.operations import Operation

LOG = logging.getLogger(__name__)


def connect(
    cloud: str | None = None, *, session: Any = None, endpoint: str | None = None
) -> Connection:
    """Connect to a cloud.

    Args:
        cloud: its name in clouds.yaml; without it what ``OS_*`` says.
        session: a keystoneauth session to use instead.
        endpoint: the worker's URL, where the service catalog does not have it.

    Raises:
        ServiceError: the cloud's settings cannot be used.
    """
    if session is not None:
        return Connection(Cloud(session, endpoint=endpoint))
    return Connection(from_clouds_yaml(cloud, endpoint=endpoint))


class Connection:
    """A cloud's workflows and the worker that watches them."""

    def __init__(self, cloud: Cloud) -> None:
        self.cloud = cloud
        self._open: list[Stream | Run] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def follow(
        self,
        *,
        execution: str = "",
        plan: str = "",
        type: str = "",
        since: str | Position = LATEST,
    ) -> Iterator[Event | Subscribed]:
        """Every event that matches, in order, once, for ever.

        The iterator mends itself: lost connections, a worker that restarts and a token that
        expires cost one warning in the log and no event.

        Args:
            execution: this execution, or this root execution and all below it.
            plan: events of one plan.
            type: prefix of the event type.
            since: ``earliest``, ``latest`` or the position of the last event seen.

        Yields:
            Events; and where the journal does not reach back to the position, once the
            :class:`Subscribed` that says so, with the operations as they are.

        Raises:
            NotAuthenticated, NotAuthorised, StreamClosed: the worker refuses for good.
        """
        wanted = Subscription(execution=execution, plan=plan, type=type, since=str(since))
        stream = Stream(self.cloud, wanted)
        self._open.append(stream)
        try:
            while True:
                signal = stream.next(BEAT)
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
            stream.close()
            self._open.remove(stream)

    def run(self, workflow: str, inputs: Mapping[str, Any], *, limits: Limits | None = None) -> Run:
        """Start a workflow and follow it; the place in the stream is taken before the start.

        Raises:
            InvalidInput, ServiceError: Mistral did not start it.
        """
        try:
            since, contact = self.cloud.position(), Contact.LIVE
        except NoWorker as error:
            # Mistral tells the outcome without a worker; one that comes later tells the rest.
            since, contact = EARLIEST, Contact.POLLING
            LOG.warning("%s Only start and end will be seen.", error, extra={"action": "no_worker"})
        execution = self.cloud.engine.start(workflow, inputs)
        return self._followed(execution, since, limits, contact)

    def watch(
        self, execution: str, *, since: str | Position = EARLIEST, limits: Limits | None = None
    ) -> Run:
        """Follow an execution that runs already, or has ended."""
        return self._followed(execution, str(since), limits, Contact.LIVE)

    def action(self, name: str, inputs: Mapping[str, Any]) -> Any:
        """Run a single Mistral action and wait for its result.

        Raises:
            OperationFailed: the action failed; the message is its own.
            InvalidInput, ServiceError: Mistral did not run it.
        """
        return self.cloud.engine.run_action(name, inputs)

    def operations(self, *, plan: str = "", status: str = "") -> list[Operation]:
        """The operations that the worker knows, oldest first.

        Raises:
            NoWorker: there is no worker, or it does not answer.
        """
        return self.cloud.operations(plan=plan, status=status)

    def close(self) -> None:
        """Leave every stream that is still open."""
        for each in list(self._open):
            each.close()

    def _followed(self, execution: str, since: str, limits: Limits | None, contact: Contact) -> Run:
        run = Run(self.cloud, execution, since=since, limits=limits, contact=contact)
        self._open.append(run)
        return run
