"""Starting a workflow for a command: watched to its end, or left alone."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from typing import Any

from tripleo_worker.cli import exits, watching
from tripleo_worker.cli.drawing.view import View
from tripleo_worker.client.sync.connection import Connection
from tripleo_worker.client.waiting import Limits


def start(
    connection: Connection,
    workflow: str,
    inputs: Mapping[str, Any],
    plan: str,
    options: argparse.Namespace,
    steps: watching.Steps,
) -> int:
    """Start a workflow; with ``--wait`` watch it, without print its execution's id.

    The place in the stream is taken before the workflow is started, so that one which ends
    at once is reported too.

    Returns:
        The exit code.
    """
    if not options.wait:
        execution = connection.cloud.engine.start(workflow, inputs)
        print(execution)
        print(f"Watch it with: {watching.attach(execution)}", file=sys.stderr)
        return exits.SUCCESS
    known = watching.earlier(connection.cloud)
    run = connection.run(workflow, inputs, limits=Limits(deadline=options.timeout))
    view = View(workflow=workflow, plan=plan, contact=run.contact, earlier=known)
    return watching.watch(run, view, options.progress, steps)
