"""The ways of drawing: live bars, plain lines, JSON lines, nothing; each reads the view."""

from __future__ import annotations

import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import IO, Any, Protocol

import msgspec
from rich.console import Console, ConsoleRenderable
from rich.live import Live
from rich.table import Table
from rich.text import Text

from tripleo_worker import operations
from tripleo_worker.cli.drawing.bars import ASCII, UNICODE, Signs, picture
from tripleo_worker.cli.drawing.summary import summary
from tripleo_worker.cli.drawing.text import about, clock, safe
from tripleo_worker.cli.drawing.view import QUIET, Line, View, stages
from tripleo_worker.client.waiting import Contact, Progress
from tripleo_worker.errors import TripleOWorkerError
from tripleo_worker.operations import Operation

#: Version of the JSON lines, told in their first.
FORMAT_VERSION = 1
#: Time between two lines of a plain log while nothing else is said.
HEARTBEAT = timedelta(seconds=30)
#: A plain log says each this many percent.
PERCENT_STEP = 10
_STYLES = {"info": "", "good": "green", "bad": "red", "warning": "yellow"}

Clock = Callable[[], datetime]


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


def today() -> datetime:
    """The time of day, in UTC."""
    return datetime.now(UTC)


def console(file: IO[str] | None = None, **options: Any) -> Console:
    """A console on standard error that takes every text as it is."""
    where: dict[str, Any] = {"stderr": True} if file is None else {"file": file}
    return Console(**where, highlight=False, markup=False, emoji=False, **options)


def signs_for(target: Console) -> Signs:
    """The characters that the target can show."""
    return UNICODE if target.encoding.lower().startswith("utf") else ASCII


class Bars:
    """A picture that stays in place, with a log that scrolls above it."""

    def __init__(self, view: View, target: Console, clock: Clock = today) -> None:
        self.view, self._target, self._clock = view, target, clock
        self._signs = signs_for(target)
        self._live = Live(self, console=target, refresh_per_second=8, transient=True)
        self._live.start()

    def __rich__(self) -> ConsoleRenderable:
        return picture(self.view, self._clock(), self._target.width, self._signs)

    def show(self, progress: Progress | None) -> None:
        """Take what is new; the picture follows at its own pace."""
        if progress is None:
            return
        before, self.view = self.view.contact, self.view.after(progress)
        if self.view.contact is Contact.LIVE and before is not Contact.LIVE:
            text, mood = _back(before, self.view.missed)
            self._live.console.print(_wrapped(Line(time=self._clock(), text=text, mood=mood)))
        if self.view.said is not None:
            self._live.console.print(_wrapped(self.view.said))

    def note(self, text: str) -> None:
        """Log a warning above the picture."""
        said = Line(time=self._clock(), text=text, mood="warning")
        self._live.console.print(_wrapped(said))

    def failed(self, error: TripleOWorkerError) -> None:
        """Say the error below what was logged."""
        self._target.print(_told(error), soft_wrap=True)

    def parted(self, text: str, command: str) -> None:
        """Say it, and the command on a line of its own."""
        self._target.print(_parting(text, command), soft_wrap=True)

    def finish(self, operation: Operation, steps: list[str]) -> None:
        """Put the summary in the place of the picture."""
        self._live.stop()
        told = summary(self.view.deed, operation, self._clock(), steps, self._signs)
        self._target.print()
        self._target.print(told)

    def stop(self) -> None:
        """Take the picture away and give the cursor back."""
        self._live.stop()


