"""The client for threads against a scripted worker on a real socket."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator
from http import HTTPStatus
from itertools import islice

import pytest

from tests.unit.client.scripted_worker import ScriptedEngine, ScriptedWorker, cloud
from tests.unit.operations.scripts import ROOT, engine, message, resource, task
from tripleo_worker.client.frames import Subscribed
from tripleo_worker.client.sync.connection import Connection
from tripleo_worker.client.waiting import Contact, Limits
from tripleo_worker.errors import InvalidInput, InvalidPosition, NoWorker, OperationTimedOut
from tripleo_worker.events import Event, Status

WORKFLOW = "tripleo.deployment.v1.deploy_plan"


@pytest.fixture
def worker() -> Iterator[ScriptedWorker]:
    with ScriptedWorker() as made:
        yield made


def _later(seconds: float, act: object) -> None:
    timer = threading.Timer(seconds, act)  # type: ignore[arg-type] # any callable
    timer.daemon = True
    timer.start()


def test_a_workflow_that_ends_at_once_is_reported(worker: ScriptedWorker) -> None:
    """Its whole story is told before the client has its id."""
    worker.append(engine("RUNNING"), message("SUCCESS", "another run", final=True))

    def at_once(_: str) -> None:
        worker.append(engine("RUNNING"), message("FAILED", "no such plan", final=True))

    other = [e.rootexecutionid for e in worker._journal]
    assert other == [ROOT, ROOT]
    with Connection(cloud(worker, ScriptedEngine(at_once))) as connection:
        operation = connection.run(WORKFLOW, {}).wait()
    assert (operation.status, operation.message) == (Status.FAILED, "no such plan")
    assert worker.subscriptions[0]["since"] == "e1:2"


def test_nothing_is_missed_and_one_warning_said_when_the_worker_dies(
    worker: ScriptedWorker, caplog: pytest.LogCaptureFixture
) -> None:
    script = ScriptedEngine()
    with caplog.at_level(logging.WARNING), Connection(cloud(worker, script)) as connection:
        run = connection.run(WORKFLOW, {})
        worker.append(engine("RUNNING"), resource("A", "IN_PROGRESS"))

        def die() -> None:
            worker.down()
            worker.append(resource("A", "COMPLETE"), resource("B", "COMPLETE"))
            time.sleep(0.6)
            worker.up()
            worker.append(message("SUCCESS", "done", final=True))

        _later(0.3, die)
        seen = list(run)
    assert [one.event for one in seen if one.event] == worker._journal
    contacts = [one.contact for one in seen]
    assert Contact.RECONNECTING in contacts
    assert contacts[-1] is Contact.LIVE
    assert not seen[-1].missed
    assert len(caplog.records) == 1
    assert run.operation is not None
    assert run.operation.resources.complete == 2


def test_without_a_worker_mistral_tells_the_outcome(caplog: pytest.LogCaptureFixture) -> None:
    script = ScriptedEngine()
    _later(0.5, lambda: setattr(script, "status", Status.CANCELLED))
    with Connection(cloud(None, script)) as connection:
        run = connection.run(WORKFLOW, {})
        assert run.contact is Contact.POLLING
        operation = run.wait()
    assert operation.status is Status.CANCELLED
    assert len(caplog.records) == 1


def test_a_worker_that_comes_later_tells_the_rest(worker: ScriptedWorker) -> None:
    worker.down()
    with Connection(cloud(worker, ScriptedEngine())) as connection:
        run = connection.run(WORKFLOW, {})

        def come() -> None:
            worker.append(
                engine("RUNNING"), task("a", "RUNNING"), message("SUCCESS", "done", final=True)
            )
            worker.up()

        _later(0.3, come)
        operation = run.wait()
    assert [stage.name for stage in operation.stages] == ["a"]


def test_a_worker_that_refuses_leaves_the_outcome_to_mistral(
    worker: ScriptedWorker, caplog: pytest.LogCaptureFixture
) -> None:
    worker.handshake = HTTPStatus.FORBIDDEN
    script = ScriptedEngine()
    script.status = Status.SUCCESS
    with Connection(cloud(worker, script)) as connection:
        assert connection.run(WORKFLOW, {}).wait().status is Status.SUCCESS
    assert "policy" in caplog.text


def test_an_execution_that_mistral_forgot_ends_by_the_workers_word(
    worker: ScriptedWorker,
) -> None:
    script = ScriptedEngine()
    worker.append(engine("RUNNING"))

    def forgotten(_: str) -> None:
        raise InvalidInput("not found")

    script.state = forgotten  # type: ignore[assignment,method-assign]
    _later(2.5, lambda: (worker.up(), worker.append(message("SUCCESS", final=True))))
    with Connection(cloud(worker, script)) as connection:
        run = connection.watch(ROOT)
        beats = run.beats()
        while run.operation is None:
            next(beats)
        worker.down()
        assert run.wait().status is Status.SUCCESS


def test_a_limit_leaves_the_execution_alone(worker: ScriptedWorker) -> None:
    with Connection(cloud(worker, ScriptedEngine())) as connection:
        run = connection.run(WORKFLOW, {}, limits=Limits(deadline=0.4))
        worker.append(engine("RUNNING"))
        with pytest.raises(OperationTimedOut, match="RUNNING"):
            run.wait()


def test_following_goes_on_through_every_kind_of_end(worker: ScriptedWorker) -> None:
    events = [resource(f"r{number}", "COMPLETE") for number in range(60)]

    def disturb() -> None:
        for number, event in enumerate(events):
            worker.append(event)
            time.sleep(0.005)
            if number % 20 == 5:
                worker.close(4002)
            if number % 20 == 10:
                worker.cut()
            if number % 20 == 15:
                worker.close(4000)

    _later(0.1, disturb)
    with Connection(cloud(worker, ScriptedEngine())) as connection:
        seen = list(islice(connection.follow(since="earliest"), len(events)))
    assert [one.position.sequence for one in seen if isinstance(one, Event)] == list(range(1, 61))
    assert len(worker.subscriptions) > 3
    assert "token-2" in worker.tokens


def test_what_the_journal_lost_is_told(worker: ScriptedWorker) -> None:
    worker.append(engine("RUNNING"), message("SUCCESS", final=True))
    worker.floor = 2
    with Connection(cloud(worker, ScriptedEngine())) as connection:
        (first,) = islice(connection.follow(since="e1:1"), 1)
        assert isinstance(first, Subscribed)
        assert first.operations[0].status is Status.SUCCESS
        assert connection.watch(ROOT, since="e1:1").wait().status is Status.SUCCESS


def test_positions_are_checked_before_anything_is_sent(worker: ScriptedWorker) -> None:
    with (
        Connection(cloud(worker, ScriptedEngine())) as connection,
        pytest.raises(InvalidPosition),
    ):
        next(connection.follow(since="yesterday"))


def test_operations_are_listed_oldest_first(worker: ScriptedWorker) -> None:
    worker.append(engine("RUNNING"))
    with Connection(cloud(worker, ScriptedEngine())) as connection:
        assert [one.execution_id for one in connection.operations()] == [ROOT]
    with pytest.raises(NoWorker):
        cloud(None, ScriptedEngine()).operations()


def test_importing_the_client_is_quick_and_slim() -> None:
    import subprocess
    import sys

    code = (
        "import sys; import tripleo_worker.client as c; c.connect;"
        "slow = {'oslo_messaging', 'kombu', 'openstack', 'mistralclient', 'rich'};"
        "bad = slow & set(sys.modules);"
        "sys.exit(str(bad) if bad else 0)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
