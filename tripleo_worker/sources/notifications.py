"""Notifications on RabbitMQ: a queue of our own, acknowledged when the journal has them.

oslo.messaging consumes in a thread; each batch is handed to the event loop and waited for,
so that no more is in flight than the journal takes. What the journal cannot take goes back
to the broker. The queue is the pool's own: other consumers of the same notifications lose
nothing, and while the worker is down the broker keeps what comes, within the limits of its
policy for that queue.
"""

from __future__ import annotations

import asyncio
import time
import warnings
from collections.abc import Sequence
from concurrent.futures import CancelledError
from datetime import UTC, datetime
from typing import Any

from tripleo_worker.errors import JournalUnavailable
from tripleo_worker.events import Event
from tripleo_worker.ports import Batch, DeadLetter, Health, Sink
from tripleo_worker.sources import notices
from tripleo_worker.sources.health import Pulse
from tripleo_worker.sources.service import pauses

#: Messages that are taken at once, and the seconds that are waited for a batch to fill.
BATCH, GATHERED = 200, 0.01
#: Longest pause after failures, in seconds.
LONGEST_PAUSE = 10.0
#: Seconds before a batch that the journal refused goes back to the broker.
REFUSED_PAUSE = 0.5


def load() -> None:
    """Import oslo.messaging, with threads for its backend. To be called in the main thread.

    Where eventlet is installed, oslo.messaging's libraries import it; in a thread of a pool
    that leaves the thread's lock behind, and the daemon waits for the thread for ever.
    """
    with warnings.catch_warnings():
        # Of eventlet, which is imported only to see whether it is there.
        warnings.simplefilter("ignore")
        from oslo_service import backend

        # Before oslo.messaging, which else takes eventlet.
        backend.init_backend(backend.BackendType.THREADING)
        import oslo_messaging  # noqa: F401


class NotificationSource:
    """A :class:`tripleo_worker.ports.Source` over oslo.messaging.

    Args:
        conf: holds oslo.messaging's own options (``[oslo_messaging_rabbit]`` …).
        url: of the transport; None: ``[oslo_messaging_notifications] transport_url`` or
            ``transport_url`` of ``conf``.
        exchanges: of the services.
        topics: that they notify on.
        pool: name of our queue.
    """

    name = "notifications"

    def __init__(
        self,
        conf: Any,
        *,
        url: str | None,
        exchanges: Sequence[str],
        topics: Sequence[str],
        pool: str,
    ) -> None:
        self._conf = conf
        self._url = url
        self._exchanges = exchanges
        self._topics = topics
        self._pool = pool
        self._pulse = Pulse(self.name)

    def health(self) -> Health:
        """See :meth:`tripleo_worker.ports.Source.health`."""
        return self._pulse.health()

    async def run(self, sink: Sink) -> None:
        """See :meth:`tripleo_worker.ports.Source.run`."""
        endpoint = _Endpoint(sink, asyncio.get_running_loop(), self._pulse)
        waits = pauses(LONGEST_PAUSE)
        while True:
            try:
                listener = await asyncio.to_thread(self._listen, endpoint)
            except Exception as error:
                # kombu, amqp and oslo.messaging each have a tree of their own.
                self._pulse.fault(f"The broker cannot be reached: {error}")
                await asyncio.sleep(next(waits))
                continue
            self._pulse.beat()
            try:
                await asyncio.Event().wait()
            finally:
                endpoint.close()
                await asyncio.shield(asyncio.to_thread(_stop, listener))

    def _listen(self, endpoint: _Endpoint) -> Any:
        import oslo_messaging

        transport = oslo_messaging.get_notification_transport(self._conf, url=self._url)
        targets = [
            oslo_messaging.Target(exchange=exchange, topic=topic)
            for exchange in self._exchanges
            for topic in self._topics
        ]
        listener = oslo_messaging.get_batch_notification_listener(
            transport,
            targets,
            [endpoint],
            executor="threading",
            allow_requeue=True,
            pool=self._pool,
            batch_size=BATCH,
            batch_timeout=GATHERED,
        )
        listener.start()
        return listener


class _Endpoint:
    """Takes batches in oslo.messaging's thread; each method is a priority of the sender."""

    def __init__(self, sink: Sink, loop: asyncio.AbstractEventLoop, pulse: Pulse) -> None:
        self._sink = sink
        self._loop = loop
        self._pulse = pulse
        self._closed = False

    def close(self) -> None:
        """Let what still comes go back to the broker."""
        self._closed = True

    def take(self, messages: Sequence[dict[str, Any]]) -> str:
        """Hand a batch over; the answer tells oslo.messaging whether it is done with."""
        from oslo_messaging import NotificationResult

        requeue, handled = str(NotificationResult.REQUEUE), str(NotificationResult.HANDLED)
        if self._closed:
            return requeue
        batch = _batch(messages)
        try:
            asyncio.run_coroutine_threadsafe(self._sink.submit(batch), self._loop).result()
        except JournalUnavailable as error:
            self._pulse.fault(error)
            time.sleep(REFUSED_PAUSE)
            return requeue
        except (CancelledError, RuntimeError):
            # The loop is about to end: the broker gives them to the next run.
            return requeue
        self._pulse.beat()
        return handled

    info = warn = error = audit = debug = critical = sample = take


def _batch(messages: Sequence[dict[str, Any]]) -> Batch:
    now = datetime.now(UTC)
    read = [notices.read(message, now=now) for message in messages]
    return Batch(
        source=NotificationSource.name,
        events=tuple(one for one in read if isinstance(one, Event)),
        dead=tuple(one for one in read if isinstance(one, DeadLetter)),
    )


def _stop(listener: Any) -> None:
    listener.stop()
    listener.wait()
