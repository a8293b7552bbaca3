"""What people see, line for line: on a terminal of fixed size, in a log, in a pipe."""

from __future__ import annotations

import io
import json
from datetime import datetime, timedelta

import pytest
from rich.console import Console

from tests.unit.operations.scripts import (
    ROOT,
    WORKFLOW,
    announced,
    at,
    engine,
    message,
    placed,
    resource,
    task,
)
from tripleo_worker.cli.drawing.bars import ASCII, UNICODE, Signs, picture
from tripleo_worker.cli.drawing.live import Bars
from tripleo_worker.cli.drawing.plain import Lines, Silence
from tripleo_worker.cli.drawing.records import JsonLines
from tripleo_worker.cli.drawing.summary import summary
from tripleo_worker.cli.drawing.text import about, clock, lasting, safe
from tripleo_worker.cli.drawing.view import View, stages
from tripleo_worker.cli.drawing.ways import choose
from tripleo_worker.client.waiting import Contact, Progress
from tripleo_worker.errors import OperationTimedOut
from tripleo_worker.events import Event
from tripleo_worker.operations import Operation, fold, fold_all

STORY = [
    engine("RUNNING"),
    task("get_parameters", "RUNNING", seconds=1),
    task("get_parameters", "SUCCESS", seconds=3),
    task("create_stack", "RUNNING", seconds=3),
    announced(4, seconds=3),
    message("RUNNING", "Deploying plan overcloud.", seconds=4),
    resource("Network", "COMPLETE", seconds=5),
    resource("Controller", "IN_PROGRESS", seconds=6),
    resource("Compute", "IN_PROGRESS", seconds=7),
]
BROKEN = [
    resource(
        "Compute", "FAILED", seconds=8, reason="ValueError: resources.Compute: no \x1b[5mdisk"
    ),
    message("FAILED", "Heat says CREATE_FAILED", seconds=9, final=True),
]


def _folded(events: list[Event]) -> Operation:
    operation = fold_all(None, placed(events))
    assert operation is not None
    return operation


def _view(events: list[Event], **fields: object) -> View:
    known = _folded(events) if events else None
    return View(workflow=WORKFLOW, plan="overcloud", operation=known, **fields)  # type: ignore[arg-type]


def _drawn(what: object, width: int = 80) -> list[str]:
    console = Console(file=io.StringIO(), width=width, color_system=None, highlight=False)
    console.print(what)
    assert isinstance(console.file, io.StringIO)
    return [line.rstrip() for line in console.file.getvalue().splitlines()]


def _picture(view: View, seconds: float, width: int = 80, signs: Signs = UNICODE) -> list[str]:
    return _drawn(picture(view, at(seconds), width, signs), width)


class _Clock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> datetime:
        return at(self.seconds)


def test_the_picture_of_a_deployment() -> None:
    assert _picture(_view(STORY), 8) == [
        "⠼ Deploying overcloud · create",
        "  ✓ get parameters                       2.0 s",
        "  ⠼ create stack                         5.0 s",
        "  ━━━━━━━━━───────────────────────────  25 %  1 of 4 resources",
        "  now Compute, Controller",
        "  elapsed 0:08",
    ]


def test_the_picture_on_a_narrow_terminal_without_unicode() -> None:
    lines = _picture(_view([*STORY, BROKEN[0]]), 30, 40, ASCII)
    assert lines == [
        "| Deploying overcloud | create",
        "  + get parameters                     …",
        "  | create stack                       …",
        "  ##------  25 %  1 of 4 resources | 1 …",
        "  now Controller",
        "  elapsed 0:30 | no event for 22 s",
    ]
    assert all(len(line) <= 40 for line in lines)


def test_the_picture_before_anything_is_known() -> None:
    assert _picture(_view([], contact=Contact.POLLING), 0) == [
        "⠋ Deploying overcloud",
        "  waiting for the first event · no worker: asking Mistral",
    ]


def test_the_time_left_is_told_when_earlier_runs_tell_it() -> None:
    before = _folded([*STORY, message("SUCCESS", final=True, seconds=100)])
    import msgspec

    before = msgspec.structs.replace(before, execution_id="before")
    last = _picture(_view(STORY, earlier=(before,)), 20)[-1]
    assert last == "  elapsed 0:20 · about 1 min left · no event for 13 s"


