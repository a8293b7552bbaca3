"""What the commands share: errors in words with an exit code, and the options of a wait."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from osc_lib.command import command

from tripleo_worker.cli import exits, plugin
from tripleo_worker.cli.drawing.text import safe
from tripleo_worker.errors import InvalidPosition, TripleOWorkerError
from tripleo_worker.events import Position

if TYPE_CHECKING:
    from tripleo_worker.client import Connection

MODES = ("auto", "tty", "plain", "json", "none")


class Telling(command.Command):
    """A command that tells its errors in a sentence and ends with the code of their kind."""

    def run(self, parsed_args: argparse.Namespace) -> int:
        """Run; ``--debug`` adds where an error came from."""
        try:
            return int(super().run(parsed_args))
        except TripleOWorkerError as error:
            self.log.debug("%s", type(error).__name__, exc_info=True)
            self.log.error("%s", safe(str(error)))
            return exits.of_error(error)
        except KeyboardInterrupt:
            self.log.error(
                "Interrupted. What was started goes on; see `openstack overcloud progress watch "
                "--execution @latest`."
            )
            return exits.INTERRUPTED

    @property
    def connection(self) -> Connection:
        """The chosen cloud's workflows and worker."""
        made: Connection = getattr(self.app.client_manager, plugin.API_NAME)
        return made


def add_drawing(parser: argparse.ArgumentParser) -> None:
    """Add the option that says how progress is shown."""
    parser.add_argument(
        "--progress",
        choices=MODES,
        default="auto",
        help="how progress is shown: bars on a terminal (tty), dated lines (plain), JSON lines on "
        "standard output (json) or not at all (none); auto, the default, takes tty where standard "
        "error is a terminal, else plain",
    )


def add_waiting(parser: argparse.ArgumentParser) -> None:
    """Add the options of a command that starts an operation."""
    parser.add_argument(
        "--wait",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="watch the operation to its end (the default), or print the id of its execution and "
        "leave it alone",
    )
    add_timeout(parser)
    add_drawing(parser)


def add_timeout(parser: argparse.ArgumentParser) -> None:
    """Add the option that limits a wait."""
    parser.add_argument(
        "--timeout",
        type=minutes,
        metavar="MIN",
        help="minutes after which the waiting ends, with exit code 3; the operation goes on",
    )


def minutes(text: str) -> float:
    """Read a limit in minutes, as seconds."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is no number of minutes above 0")
    return value * 60


def place(text: str) -> str:
    """Read a place in the stream."""
    if text not in ("earliest", "latest"):
        try:
            Position.parse(text)
        except InvalidPosition as error:
            raise argparse.ArgumentTypeError(
                f"{text[:80]!r} is no place in the stream; give earliest, latest or the "
                "EPOCH:SEQUENCE of an event"
            ) from error
    return text
