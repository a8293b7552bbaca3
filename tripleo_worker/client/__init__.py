"""The client library: follow the stream, run workflows and wait for them.

::

    from tripleo_worker import client

    with client.connect("undercloud") as worker:
        run = worker.run("tripleo.deployment.v1.deploy_plan", {"container": "overcloud"})
        for progress in run:
            print(progress.operation.percent)
        print(run.wait().status)

``tripleo_worker.client.aio.connect`` gives the same with ``async with`` and ``async for``.
Importing this package is quick; what is slow to import comes with the first connection.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tripleo_worker.client.frames import Subscribed
    from tripleo_worker.client.sync.connection import Connection, connect
    from tripleo_worker.client.waiting import Contact, Limits, Progress
    from tripleo_worker.events import Event, Position, Status
    from tripleo_worker.operations import Operation

__all__ = [
    "Connection",
    "Contact",
    "Event",
    "Limits",
    "Operation",
    "Position",
    "Progress",
    "Status",
    "Subscribed",
    "connect",
]

_HOMES = {
    "Connection": "client.sync.connection",
    "Contact": "client.waiting",
    "Event": "events",
    "Limits": "client.waiting",
    "Operation": "operations",
    "Position": "events",
    "Progress": "client.waiting",
    "Status": "events",
    "Subscribed": "client.frames",
    "connect": "client.sync.connection",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"tripleo_worker.{_HOMES[name]}"), name)
