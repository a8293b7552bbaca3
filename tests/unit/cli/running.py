"""Runs a command of the plugin on scripted services, as the OpenStack client would."""

from __future__ import annotations

import io
import sys
from types import SimpleNamespace
from typing import Any

from tests.unit.client.scripted_worker import ScriptedEngine, ScriptedWorker, cloud
from tripleo_worker.client.sync.connection import Connection


def run(
    command: type[Any],
    *arguments: str,
    worker: ScriptedWorker | None = None,
    engine: ScriptedEngine | None = None,
) -> int:
    """Run a command; its exit code, that of a refused command line included."""
    connection = Connection(cloud(worker, engine or ScriptedEngine()))
    app = SimpleNamespace(
        client_manager=SimpleNamespace(tripleo_worker=connection),
        stdout=sys.stdout,
        stdin=io.StringIO(),
        NAME="openstack",
    )
    made = command(app, SimpleNamespace())
    try:
        code: int = made.run(made.get_parser("openstack command").parse_args(arguments))
    except SystemExit as left:
        code = int(left.code or 0)
    connection.close()
    return code
