"""Laws of the fold, over events in any order that keeps each source's own."""

from __future__ import annotations

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.operations.scripts import (
    ROOT,
    announced,
    engine,
    message,
    placed,
    resource,
    task,
)
from tripleo_worker.events import Event, Status
from tripleo_worker.operations import Operation, fold, fold_all

_seconds = st.integers(0, 100)
_words = st.sampled_from(["IN_PROGRESS", "COMPLETE", "FAILED"])
_heat = st.builds(
    resource,
    st.sampled_from(["Controller", "Compute", "0", "1"]),
    _words,
    seconds=_seconds,
    stack=st.sampled_from(["s0", "s1"]),
    reason=st.sampled_from(["state changed", "boom", "E: resources.0: boom", "CREATE aborted"]),
)
_states = st.sampled_from(["RUNNING", "PAUSED", "SUCCESS", "FAILED", "CANCELLED", "nonsense"])
_said = st.builds(message, _states, st.text(max_size=5), seconds=_seconds, final=st.booleans())
_tasks = st.builds(task, st.sampled_from("abc"), _states, seconds=_seconds)
_engine = st.builds(engine, _states, seconds=_seconds, final=st.booleans())
_announced = st.builds(announced, st.none() | st.integers(-1, 9), seconds=_seconds)
_any = st.one_of(_heat, _said, _tasks, _engine, _announced)


def _final(status: str) -> Event:
    return message(status, "the end", seconds=50, final=True)


@given(st.lists(_any, max_size=30), st.integers(0, 30))
def test_replay_is_live(events: list[Event], cut: int) -> None:
    stream = list(placed(events))
    whole = fold_all(None, stream)
    live = None
    for event in stream:
        live = fold(live, event)
    assert live == whole
    assert fold_all(fold_all(None, stream[:cut]), stream[cut:]) == whole


@given(st.lists(_any, min_size=1, max_size=30), st.data())
def test_what_was_folded_adds_nothing_again(events: list[Event], data: st.DataObject) -> None:
    stream = list(placed(events))
    whole = fold_all(None, stream)
    assert fold(whole, data.draw(st.sampled_from(stream))) is whole


@given(st.lists(_any), st.sampled_from(["SUCCESS", "FAILED", "CANCELLED"]), st.lists(_any))
def test_a_terminal_state_never_changes(
    before: list[Event], status: str, after: list[Event]
) -> None:
    running = [event for event in before if not event.final]
    stream = list(placed([*running, _final(status), *after]))
    ended = fold_all(None, stream[: len(running) + 1])
    later = fold_all(ended, stream[len(running) + 1 :])
    assert ended is not None
    assert later is not None
    for name in ("status", "ended", "message", "started"):
        assert getattr(later, name) == getattr(ended, name)


@given(st.lists(_any, min_size=1))
def test_only_a_final_event_ends(events: list[Event]) -> None:
    op = fold_all(None, placed(events))
    assert op is not None
    finals = [
        event
        for event in events
        if event.final and event.data.status is not None and event.data.status.terminal
    ]
    assert op.terminal == bool(finals)
    if finals:
        assert (op.status, op.ended) == (finals[0].data.status, finals[0].time)


@given(st.lists(_any, min_size=1, max_size=40))
def test_counts_add_up_and_percent_is_a_count(events: list[Event]) -> None:
    op = fold_all(None, placed(events))
    assert op is not None
    counts = op.resources
    assert counts.seen == counts.complete + counts.failed + counts.in_progress
    assert min(counts.complete, counts.failed, counts.in_progress) >= 0
    assert len(op.ledger) == counts.seen
    assert op.percent is None or 0 <= op.percent <= 100
    assert (op.percent is None) == (counts.expected is None)


@given(st.data())
def test_sources_may_overtake_each_other(data: st.DataObject) -> None:
    heat = data.draw(st.lists(_heat, max_size=12))
    own = [engine("RUNNING", seconds=1), task("a", "RUNNING", seconds=2), engine("SUCCESS")]
    said = [message("RUNNING", "starts", seconds=3), _final("SUCCESS")]
    one = fold_all(None, placed([*heat, *own, *said]))
    other = fold_all(None, placed(data.draw(_merged(heat, own, said))))
    assert one is not None
    assert other is not None
    assert _end(one) == _end(other)


@given(st.lists(_any, max_size=20))
def test_an_operation_reads_back_as_written(events: list[Event]) -> None:
    op = fold_all(None, placed(events))
    if op is not None:
        assert msgspec.json.decode(msgspec.json.encode(op), type=Operation) == op
        assert op.execution_id == ROOT


def _end(op: Operation) -> tuple[object, ...]:
    return (op.status, op.resources, op.failures, op.ledger, op.active, op.stages, op.percent)


@st.composite
def _merged(draw: st.DrawFn, *sources: list[Event]) -> list[Event]:
    queues = [list(source) for source in sources]
    merged = []
    while any(queues):
        queue = draw(st.sampled_from([queue for queue in queues if queue]))
        merged.append(queue.pop(0))
    return merged


def test_status_is_what_the_final_event_says() -> None:
    op = fold_all(
        None, placed([engine("RUNNING"), _final("FAILED"), engine("SUCCESS", seconds=60)])
    )
    assert op is not None
    assert op.status is Status.FAILED
