"""Sentences and rows that the ways of drawing share."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

from rich.console import Console
from rich.table import Table
from rich.text import Text

from tripleo_worker.cli.drawing.bars import ASCII, UNICODE, Signs
from tripleo_worker.cli.drawing.text import safe
from tripleo_worker.cli.drawing.view import Line
from tripleo_worker.client.waiting import Contact
from tripleo_worker.errors import TripleOWorkerError

Clock = Callable[[], datetime]

_STYLES = {"info": "", "good": "green", "bad": "red", "warning": "yellow"}


def today() -> datetime:
    """The time of day, in UTC."""
    return datetime.now(UTC)


def signs_for(target: Console) -> Signs:
    """The characters that the target can show."""
    return UNICODE if target.encoding.lower().startswith("utf") else ASCII


def back(before: Contact, missed: bool) -> tuple[str, str]:
    """What is said when the worker answers (again), and its mood."""
    if missed:
        return "The worker is back; its journal lost events, so some were not shown.", "warning"
    if before is Contact.POLLING:
        return "A worker answers; its events follow.", "good"
    return "The worker is back; nothing was missed.", "good"


def parting(text: str, command: str) -> Text:
    """A sentence with a command below it."""
    # The command is never broken into rows: it is there to be copied.
    return Text(f"{text}\n  ").append(command, style="cyan")


def told_error(error: TripleOWorkerError) -> Text:
    """An error, as the end of a wait."""
    return Text(safe(str(error)), style="red")


def wrapped(said: Line) -> Table:
    """A logged line whose further rows stand below its text, not below the time."""
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    when, text = _parts(said)
    grid.add_row(when, text)
    return grid


def logged(said: Line) -> Text:
    """A dated line, however long."""
    return Text("  ").join(_parts(said))


def _parts(said: Line) -> tuple[Text, Text]:
    when = Text(f"{said.time.astimezone():%H:%M:%S}", style="dim")
    return when, Text(safe(said.text), style=_STYLES[said.mood])
