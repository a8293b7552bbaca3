"""The watching of one operation: from what the client says to the drawing and the exit code."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

from tripleo_worker.cli import exits
from tripleo_worker.cli.drawing.plain import Silence
from tripleo_worker.cli.drawing.view import View
from tripleo_worker.cli.drawing.ways import Way, choose, console
from tripleo_worker.client.cloud import Cloud
from tripleo_worker.client.sync.run import Run
from tripleo_worker.errors import ServiceError, TripleOWorkerError
from tripleo_worker.operations import Operation

#: Commands to try next, by how an operation ended.
Steps = Callable[[Operation], list[str]]


def watch(run: Run, view: View, mode: str, steps: Steps) -> int:
    """Show a run until it ends, a limit passes or somebody presses Ctrl-C.

    Args:
        run: the execution that is followed.
        view: what is known of it already.
        mode: how it is shown, one of :data:`tripleo_worker.cli.command.MODES`.
        steps: gives the commands to try next.

    Returns:
        The exit code.
    """
    way: Way | None = None
    try:
        way = choose(mode, view, console())
        return _watched(run, way, steps)
    except KeyboardInterrupt:
        way = way or Silence(console())
        way.stop()
        way.parted("Detached; the operation goes on. Attach again with:", attach(run.execution_id))
        return exits.INTERRUPTED
    finally:
        run.close()


def _watched(run: Run, way: Way, steps: Steps) -> int:
    try:
        with warnings_to(way):
            for progress in run.beats():
                way.show(progress)
    except TripleOWorkerError as error:
        way.stop()
        way.failed(error)
        return exits.of_error(error)
    finally:
        way.stop()
    return _ended(run, way, steps)


def attach(execution: str) -> str:
    """The command that watches an execution."""
    return f"openstack overcloud progress watch --execution {execution}"


def earlier(cloud: Cloud) -> tuple[Operation, ...]:
    """What the worker knows of earlier operations; nothing where none answers."""
    try:
        return tuple(cloud.operations())
    except ServiceError:
        return ()


class Noting(Protocol):
    """Shows warnings to somebody."""

    def note(self, text: str) -> None:
        """Show one."""


@contextmanager
def warnings_to(way: Noting) -> Iterator[None]:
    """Show the client's warnings where they do not tear the picture."""
    logger = logging.getLogger("tripleo_worker.client")
    handler, kept = _Notes(way), logger.propagate
    logger.addHandler(handler)
    # With --debug the log is wanted whole, whatever becomes of the picture.
    logger.propagate = kept and _debugged()
    try:
        yield
    finally:
        logger.propagate = kept
        logger.removeHandler(handler)


class _Notes(logging.Handler):
    """Gives warnings to a way of drawing."""

    def __init__(self, way: Noting) -> None:
        super().__init__(logging.WARNING)
        self._way = way

    def emit(self, record: logging.LogRecord) -> None:
        self._way.note(record.getMessage())


def _debugged() -> bool:
    return any(handler.level <= logging.DEBUG for handler in logging.getLogger().handlers)


def _ended(run: Run, way: Way, steps: Steps) -> int:
    operation = run.operation
    if operation is None:
        way.note("The wait ended, but nothing is known of the operation.")
        return exits.FAILED
    way.finish(operation, steps(operation))
    return exits.of_status(operation.status)
