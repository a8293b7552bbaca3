"""Which execution a user means, and where its story begins."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from tripleo_worker.cli.drawing.view import View
from tripleo_worker.client.cloud import Cloud
from tripleo_worker.client.frames import EARLIEST
from tripleo_worker.errors import InvalidInput
from tripleo_worker.events import Position
from tripleo_worker.operations import Operation


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """An execution that can be watched."""

    id: str
    workflow: str = ""
    plan: str = ""
    #: A position just before its first event.
    since: str = EARLIEST

    def view(self, earlier: Sequence[Operation]) -> View:
        """What is known of it before its events come."""
        return View(workflow=self.workflow, plan=self.plan, earlier=tuple(earlier))


def execution(cloud: Cloud, wanted: str, latest: str, known: Sequence[Operation]) -> Found:
    """Find an execution.

    Args:
        cloud: where to ask for what the worker does not know.
        wanted: its id, or the word for the latest.
        latest: that word.
        known: the operations that the worker knows, oldest first.

    Raises:
        InvalidInput: there is none.
        ServiceError: Mistral, who had to be asked, does not answer.
    """
    matching = [one for one in known if wanted in (latest, one.execution_id)]
    if matching:
        return _begun(matching[-1])
    identifier = cloud.engine.latest() if wanted == latest else wanted
    if identifier is None:
        raise InvalidInput(
            "There is no operation yet.", remedy="Start one, e.g. `openstack overcloud deploy`."
        )
    return Found(id=identifier, workflow=cloud.engine.state(identifier).workflow)


def _begun(operation: Operation) -> Found:
    since = EARLIEST
    if operation.first_position:
        first = Position.parse(operation.first_position)
        since = str(Position(first.epoch, max(first.sequence - 1, 0)))
    return Found(
        id=operation.execution_id, workflow=operation.workflow, plan=operation.plan, since=since
    )
