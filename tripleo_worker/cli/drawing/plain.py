"""Plain lines for a log, and silence."""

from __future__ import annotations

from datetime import timedelta

from rich.console import Console
from rich.text import Text

from tripleo_worker import operations
from tripleo_worker.cli.drawing.phrases import (
    Clock,
    back,
    logged,
    parting,
    signs_for,
    today,
    told_error,
)
from tripleo_worker.cli.drawing.summary import summary
from tripleo_worker.cli.drawing.text import about, clock, safe
from tripleo_worker.cli.drawing.view import QUIET, Line, View, stages
from tripleo_worker.client.waiting import Contact, Progress
from tripleo_worker.errors import TripleOWorkerError
from tripleo_worker.operations import Operation

#: Time between two lines of a plain log while nothing else is said.
HEARTBEAT = timedelta(seconds=30)
#: A plain log says each this many percent.
PERCENT_STEP = 10


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
        self._target.print(parting(text, command), soft_wrap=True)

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
            self._say(*back(before.contact, self.view.missed))
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
        self._target.print(logged(said), soft_wrap=True)


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
        self._target.print(told_error(error), soft_wrap=True)

    def parted(self, text: str, command: str) -> None:
        """Say it, and the command on a line of its own."""
        self._target.print(parting(text, command), soft_wrap=True)

    def finish(self, operation: Operation, steps: list[str]) -> None:
        """Show nothing."""

    def stop(self) -> None:
        """Nothing stands open."""