class Lines:
    """One dated line a thing that happened, and one now and then while nothing does."""

    def __init__(self, view: View, target: Console, clock: Clock = today) -> None:
        self.view, self._target, self._clock = view, target, clock
        self._last = self._now = clock()
        self._percent = 0
        self._stage = ""
        self._say(f"{view.doing}.")

    def show(self, progress: Progress | None) -> None:
        """Say what is new, if it is worth a line."""
        self._now = self._clock()
        if progress is not None:
            # What an event changed is dated by the event: a replay tells the times of then.
            self._now = progress.event.time if progress.event else self._now
            before, self.view = self.view, self.view.after(progress)
            self._changes(before)
            if self.view.said is not None:
                self._print(self.view.said)
        elif self._now - self._last >= HEARTBEAT:
            self._say(self._standing())

    def note(self, text: str) -> None:
        """Say a warning."""
        self._now = self._clock()
        self._say(text, mood="warning")

    def failed(self, error: TripleOWorkerError) -> None:
        """Say the error."""
        self._now = self._clock()
        self._say(str(error), mood="bad")

    def parted(self, text: str, command: str) -> None:
        """Say it, and the command on a line of its own."""
        self._target.print(_parting(text, command), soft_wrap=True)

    def finish(self, operation: Operation, steps: list[str]) -> None:
        """Say the summary."""
        signs = signs_for(self._target)
        told = summary(self.view.deed, operation, self._clock(), steps, signs, wrap=False)
        self._target.print()
        self._target.print(told, soft_wrap=True)

    def stop(self) -> None:
        """Nothing stands open."""

    def _changes(self, before: View) -> None:
        operation = self.view.operation
        if self.view.contact is Contact.LIVE and before.contact is not Contact.LIVE:
            self._say(*_back(before.contact, self.view.missed))
        if operation is None:
            return
        shown = stages(operation)
        if shown and shown[-1].name != self._stage:
            self._stage = shown[-1].name
            self._say(f"Stage: {self._stage.replace('_', ' ')}.")
        step = int((operation.percent or 0) // PERCENT_STEP)
        if step > self._percent:
            self._percent = step
            self._say(self._standing())

    def _standing(self) -> str:
        operation, now = self.view.operation, self._now
        if operation is None:
            return "Waiting for the first event."
        counts = operation.resources
        parts = [f"{operation.percent:.0f} %"] if operation.percent is not None else []
        if counts.seen:
            of = "" if counts.total is None else f" of {counts.total}"
            parts.append(f"{counts.complete}{of} resources complete")
            parts.append(f"{counts.in_progress} in progress")
        parts.append(f"elapsed {clock(operations.elapsed(operation, now))}")
        left = self.view.remaining(now)
        if left is not None:
            parts.append(f"{about(left)} left")
        quiet = int(operations.idle(operation, now).total_seconds())
        if quiet >= QUIET:
            parts.append(f"no event for {quiet} s")
        return ", ".join(parts) + "."

    def _say(self, text: str, mood: str = "info") -> None:
        self._print(Line(time=self._now, text=text, mood=mood))

    def _print(self, said: Line) -> None:
        self._last = self._clock()
        self._target.print(_logged(said), soft_wrap=True)


class JsonLines:
    """Data for programs on standard output: a version line, events, the result."""

    def __init__(self, view: View, file: IO[str] | None = None) -> None:
        self._file, self._contact = file or sys.stdout, view.contact
        self._write({"format": "tripleo-worker-progress", "version": FORMAT_VERSION})

    def show(self, progress: Progress | None) -> None:
        """Write what is new."""
        if progress is None:
            return
        if progress.contact is not self._contact:
            self._contact = progress.contact
            self._write({"contact": progress.contact})
        if progress.event is not None:
            self._write({"event": progress.event})

    def note(self, text: str) -> None:
        """Write a warning."""
        self._write({"warning": text})

    def failed(self, error: TripleOWorkerError) -> None:
        """Write the error."""
        said = {"code": error.code, "message": error.message, "remedy": error.remedy}
        self._write({"error": said})

    def parted(self, text: str, command: str) -> None:
        """Write it as a warning."""
        self.note(f"{text} {command}")

    def finish(self, operation: Operation, steps: list[str]) -> None:
        """Write the operation as it ended."""
        self._write({"operation": operations.brief(operation)})

    def stop(self) -> None:
        """Every line was flushed already."""

    def _write(self, record: dict[str, Any]) -> None:
        self._file.write(msgspec.json.encode(record).decode() + "\n")
        self._file.flush()


class Silence:
    """Nothing but warnings: the exit code tells the rest."""

    def __init__(self, target: Console) -> None:
        self._target = target

    def show(self, progress: Progress | None) -> None:
        """Show nothing."""

    def note(self, text: str) -> None:
        """Say a warning."""
        self._target.print(Text(safe(text), style="yellow"), soft_wrap=True)

    def failed(self, error: TripleOWorkerError) -> None:
        """Say the error."""
        self._target.print(_told(error), soft_wrap=True)

    def parted(self, text: str, command: str) -> None:
        """Say it, and the command on a line of its own."""
        self._target.print(_parting(text, command), soft_wrap=True)

    def finish(self, operation: Operation, steps: list[str]) -> None:
        """Show nothing."""

    def stop(self) -> None:
        """Nothing stands open."""


def choose(mode: str, view: View, target: Console) -> Way:
    """The way for a mode: ``auto``, ``tty``, ``plain``, ``json`` or ``none``."""
    if mode == "json":
        return JsonLines(view)
    if mode == "none":
        return Silence(target)
    bars = mode == "tty" or (mode == "auto" and target.is_terminal and not target.is_dumb_terminal)
    return Bars(view, target) if bars else Lines(view, target)


def _back(before: Contact, missed: bool) -> tuple[str, str]:
    """What is said when the worker answers (again), and its mood."""
    if missed:
        return "The worker is back; its journal lost events, so some were not shown.", "warning"
    if before is Contact.POLLING:
        return "A worker answers; its events follow.", "good"
    return "The worker is back; nothing was missed.", "good"


def _parting(text: str, command: str) -> Text:
    # The command is never broken into rows: it is there to be copied.
    return Text(f"{text}\n  ").append(command, style="cyan")


def _told(error: TripleOWorkerError) -> Text:
    return Text(safe(str(error)), style="red")


def _wrapped(said: Line) -> Table:
    """A logged line whose further rows stand below its text, not below the time."""
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    when, text = _parts(said)
    grid.add_row(when, text)
    return grid


def _logged(said: Line) -> Text:
    return Text("  ").join(_parts(said))


def _parts(said: Line) -> tuple[Text, Text]:
    when = Text(f"{said.time.astimezone():%H:%M:%S}", style="dim")
    return when, Text(safe(said.text), style=_STYLES[said.mood])
