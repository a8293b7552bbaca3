"""What the supervisor says of itself and its units: one file, replaced at every change."""

from __future__ import annotations

import enum
from datetime import datetime

import msgspec
import psutil

from tripleo_worker.undercloud.files import write_private
from tripleo_worker.undercloud.layout import Layout


class UnitState(enum.StrEnum):
    """Where a unit stands."""

    #: Something that it needs is not ready.
    WAITING = "waiting"
    STARTING = "starting"
    #: A service is ready.
    RUNNING = "running"
    #: A step has succeeded, in this start or an earlier one.
    DONE = "done"
    #: It died and is started again after a pause.
    BACKOFF = "backoff"
    #: It died too often before it was ready, or a step went wrong: it is not tried again.
    FAILED = "failed"
    STOPPING = "stopping"
    STOPPED = "stopped"

    @property
    def good(self) -> bool:
        """Whether the unit does what it is for."""
        return self in {UnitState.RUNNING, UnitState.DONE}


class UnitReport(msgspec.Struct, frozen=True, kw_only=True):
    """One unit."""

    name: str
    #: ``service``, ``once`` or ``task``.
    kind: str
    state: UnitState
    pid: int | None = None
    #: Its first listener; None if it has none.
    port: int | None = None
    #: Times that it was started again after it died.
    restarts: int = 0
    #: When the state was entered.
    since: datetime
    #: Seconds from its start to readiness, or that a step took.
    took: float | None = None
    #: A sentence for people.
    detail: str = ""


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """The supervisor and all its units."""

    pid: int
    #: Start time of the supervisor's process as the kernel counts it: tells a reused pid.
    started: float
    #: Counts the requests that the supervisor has taken up.
    generation: int = 0
    units: tuple[UnitReport, ...] = ()

    def alive(self) -> bool:
        """Whether the supervisor that wrote this still runs."""
        try:
            process = psutil.Process(self.pid)
            return (
                abs(process.create_time() - self.started) < 1
                and process.status() != psutil.STATUS_ZOMBIE
            )
        except psutil.Error:
            return False


def write(layout: Layout, report: Report) -> None:
    """Replace the state file."""
    write_private(layout.state, msgspec.json.encode(report).decode())


def read(layout: Layout) -> Report | None:
    """What was last written; None if nothing was or it cannot be read."""
    try:
        return msgspec.json.decode(layout.state.read_bytes(), type=Report)
    except (OSError, msgspec.DecodeError):
        return None