def test_what_goes_on_is_named_by_its_leaves_as_far_as_there_is_room() -> None:
    own = "overcloud-Compute-lwtf2gi6z4tm"
    events = [
        announced(9),
        resource("Compute", "IN_PROGRESS", seconds=1),
        resource(own, "IN_PROGRESS", stack="s1", kind="OS::Heat::Stack", physical="s1"),
        *(resource(f"Node{n}", "IN_PROGRESS", stack="s1", seconds=2) for n in range(15)),
    ]
    line = _picture(_view(events), 3, 60)[2]
    assert line == "  now Compute.Node14, Compute.Node13 and 13 more"


def test_tasks_that_only_speak_are_no_stages() -> None:
    names = ["announce", "send_failed", "fail", "failover", "endpoints", "end", "start_stack"]
    view = _view([task(name, "RUNNING", seconds=at) for at, name in enumerate(names)])
    assert view.operation is not None
    assert [one.name for one in stages(view.operation)] == ["failover", "endpoints", "start_stack"]


def test_without_a_count_there_is_no_percentage() -> None:
    lines = _picture(_view([engine("RUNNING"), resource("A", "COMPLETE", seconds=1)]), 2)
    assert lines[1] == "  1 resources"


def test_the_summary_of_a_failure_tells_the_causes_first() -> None:
    told = summary("Deployment of overcloud", _folded([*STORY, *BROKEN]), at(99), ["try this"])
    assert _drawn(told) == [
        "✗ Deployment of overcloud failed after 9.0 s",
        "",
        "  Compute  OS::Heat::TestResource",
        "    no \\x1b[5mdisk",
        "",
        "  Heat says CREATE_FAILED",
        "",
        "  Plan       overcloud",
        "  Stack      overcloud",
        "  Resources  1 of 4 complete, 1 failed",
        f"  Execution  {ROOT}",
        "",
        "  Next",
        "    try this",
    ]


def test_a_log_keeps_long_texts_whole() -> None:
    target = Console(file=io.StringIO(), width=40, color_system=None)
    way = Lines(_view(STORY), target, _Clock())
    way.finish(_folded([*STORY, message("FAILED", "word " * 30, final=True)]), [])
    assert isinstance(target.file, io.StringIO)
    assert f"  {'word ' * 30}".rstrip() in target.file.getvalue().splitlines()


def test_a_message_that_only_repeats_the_causes_is_left_out() -> None:
    ended = [*STORY, BROKEN[0], message("FAILED", "Compute: no \x1b[5mdisk", final=True)]
    lines = _drawn(summary("It", _folded(ended), at(99), []))
    assert lines[2:6] == [
        "  Compute  OS::Heat::TestResource",
        "    no \\x1b[5mdisk",
        "",
        "  Plan       overcloud",
    ]


def test_plain_lines_from_start_to_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "UTC")
    target, now = Console(file=io.StringIO(), width=80, color_system=None), _Clock()
    way = Lines(View(workflow=WORKFLOW, plan="overcloud"), target, now)
    operation = None
    for event in placed([*STORY, *BROKEN]):
        now.seconds = (event.time - at(0)).total_seconds()
        operation = fold(operation, event)
        way.show(Progress(operation=operation, event=event, contact=Contact.LIVE))
    assert operation is not None
    assert isinstance(target.file, io.StringIO)
    lines = target.file.getvalue().splitlines()
    assert [line[8:] for line in lines] == [
        "  Deploying overcloud.",
        "  Stage: get parameters.",
        "  Stage: create stack.",
        "  Deploying plan overcloud.",
        "  25 %, 1 of 4 resources complete, 0 in progress, elapsed 0:05.",
        "  Compute: no \\x1b[5mdisk",
    ]
    way.finish(operation, [])
    assert "✗ Deployment of overcloud failed after 9.0 s" in target.file.getvalue()


def test_a_silent_log_still_says_that_it_lives() -> None:
    target, now = Console(file=io.StringIO(), width=80, color_system=None), _Clock()
    way = Lines(_view(STORY), target, now)
    assert isinstance(target.file, io.StringIO)
    for now.seconds in (20.0, 29.0, 31.0, 45.0):
        way.show(None)
    lines = target.file.getvalue().splitlines()
    assert [line[10:] for line in lines[1:]] == [
        "25 %, 1 of 4 resources complete, 2 in progress, elapsed 0:31, no event for 24 s."
    ]


