"""The program ``tripleo-worker``: finds its commands among the installed entry points."""

from __future__ import annotations

import importlib.metadata
import sys

from cliff.app import App
from cliff.command import Command
from cliff.commandmanager import CommandManager

from tripleo_worker.errors import InvalidInput

#: Exit codes: the input was wrong, the user interrupted the command. One that failed gives 1.
USAGE, INTERRUPTED = 2, 130


class WorkerApp(App):
    """Reads the command line and runs a command of ``tripleo_worker.commands``."""

    def __init__(self) -> None:
        super().__init__(
            description="Deploy OpenStack overclouds through Mistral and watch them live.",
            version=importlib.metadata.version("tripleo-worker"),
            command_manager=CommandManager("tripleo_worker.commands"),
            deferred_help=True,
        )
        self._error: BaseException | None = None

    def clean_up(self, cmd: Command, result: int, err: BaseException | None) -> None:
        """Keep the error with which a command ended: cliff itself only logs it."""
        self._error = err

    def run_subcommand(self, argv: list[str]) -> int:
        """Run a command; an error of ours is told in words, with its own exit code."""
        try:
            result = int(super().run_subcommand(argv) or 0)
        except KeyboardInterrupt:
            return INTERRUPTED
        return USAGE if isinstance(self._error, InvalidInput) else result


def main(argv: list[str] | None = None) -> int:
    """Run the program; returns the exit code."""
    return int(WorkerApp().run(sys.argv[1:] if argv is None else argv))


if __name__ == "__main__":
    sys.exit(main())
