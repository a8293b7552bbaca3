"""The program ``tripleo-worker``: finds its commands among the installed entry points."""

from __future__ import annotations

import importlib.metadata
import logging
import sys

from cliff.app import App
from cliff.commandmanager import CommandManager

from tripleo_worker.errors import InvalidInput, TripleOWorkerError

#: Exit codes: the command failed, its input was wrong, the user interrupted it.
FAILED, USAGE, INTERRUPTED = 1, 2, 130


class WorkerApp(App):
    """Reads the command line and runs a command of ``tripleo_worker.commands``."""

    def __init__(self) -> None:
        super().__init__(
            description="Deploy OpenStack overclouds through Mistral and watch them live.",
            version=importlib.metadata.version("tripleo-worker"),
            command_manager=CommandManager("tripleo_worker.commands"),
            deferred_help=True,
        )

    def run_subcommand(self, argv: list[str]) -> int:
        """Run a command; an error of ours is told in words, with its own exit code."""
        try:
            return int(super().run_subcommand(argv) or 0)
        except TripleOWorkerError as error:
            logging.getLogger(__name__).error("%s", error)
            return USAGE if isinstance(error, InvalidInput) else FAILED
        except KeyboardInterrupt:
            return INTERRUPTED


def main(argv: list[str] | None = None) -> int:
    """Run the program; returns the exit code."""
    return int(WorkerApp().run(sys.argv[1:] if argv is None else argv))


if __name__ == "__main__":
    sys.exit(main())
