"""The ways of drawing: live bars, plain lines, JSON lines, nothing; each reads the view."""

from __future__ import annotations

from typing import IO, Any, Protocol

from rich.console import Console

from tripleo_worker.cli.drawing.live import Bars
from tripleo_worker.cli.drawing.plain import Lines, Silence
from tripleo_worker.cli.drawing.records import JsonLines
from tripleo_worker.cli.drawing.view import View
from tripleo_worker.client.waiting import Progress
from tripleo_worker.errors import TripleOWorkerError
from tripleo_worker.operations import Operation


class Way(Protocol):
    """Shows a wait to somebody."""

    def show(self, progress: Progress | None) -> None:
        """Show what is new; None: nothing is, but time passed."""

    def note(self, text: str) -> None:
        """Show a warning."""

    def failed(self, error: TripleOWorkerError) -> None:
        """Show why the wait ended before the operation did."""

    def parted(self, text: str, command: str) -> None:
        """Show that the watching ended by itself, and the command that takes it up again."""

    def finish(self, operation: Operation, steps: list[str]) -> None:
        """Show the end, with commands to try next."""

    def stop(self) -> None:
        """Leave the terminal in order, whatever happened."""


def console(file: IO[str] | None = None, **options: Any) -> Console:
    """A console on standard error that takes every text as it is."""
    where: dict[str, Any] = {"stderr": True} if file is None else {"file": file}
    return Console(**where, highlight=False, markup=False, emoji=False, **options)


def choose(mode: str, view: View, target: Console) -> Way:
    """The way for a mode: ``auto``, ``tty``, ``plain``, ``json`` or ``none``."""
    if mode == "json":
        return JsonLines(view)
    if mode == "none":
        return Silence(target)
    bars = mode == "tty" or (mode == "auto" and target.is_terminal and not target.is_dumb_terminal)
    return Bars(view, target) if bars else Lines(view, target)
