"""Laws of the wait: one outcome, the root's own; noticed with no message at all."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.operations.scripts import ROOT, at, engine, message, placed, resource
from tripleo_worker.client.core import Back, Lost, Signal
from tripleo_worker.client.frames import Heartbeat, Subscribed
from tripleo_worker.client.waiting import (
    ASK_WHEN_SILENT,
    ASK_WITHOUT_STREAM,
    CAUSES_MAY_FOLLOW,
    GRACE,
    Contact,
    ExecutionState,
    Limits,
    Wait,
)
from tripleo_worker.errors import ContactLost, OperationTimedOut
from tripleo_worker.events import Event, Status
from tripleo_worker.operations import fold_all


def _wait(**limits: float | None) -> Wait:
    return Wait(ROOT, Limits(**limits), 0.0)


def _state(status: Status, text: str = "") -> ExecutionState:
    return ExecutionState(
        id=ROOT, workflow="w", status=status, message=text, created=at(0), updated=at(9)
    )


def _child(event: Event) -> Event:
    return msgspec.structs.replace(event, executionid="child")


def _foreign(event: Event) -> Event:
    return msgspec.structs.replace(event, executionid="other", rootexecutionid="other")


_words = st.sampled_from(["RUNNING", "SUCCESS", "FAILED", "CANCELLED", "PAUSED", "nonsense"])
_no_end = st.one_of(
    st.builds(message, _words, st.text(max_size=3)),
    st.builds(engine, _words),
    st.builds(message, _words, final=st.just(True)).map(_foreign),
    st.builds(message, _words).map(_child),
)
_between = st.sampled_from([Lost(reason="x"), Back(recovered=True), Heartbeat(position="e1:1")])


@given(st.lists(_no_end | _between, max_size=25))
def test_nothing_but_the_roots_final_event_ends_a_wait(signals: list[Signal]) -> None:
    wait = _wait()
    events = iter(placed(one for one in signals if isinstance(one, Event)))
    for now, signal in enumerate(signals):
        wait.take(next(events) if isinstance(signal, Event) else signal, float(now))
    assert not wait.finished(999.0)


@given(
    st.lists(_no_end, max_size=10),
    st.sampled_from(["SUCCESS", "FAILED", "CANCELLED"]),
    st.lists(_no_end, max_size=10),
)
def test_the_outcome_is_the_final_events_and_stands(
    before: list[Event], word: str, after: list[Event]
) -> None:
    wait = _wait()
    stream = list(placed([*before, message(word, "end", final=True), *after]))
    for now, event in enumerate(stream):
        wait.take(event, float(now))
    assert wait.finished(len(stream) + CAUSES_MAY_FOLLOW)
    assert wait.operation == fold_all(None, [e for e in stream if e.rootexecutionid == ROOT])
    assert wait.operation is not None
    assert wait.operation.status == word


@given(st.lists(_no_end | _between, max_size=12), st.sampled_from(list(Status)))
def test_a_silent_death_is_found_by_asking(signals: list[Signal], status: Status) -> None:
    wait, now = _wait(), 0.0
    events = iter(placed(one for one in signals if isinstance(one, Event)))
    for signal in signals:
        now += 1
        wait.take(next(events) if isinstance(signal, Event) else signal, now)
    asked = ended = None
    while now < 60 and not wait.finished(now):
        now += 0.25
        if wait.due(now):
            asked = asked or now
            wait.answered(_state(status), now)
        wait.settled(now)
    assert asked is not None
    assert asked <= len(signals) + ASK_WHEN_SILENT + 0.25
    ended = now if wait.finished(now) else None
    assert (ended is not None) == status.terminal
    if ended is not None:
        assert ended <= asked + GRACE + CAUSES_MAY_FOLLOW + 0.5
        assert wait.operation is not None
        assert wait.operation.status is status
        assert wait.operation.message


def test_without_a_stream_mistral_is_asked_often() -> None:
    wait = Wait(ROOT, Limits(), 0.0, Contact.POLLING)
    assert not wait.due(ASK_WITHOUT_STREAM - 0.1)
    assert wait.due(ASK_WITHOUT_STREAM)
    wait.answered(_state(Status.SUCCESS, "done"), 2.0)
    assert wait.finished(2.0)
    assert wait.operation is not None
    assert wait.operation.message == "done"


def test_the_final_event_has_its_time_after_mistrals_word() -> None:
    wait = _wait()
    wait.answered(_state(Status.SUCCESS), 10.0)
    assert wait.settled(10.0 + GRACE / 2) is None
    (final,) = placed([message("FAILED", "own word", final=True)])
    wait.take(final, 11.0)
    assert wait.operation is not None
    assert (wait.operation.status, wait.operation.message) == (Status.FAILED, "own word")
    assert wait.settled(99.0) is None


def test_causes_may_follow_a_failure() -> None:
    wait = _wait()
    final, cause = placed(
        [message("FAILED", "bad", final=True), resource("A", "FAILED", reason="x")]
    )
    (seen,) = placed([resource("B", "COMPLETE")], "e0")
    wait.take(seen, 0.5)
    wait.take(final, 1.0)
    assert not wait.finished(1.0)
    assert wait.take(cause, 1.1) is not None
    assert wait.finished(1.1)


@pytest.mark.parametrize(
    ("limits", "error", "word"),
    [
        (Limits(deadline=5), OperationTimedOut, "within 5 s"),
        (Limits(idle=5), OperationTimedOut, "Nothing was heard"),
        (Limits(contact=5), ContactLost, "Neither"),
    ],
)
def test_limits_end_the_wait_with_the_true_state(
    limits: Limits, error: type[Exception], word: str
) -> None:
    wait = Wait(ROOT, limits, 0.0)
    assert not wait.overdue(4.9)
    assert wait.overdue(5.0)
    raised = wait.expiry(None if error is ContactLost else _state(Status.RUNNING), 5.0)
    assert isinstance(raised, error)
    assert word in str(raised)
    assert ROOT in str(raised)


def test_progress_puts_off_the_idle_limit_but_not_the_deadline() -> None:
    wait = _wait(idle=5, deadline=8)
    for now, event in enumerate(placed(engine("RUNNING", seconds=n) for n in range(8))):
        wait.take(event, float(now))
    assert not wait.overdue(7.9)
    assert wait.overdue(8.0)


def test_an_end_is_never_overdue() -> None:
    wait = _wait(deadline=1)
    (final,) = placed([message("SUCCESS", final=True)])
    wait.take(final, 0.5)
    assert not wait.overdue(99.0)


def test_a_snapshot_stands_for_what_was_missed() -> None:
    ended = fold_all(None, placed([message("SUCCESS", "done", final=True)]))
    assert ended is not None
    wait = _wait()
    wait.take(Lost(reason="x"), 1.0)
    assert wait.contact is Contact.RECONNECTING
    wait.take(Back(recovered=False), 2.0)
    progress = wait.take(Subscribed(recovered=False, position="e2:1", operations=(ended,)), 2.0)
    assert progress is not None
    assert progress.missed
    assert wait.finished(2.0)


def test_an_old_snapshot_does_not_undo_an_end() -> None:
    running = fold_all(None, placed([message("RUNNING")]))
    assert running is not None
    wait = _wait()
    (final,) = placed([message("SUCCESS", final=True)])
    wait.take(final, 1.0)
    wait.take(Subscribed(recovered=False, position="e2:1", operations=(running,)), 2.0)
    assert wait.operation is not None
    assert wait.operation.status is Status.SUCCESS
