"""One execution, followed to its end."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator

from tripleo_worker.client.cloud import Cloud
from tripleo_worker.client.core import Lost
from tripleo_worker.client.frames import EARLIEST, Subscription
from tripleo_worker.client.sync.stream import Stream
from tripleo_worker.client.waiting import Contact, ExecutionState, Limits, Progress, Wait
from tripleo_worker.errors import InvalidInput, ServiceError, TripleOWorkerError
from tripleo_worker.operations import Operation

LOG = logging.getLogger(__name__)
#: Longest time in which nothing is looked at but the socket, in seconds.
BEAT = 0.25


class Run:
    """An execution that was started, or found, and is being followed.

    Iterating gives :class:`Progress` until the operation has ended; leaving the loop leaves
    the execution alone.
    """

    def __init__(
        self,
        cloud: Cloud,
        execution_id: str,
        *,
        since: str = EARLIEST,
        limits: Limits | None = None,
        contact: Contact = Contact.LIVE,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.execution_id = execution_id
        self._cloud, self._clock, self._sleep = cloud, clock, sleep
        self._wait = Wait(execution_id, limits or Limits(), clock(), contact)
        subscription = Subscription(execution=execution_id, since=since)
        self._stream: Stream | None = Stream(cloud, subscription, clock=clock, sleep=sleep)
        self._warned = contact is Contact.POLLING

    @property
    def contact(self) -> Contact:
        """By what way news comes now."""
        return self._wait.contact

    @property
    def operation(self) -> Operation | None:
        """The operation as it is known now."""
        return self._wait.operation

    def __iter__(self) -> Iterator[Progress]:
        return (progress for progress in self.beats() if progress is not None)

    def beats(self) -> Iterator[Progress | None]:
        """Progress as it comes, and None at least each :data:`BEAT` seconds without any.

        Raises:
            OperationTimedOut: a limit has passed while the execution went on.
            ContactLost: nobody answered for as long as the limits allow.
            InvalidInput: Mistral knows no such execution.
        """
        try:
            while not self._wait.finished(self._clock()):
                yield self._listen()
                yield from self._look()
        finally:
            self.close()

    def wait(self) -> Operation:
        """Follow to the end.

        Returns:
            The operation with its outcome, whichever that is.

        Raises:
            OperationTimedOut, ContactLost, InvalidInput: as for :meth:`beats`.
        """
        for _ in self.beats():
            pass
        operation = self._wait.operation
        if operation is None:
            raise ServiceError("The wait ended without an operation.")
        return operation

    def close(self) -> None:
        """Stop following; the execution goes on."""
        if self._stream is not None:
            self._stream.close()

    def _listen(self) -> Progress | None:
        if self._stream is None:
            self._sleep(BEAT)
            return None
        try:
            signal = self._stream.next(BEAT)
        except TripleOWorkerError as error:
            # The worker will not serve us; Mistral still tells the outcome.
            self._stream.close()
            self._stream, self._wait.contact = None, Contact.POLLING
            self._warn(str(error))
            return self._wait.shown()
        if isinstance(signal, Lost):
            self._warn(signal.reason)
        return None if signal is None else self._wait.take(signal, self._clock())

    def _look(self) -> Iterator[Progress]:
        now = self._clock()
        answer = self._wait.answered(self._ask(), now) if self._wait.due(now) else None
        for progress in (answer, self._wait.settled(self._clock())):
            if progress is not None:
                yield progress
        if self._wait.overdue(self._clock()):
            raise self._wait.expiry(self._ask(), self._clock())

    def _ask(self) -> ExecutionState | None:
        try:
            return self._cloud.engine.state(self.execution_id)
        except InvalidInput as error:
            if self._wait.operation is None:
                raise
            # Deleted in Mistral while the worker tells of it: the worker tells its end too.
            LOG.debug("Mistral has it no more: %s", error, extra={"action": "ask_mistral"})
            return None
        except ServiceError as error:
            LOG.debug("No answer from Mistral: %s", error, extra={"action": "ask_mistral"})
            return None

    def _warn(self, reason: str) -> None:
        if not self._warned:
            self._warned = True
            LOG.warning(
                "Contact to the worker is lost (%s); asking Mistral until it is back.",
                reason,
                extra={"action": "stream_lost"},
            )