@pytest.mark.parametrize(
    ("before", "missed", "words"),
    [
        (Contact.RECONNECTING, False, "nothing was missed"),
        (Contact.RECONNECTING, True, "lost events"),
        (Contact.POLLING, False, "A worker answers"),
    ],
)
def test_a_worker_that_is_back_is_told_truly(before: Contact, missed: bool, words: str) -> None:
    target = Console(file=io.StringIO(), width=200, color_system=None)
    way = Lines(_view(STORY, contact=before), target, _Clock())
    live = Progress(operation=way.view.operation, event=None, contact=Contact.LIVE, missed=missed)
    way.show(live)
    assert isinstance(target.file, io.StringIO)
    assert words in target.file.getvalue()


def test_bars_log_failures_above_and_leave_the_summary() -> None:
    target = Console(
        file=io.StringIO(), width=80, height=24, force_terminal=True, color_system=None
    )
    way = Bars(View(workflow=WORKFLOW, plan="overcloud"), target, _Clock())
    operation = None
    for event in placed([*STORY, *BROKEN]):
        operation = fold(operation, event)
        way.show(Progress(operation=operation, event=event, contact=Contact.LIVE))
    assert operation is not None
    way.finish(operation, ["next"])
    way.stop()
    assert isinstance(target.file, io.StringIO)
    told = target.file.getvalue()
    assert "Compute: no \\x1b[5mdisk" in told
    assert "✗ Deployment of overcloud failed" in told
    assert "\x1b[5m" not in told
    assert told.index("\x1b[?25l") < told.index("\x1b[?25h")


def test_json_lines_tell_all_kinds() -> None:
    file = io.StringIO()
    way = JsonLines(View(), file)
    (event,) = placed([message("SUCCESS", final=True)])
    way.show(None)
    way.show(Progress(operation=None, event=None, contact=Contact.RECONNECTING))
    way.show(Progress(operation=None, event=event, contact=Contact.LIVE))
    way.note("w")
    way.failed(OperationTimedOut("t", remedy="r"))
    way.finish(_folded([event]), [])
    keys = [next(iter(json.loads(line))) for line in file.getvalue().splitlines()]
    wanted = ["format", "contact", "contact", "event", "warning", "error", "operation"]
    assert keys == wanted


@pytest.mark.parametrize(
    ("mode", "terminal", "term", "kind"),
    [
        ("auto", True, "xterm", Bars),
        ("auto", False, "xterm", Lines),
        ("auto", True, "dumb", Lines),
        ("tty", False, "xterm", Bars),
        ("plain", True, "xterm", Lines),
        ("none", True, "xterm", Silence),
        ("json", True, "xterm", JsonLines),
    ],
)
def test_the_way_fits_the_terminal(mode: str, terminal: bool, term: str, kind: type) -> None:
    target = Console(file=io.StringIO(), force_terminal=terminal, _environ={"TERM": term}, width=80)
    way = choose(mode, View(), target)
    way.stop()
    assert type(way) is kind


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain é 漢字 ✓", "plain é 漢字 ✓"),
        ("\x1b[2J\x1b]0;title\x07", "\\x1b[2J\\x1b]0;title\\x07"),
        ("a\nb\tc\r", "a b c"),
        ("\x9b31m\u202egnp", "\\x9b31m\\u202egnp"),
        ("\ud800", "\\ud800"),
        ("[red]not markup[/red]", "[red]not markup[/red]"),
    ],
)
def test_nothing_that_a_terminal_would_obey_is_written(text: str, shown: str) -> None:
    assert safe(text) == shown


def test_times_as_people_read_them() -> None:
    spans = [0.04, 9.99, 42, 64, 7387]
    assert [lasting(timedelta(seconds=span)) for span in spans] == [
        "0.0 s",
        "10.0 s",
        "42 s",
        "1:04",
        "2:03:07",
    ]
    assert clock(timedelta(seconds=42.9)) == "0:42"
    guesses = [about(timedelta(seconds=span)) for span in (3, 44, 200, 7000)]
    assert guesses == ["a few seconds", "about 40 s", "about 3 min", "about 1.9 h"]
