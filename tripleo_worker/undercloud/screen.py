"""Shows how the units fare while the undercloud starts: plain lines, or live on a terminal."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import Self, TextIO

from rich.console import Console
from rich.live import Live
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from tripleo_worker.undercloud.state import Report, UnitReport, UnitState

_COLOURS = {
    UnitState.RUNNING: "green",
    UnitState.DONE: "green",
    UnitState.FAILED: "bold red",
    UnitState.BACKOFF: "yellow",
    UnitState.STARTING: "cyan",
}


class Lines:
    """One line for each change that matters, for logs and pipes."""

    def __init__(self, file: TextIO | None = None) -> None:
        self._file = file or sys.stderr
        self._shown: dict[str, UnitState] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        return None

    def show(self, report: Report) -> None:
        """Print what changed since the last report."""
        for unit in report.units:
            new = self._shown.get(unit.name) is not unit.state
            self._shown[unit.name] = unit.state
            if new and unit.state not in {UnitState.WAITING, UnitState.STARTING}:
                print(line(unit), file=self._file, flush=True)

    def say(self, text: str) -> None:
        """Print words."""
        print(text, file=self._file, flush=True)


class LiveTable:
    """A table that changes in place, for a terminal."""

    def __init__(self) -> None:
        self._console = Console(stderr=True)
        self._live = Live(console=self._console, refresh_per_second=8, transient=False)

    def __enter__(self) -> Self:
        self._live.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._live.__exit__(kind, error, trace)

    def show(self, report: Report) -> None:
        """Draw the report."""
        self._live.update(_table(report))

    def say(self, text: str) -> None:
        """Print words above the table."""
        self._console.print(text, highlight=False)


def screen() -> Lines | LiveTable:
    """What suits standard error."""
    return LiveTable() if sys.stderr.isatty() else Lines()


def line(unit: UnitReport) -> str:
    """A unit in one line."""
    took = f"{unit.took:5.1f} s" if unit.took is not None else ""
    return f"{unit.name:<18} {unit.state.value:<8} {took:>8}  {unit.detail}".rstrip()


def _table(report: Report) -> Table:
    table = Table.grid(padding=(0, 2))
    for unit in report.units:
        table.add_row(_sign(unit), *_cells(unit))
    return table


def _sign(unit: UnitReport) -> Spinner | Text:
    if unit.state is UnitState.STARTING:
        return Spinner("dots", style="cyan")
    signs = {UnitState.RUNNING: "✔", UnitState.DONE: "✔", UnitState.FAILED: "✘"}
    return Text(signs.get(unit.state, "·"), style=_COLOURS.get(unit.state, "dim"))


def _cells(unit: UnitReport) -> tuple[Text, Text, Text, Text]:
    colour = _COLOURS.get(unit.state, "dim")
    took = f"{unit.took:.1f} s" if unit.took is not None else ""
    return (
        Text(unit.name),
        Text(unit.state.value, style=colour),
        Text(took, style="dim", justify="right"),
        Text(unit.detail, style="dim"),
    )
