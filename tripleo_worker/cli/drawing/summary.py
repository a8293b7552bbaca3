"""The last word: failures first, then what stands, then what to do next."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from rich.console import Group
from rich.padding import Padding
from rich.text import Text

from tripleo_worker import operations
from tripleo_worker.cli.drawing.bars import UNICODE, Signs
from tripleo_worker.cli.drawing.text import lasting, safe
from tripleo_worker.events import Status
from tripleo_worker.operations import Failure, Operation

#: Failures that are told in full; the rest are counted.
FAILURES_TOLD = 8


def summary(
    title: str,
    operation: Operation,
    now: datetime,
    steps: list[str],
    signs: Signs = UNICODE,
    *,
    wrap: bool = True,
) -> Group:
    """What is drawn when an operation has ended.

    Args:
        title: what was done, e.g. ``Deployment of overcloud``.
        operation: as it ended.
        now: the moment that is drawn.
        steps: commands to try next.
        signs: characters that the terminal can show.
        wrap: whether long texts are broken at the width; a log keeps them whole.
    """
    parts: list[Text | Padding] = [_verdict(title, operation, now, signs)]
    if operation.failures:
        parts += _failures(operation.failures, wrap)
    if _adds(operation):
        parts += [Text(), _indented(operation.message, 2, wrap)]
    parts += [Text(), *_facts(operation)]
    if steps:
        parts += [Text(), Text("  Next", style="bold")]
        parts += [Text(f"    {safe(step)}", style="cyan") for step in steps]
    return Group(*parts)


def _adds(operation: Operation) -> bool:
    """Whether the message says more than the verdict and the failures do."""
    repeats = any(failure.cause in operation.message for failure in operation.failures)
    return bool(operation.message) and operation.status is not Status.SUCCESS and not repeats


def _verdict(title: str, operation: Operation, now: datetime, signs: Signs) -> Text:
    sign, word, style = {
        Status.SUCCESS: (signs.good, "succeeded", "bold green"),
        Status.FAILED: (signs.bad, "failed", "bold red"),
        Status.CANCELLED: (signs.off, "was cancelled", "bold yellow"),
    }.get(operation.status, (signs.rest, f"is {operation.status}", "bold yellow"))
    spent = lasting(operations.elapsed(operation, now))
    return Text(f"{sign} {safe(title)} {word} after {spent}", style=style)


def _indented(text: str, columns: int, wrap: bool) -> Text | Padding:
    if wrap:
        return Padding(Text(safe(text)), (0, 0, 0, columns))
    return Text(" " * columns + safe(text))


def _failures(failures: tuple[Failure, ...], wrap: bool) -> Iterator[Text | Padding]:
    yield Text()
    for failure in failures[:FAILURES_TOLD]:
        head = Text("  ")
        head.append(safe(failure.label), style="bold red")
        if failure.type:
            head.append(f"  {safe(failure.type)}", style="dim")
        yield head
        yield _indented(failure.cause, 4, wrap)
    if len(failures) > FAILURES_TOLD:
        yield Text(f"  and {len(failures) - FAILURES_TOLD} more", style="dim")


def _facts(operation: Operation) -> Iterator[Text]:
    counts = operation.resources
    of = "" if counts.total is None else f" of {counts.total}"
    failed = f", {counts.failed} failed" if counts.failed else ""
    facts = {
        "Plan": operation.plan,
        "Stack": f"{operation.stack_name} {operation.stack_status}".strip(),
        "Resources": f"{counts.complete}{of} complete{failed}" if counts.seen else "",
        "Execution": operation.execution_id,
    }
    for name, value in facts.items():
        if value:
            text = Text(f"  {name:<11}", style="dim")
            text.append(safe(value), style="default not dim")
            yield text
