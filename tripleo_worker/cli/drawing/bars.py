"""The live picture on a terminal: stages, the bar of resources, what goes on, the times."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

import msgspec
from rich.console import Group
from rich.text import Text

from tripleo_worker import operations
from tripleo_worker.cli.drawing.text import about, clipped, clock, lasting, safe
from tripleo_worker.cli.drawing.view import QUIET, View, leaves, stages
from tripleo_worker.client.waiting import Contact
from tripleo_worker.events import Status
from tripleo_worker.operations import Operation, Stage

#: Stages that are drawn; of more, the newest.
STAGES_DRAWN = 6
_BAR = 40


class Signs(msgspec.Struct, frozen=True):
    """The characters of the picture."""

    good: str = "✓"
    bad: str = "✗"
    off: str = "⊘"
    rest: str = "⏸"
    full: str = "━"
    empty: str = "─"
    dot: str = "·"
    spin: tuple[str, ...] = ("⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏")


ASCII = Signs(
    good="+", bad="x", off="o", rest="=", full="#", empty="-", dot="|", spin=("|", "/", "-", "\\")
)
UNICODE = Signs()


def picture(view: View, now: datetime, width: int, signs: Signs = UNICODE) -> Group:
    """The picture of a view.

    Args:
        view: what is drawn.
        now: the moment that is drawn.
        width: columns of the terminal.
        signs: characters that the terminal can show.
    """
    operation = view.operation
    parts: list[Text] = [_title(view, now, width, signs)]
    if operation is not None:
        parts += [_stage(each, now, signs) for each in stages(operation)[-STAGES_DRAWN:]]
        parts += _resources(operation, width, signs)
    parts.append(_times(view, now, signs))
    for part in parts:
        part.truncate(width, overflow="ellipsis")
    return Group(*parts)


def _title(view: View, now: datetime, width: int, signs: Signs) -> Text:
    text = Text(_spinner(now, signs), style="cyan")
    text.append(f" {safe(view.doing)}", style="bold")
    operation = view.operation
    if operation is not None and operation.action:
        text.append(f" {signs.dot} {safe(operation.action).lower()}", style="dim")
    if operation is not None and operation.status is Status.PAUSED:
        text.append(f" {signs.dot} paused", style="yellow")
    return text


def _stage(stage: Stage, now: datetime, signs: Signs) -> Text:
    sign, style = {
        Status.SUCCESS: (signs.good, "green"),
        Status.FAILED: (signs.bad, "red"),
        Status.CANCELLED: (signs.off, "yellow"),
        Status.PAUSED: (signs.rest, "yellow"),
    }.get(stage.status, (_spinner(now, signs), "cyan"))
    text = Text("  ")
    text.append(sign, style=style)
    going = stage.ended is None
    name = clipped(safe(stage.name).replace("_", " "), 36)
    text.append(f" {name:<36} ", style="" if going else "dim")
    text.append(lasting((stage.ended or max(now, stage.started)) - stage.started), style="dim")
    return text


def _resources(operation: Operation, width: int, signs: Signs) -> Iterator[Text]:
    counts = operation.resources
    if not counts.seen and counts.total is None:
        return
    text = Text("  ")
    if operation.percent is not None:
        text.append_text(_bar(operation, width, signs))
        text.append(f" {operation.percent:3.0f} %  ", style="bold")
    of = "" if counts.total is None else f" of {counts.total}"
    text.append(f"{counts.complete}{of} resources")
    if counts.failed:
        text.append(f" {signs.dot} {counts.failed} failed", style="red")
    yield text
    if operation.active:
        yield _active(operation, width)


def _bar(operation: Operation, width: int, signs: Signs) -> Text:
    size = max(min(_BAR, width - 44), 8)
    done = int(size * (operation.percent or 0) / 100)
    colour = "red" if operation.failures else "green"
    text = Text(signs.full * done, style=colour)
    text.append(signs.empty * (size - done), style="dim")
    return text


def _active(operation: Operation, width: int) -> Text:
    labels = [safe(label) for label in leaves(operation)]
    room = max(width - len("  now  and 9999 more"), 12)
    shown = clipped(labels[0], room)
    count = 1
    while count < len(labels) and len(f"{shown}, {labels[count]}") <= room:
        shown += f", {labels[count]}"
        count += 1
    more = operation.resources.in_progress - count - (len(operation.active) - len(labels))
    text = Text("  now ", style="dim")
    text.append(shown)
    if more > 0:
        text.append(f" and {more} more", style="dim")
    return text


def _times(view: View, now: datetime, signs: Signs) -> Text:
    operation = view.operation
    text = Text("  ", style="dim")
    if operation is None:
        text.append("waiting for the first event")
    else:
        text.append(f"elapsed {clock(operations.elapsed(operation, now))}")
        left = view.remaining(now)
        if left is not None:
            text.append(f" {signs.dot} {about(left)} left")
        quiet = int(operations.idle(operation, now).total_seconds())
        if quiet >= QUIET:
            text.append(f" {signs.dot} no event for {quiet} s", style="yellow")
    if view.contact is not Contact.LIVE:
        text.append(f" {signs.dot} {_CONTACTS[view.contact]}", style="yellow")
    return text


_CONTACTS = {
    Contact.RECONNECTING: "reconnecting to the worker",
    Contact.POLLING: "no worker: asking Mistral",
}


def _spinner(now: datetime, signs: Signs) -> str:
    return signs.spin[int(now.timestamp() * 8) % len(signs.spin)]
