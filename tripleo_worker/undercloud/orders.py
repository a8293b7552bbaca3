"""What a command asks of the running supervisor: a file, and SIGHUP to say that it is there."""

from __future__ import annotations

import contextlib
import os
import signal

import msgspec

from tripleo_worker.undercloud.files import write_private
from tripleo_worker.undercloud.layout import Layout
from tripleo_worker.undercloud.state import Report


class Order(msgspec.Struct, frozen=True, kw_only=True):
    """One order; the supervisor's report names the last one that it took up."""

    generation: int = 0
    #: Services to start anew.
    restart: tuple[str, ...] = ()


def read(layout: Layout) -> Order:
    """The last order; an empty one if there is none."""
    try:
        return msgspec.json.decode((layout.run / "order.json").read_bytes(), type=Order)
    except (OSError, msgspec.DecodeError):
        return Order()


def clear(layout: Layout) -> None:
    """Forget the last order, before a supervisor starts."""
    (layout.run / "order.json").unlink(missing_ok=True)


def send(layout: Layout, report: Report, restart: tuple[str, ...] = ()) -> Order:
    """Ask the supervisor that wrote the report."""
    order = Order(generation=report.generation + 1, restart=restart)
    write_private(layout.run / "order.json", msgspec.json.encode(order).decode())
    with contextlib.suppress(ProcessLookupError):
        os.kill(report.pid, signal.SIGHUP)
    return order
