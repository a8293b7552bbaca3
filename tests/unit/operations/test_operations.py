"""The fold, example by example: stages, counts, causes, times left."""

from __future__ import annotations

from datetime import timedelta

import msgspec
import pytest

from tests.unit.operations.scripts import (
    ROOT,
    announced,
    at,
    engine,
    message,
    placed,
    resource,
    task,
)
from tripleo_worker import operations
from tripleo_worker.events import Event, Status
from tripleo_worker.operations import Operation, fold, fold_all


def _folded(*events: Event) -> Operation:
    operation = fold_all(None, placed(events))
    assert operation is not None
    return operation


def test_a_deployment_from_start_to_end() -> None:
    op = _folded(
        engine("RUNNING"),
        message("RUNNING", "Deploying plan overcloud.", seconds=1),
        task("deploy", "RUNNING", seconds=2),
        announced(2, seconds=3),
        resource("overcloud", "IN_PROGRESS", seconds=4, kind="OS::Heat::Stack", physical="s0"),
        resource("A", "IN_PROGRESS", seconds=5),
        resource("B", "IN_PROGRESS", seconds=6),
        resource("A", "COMPLETE", seconds=7),
    )
    assert (op.workflow, op.plan, op.action) == (
        "tripleo.deployment.v1.deploy_plan",
        "overcloud",
        "CREATE",
    )
    assert (op.resources.expected, op.resources.seen, op.resources.complete) == (2, 2, 1)
    assert (op.percent, op.stage, op.stack_status) == (50.0, "deploy", "CREATE_IN_PROGRESS")
    assert [one.name for one in op.active] == ["B"]
    assert operations.elapsed(op, at(10)) == timedelta(seconds=10)
    assert operations.idle(op, at(10)) == timedelta(seconds=3)

    done = _folded(
        engine("RUNNING"), announced(1), message("SUCCESS", "Done", final=True, seconds=9)
    )
    assert (done.status, done.percent, done.ended) == (Status.SUCCESS, 100.0, at(9))
    assert operations.idle(done, at(99)) == timedelta(0)
    assert operations.elapsed(done, at(99)) == timedelta(seconds=9)


def test_one_cause_is_listed_once_at_its_deepest_place() -> None:
    leaf = resource(
        "Step", "FAILED", seconds=1, stack="s2", reason="ValueError: resources.Step: boom"
    )
    own = resource(
        "overcloud-Ctl-x",
        "FAILED",
        seconds=2,
        stack="s2",
        kind="OS::Heat::Stack",
        physical="s2",
        reason="Resource CREATE failed: ValueError: resources.Step: boom",
    )
    middle = resource(
        "0", "FAILED", seconds=3, stack="s1", reason="ValueError: resources[0].resources.Step: boom"
    )
    top = resource(
        "Ctl",
        "FAILED",
        seconds=4,
        reason="ValueError: resources.Ctl.resources[0].resources.Step: boom",
    )
    other = resource(
        "Net", "FAILED", seconds=5, reason="CREATE aborted (Task create from x cancelled)"
    )
    for order in ([leaf, own, middle, top, other], [other, top, middle, own, leaf]):
        assert [one.name for one in _folded(*order).failures] == ["Step"]
    assert [one.name for one in _folded(top, other).failures] == ["Ctl"]


def test_two_causes_are_two_failures() -> None:
    op = _folded(
        resource("A", "FAILED", seconds=2, reason="ValueError: resources.A: boom"),
        resource("B", "FAILED", seconds=1, reason="ValueError: resources.B: bang"),
    )
    assert [one.name for one in op.failures] == ["B", "A"]


def test_a_resource_that_recovers_is_no_failure() -> None:
    op = _folded(resource("A", "FAILED"), resource("A", "COMPLETE", seconds=1))
    assert (op.failures, op.resources.failed, op.resources.complete) == ((), 0, 1)


def test_a_late_failure_is_added_to_an_operation_that_ended() -> None:
    op = _folded(
        message("FAILED", "Stack failed", final=True),
        resource("A", "FAILED", seconds=1, reason="x"),
    )
    assert [one.reason for one in op.failures] == ["x"]


def test_the_text_that_comes_after_the_engines_word_is_taken() -> None:
    op = _folded(engine("FAILED", final=True), message("FAILED", "No valid host", seconds=1))
    assert op.message == "No valid host"
    op = _folded(engine("FAILED", final=True), message("SUCCESS", "All well", seconds=1))
    assert (op.status, op.message) == (Status.FAILED, "")


def test_more_resources_than_announced_do_not_pass_all() -> None:
    op = _folded(announced(1), resource("A", "COMPLETE"), resource("B", "IN_PROGRESS"))
    assert (op.percent, op.resources.total) == (50.0, 2)


def test_no_count_no_percent() -> None:
    assert _folded(engine("RUNNING"), resource("A", "COMPLETE")).percent is None


def test_tasks_of_children_are_no_stages() -> None:
    op = _folded(task("own", "RUNNING"), task("theirs", "RUNNING", parent="child"))
    assert [one.name for one in op.stages] == ["own"]


def test_the_stage_is_the_newest_that_goes_on() -> None:
    op = _folded(task("a", "RUNNING"), task("b", "RUNNING"), task("b", "SUCCESS", seconds=3))
    assert (op.stage, [one.ended for one in op.stages]) == ("a", [None, at(3)])


def test_an_event_of_nobody_begins_nothing() -> None:
    orphan = msgspec.structs.replace(resource("A", "COMPLETE"), executionid="", rootexecutionid="")
    assert fold(None, orphan) is None
    op = _folded(engine("RUNNING"))
    assert fold(op, orphan) is op


def test_an_operation_stays_bounded() -> None:
    many = [resource(f"r{number}", "IN_PROGRESS", seconds=number) for number in range(500)]
    broken = [resource(f"f{number}", "FAILED", reason=f"x{number}" * 999) for number in range(99)]
    op = _folded(*many, *broken)
    assert len(op.active) == operations.ACTIVITIES_KEPT
    assert op.active[0].name == "r499"
    assert len(op.failures) == 50
    assert len(msgspec.json.encode(operations.brief(op))) < 80_000


@pytest.mark.parametrize(
    ("percent", "seconds", "left"), [(None, 30, 70), (2.0, 30, 70), (50.0, 30, 50), (None, 130, 0)]
)
def test_time_left_comes_from_earlier_runs(percent: float | None, seconds: int, left: int) -> None:
    op = msgspec.structs.replace(_folded(engine("RUNNING")), percent=percent)
    history = [timedelta(seconds=each) for each in (90, 100, 500)]
    assert operations.eta(op, at(seconds), history) == timedelta(seconds=left)


def test_no_earlier_run_no_time_left() -> None:
    assert operations.eta(_folded(engine("RUNNING")), at(5), []) is None


def test_earlier_runs_are_those_of_the_same_kind_that_went_well() -> None:
    op = _folded(engine("RUNNING"), announced(3))
    good = msgspec.structs.replace(op, execution_id="2", status=Status.SUCCESS, ended=at(60))
    bad = msgspec.structs.replace(good, execution_id="3", status=Status.FAILED)
    update = msgspec.structs.replace(good, execution_id="4", action="UPDATE")
    assert operations.durations(op, [op, good, bad, update]) == [timedelta(seconds=60)]
    assert op.execution_id == ROOT
