"""Live bars on a terminal."""

from __future__ import annotations

from rich.console import Console, ConsoleRenderable
from rich.live import Live

from tripleo_worker.cli.drawing.bars import picture
from tripleo_worker.cli.drawing.phrases import (
    Clock,
    back,
    parting,
    signs_for,
    today,
    told_error,
    wrapped,
)
from tripleo_worker.cli.drawing.summary import summary
from tripleo_worker.cli.drawing.view import Line, View
from tripleo_worker.client.waiting import Contact, Progress
from tripleo_worker.errors import TripleOWorkerError
from tripleo_worker.operations import Operation


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
            text, mood = back(before, self.view.missed)
            self._live.console.print(wrapped(Line(time=self._clock(), text=text, mood=mood)))
        if self.view.said is not None:
            self._live.console.print(wrapped(self.view.said))

    def note(self, text: str) -> None:
        """Log a warning above the picture."""
        said = Line(time=self._clock(), text=text, mood="warning")
        self._live.console.print(wrapped(said))

    def failed(self, error: TripleOWorkerError) -> None:
        """Say the error below what was logged."""
        self._target.print(told_error(error), soft_wrap=True)

    def parted(self, text: str, command: str) -> None:
        """Say it, and the command on a line of its own."""
        self._target.print(parting(text, command), soft_wrap=True)

    def finish(self, operation: Operation, steps: list[str]) -> None:
        """Put the summary in the place of the picture."""
        self._live.stop()
        told = summary(self.view.deed, operation, self._clock(), steps, self._signs)
        self._target.print()
        self._target.print(told)

    def stop(self) -> None:
        """Take the picture away and give the cursor back."""
        self._live.stop()
