"""What keeps the daemon going: sources that are started again, words to the service manager."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import threading
from collections.abc import Mapping
from datetime import UTC, datetime

from tripleo_worker.ports import Health, Sink, Source
from tripleo_worker.sources.service import pauses

LOG = logging.getLogger(__name__)

#: Longest pause before a source that fell is started again, in seconds.
LONGEST_PAUSE = 30.0
#: Seconds that a source has to run for its next fall to count as a first one.
STEADY = 60.0
#: Seconds that the daemon has to stop in.
STOP_LIMIT = 4.0


class Supervised:
    """A :class:`tripleo_worker.ports.Source` that is started again when it falls.

    Until it has contact again after a fall, its health tells of the fall.

    Args:
        source: the one to keep running.
        steady: seconds after which a run counts as good.
    """

    def __init__(self, source: Source, *, steady: float = STEADY) -> None:
        self.name = source.name
        self._source = source
        self._steady = steady
        self._fell: datetime | None = None
        self._times = 0
        self._trouble = ""

    async def run(self, sink: Sink) -> None:
        """See :meth:`tripleo_worker.ports.Source.run`."""
        loop = asyncio.get_running_loop()
        waits = pauses(LONGEST_PAUSE)
        while True:
            begun = loop.time()
            try:
                await self._source.run(sink)
                self._note("it ended by itself")
            except Exception as error:
                self._note(f"{type(error).__name__}: {error}")
                LOG.exception("%s fell", self.name, extra={"action": "source_fell"})
            if loop.time() - begun >= self._steady:
                waits = pauses(LONGEST_PAUSE)
            await asyncio.sleep(next(waits))

    def health(self) -> Health:
        """See :meth:`tripleo_worker.ports.Source.health`."""
        health = self._source.health()
        contact = health.last_contact
        if self._fell is None or (contact is not None and contact > self._fell):
            return health
        detail = (
            f"It fell at {self._fell:%H:%M:%S} UTC and is started again "
            f"(falls so far: {self._times}): {self._trouble}"
        )
        return Health(ok=False, detail=detail, last_contact=contact)

    def _note(self, trouble: str) -> None:
        self._fell, self._trouble = datetime.now(UTC), trouble
        self._times += 1


def tell_systemd(state: str) -> None:
    """Send a state to the service manager; nothing if there is none. See ``sd_notify(3)``."""
    address = os.environ.get("NOTIFY_SOCKET", "")
    if not address:
        return
    target = "\0" + address[1:] if address.startswith("@") else address
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as channel:
            channel.sendto(state.encode(), target)
    except OSError as error:
        # A manager that cannot be told must not stop what it manages.
        LOG.warning("The service manager cannot be told: %s", error, extra={"action": "notify"})


def watchdog_interval(environment: Mapping[str, str] = os.environ) -> float | None:
    """Seconds between two signs of life that systemd asks for; None: it asks for none.

    Half of the time after which it takes the daemon for dead. See ``sd_watchdog_enabled(3)``.
    """
    asked, whom = environment.get("WATCHDOG_USEC", ""), environment.get("WATCHDOG_PID", "")
    if not asked.isdecimal() or int(asked) == 0 or whom not in ("", str(os.getpid())):
        return None
    return int(asked) / 2_000_000


async def signs_of_life(interval: float) -> None:
    """Tell systemd again and again that the event loop turns, until cancelled."""
    while True:
        tell_systemd("WATCHDOG=1")
        await asyncio.sleep(interval)


def end_within(seconds: float) -> None:
    """End the process after a time with code 0, whatever still hangs in it.

    A library that waits for a broker or a service that is down cannot be interrupted. What
    it holds is not acknowledged and comes again; what is stored is stored.
    """
    timer = threading.Timer(seconds, _end)
    timer.daemon = True
    timer.start()


def _end() -> None:
    hanging = sorted(
        thread.name for thread in threading.enumerate() if not isinstance(thread, threading.Timer)
    )
    LOG.warning("Left what hangs: %s", ", ".join(hanging), extra={"action": "leave_threads"})
    logging.shutdown()
    os._exit(0)
