"""The publisher of Mistral's state changes: what it sends, and that it never stands in the way."""

from __future__ import annotations

import importlib.metadata
import json
import threading
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pytest
from mistral.notifiers import base, notification_events

from tripleo_actions.outbox import Outbox
from tripleo_actions.publisher import BusPublisher, Notice, Roots, event_type

WORKFLOW: dict[str, Any] = {
    "id": "wf-1",
    "name": "tripleo.deployment.v1.deploy_plan",
    "workflow_name": "tripleo.deployment.v1.deploy_plan",
    "state": "ERROR",
    "state_info": "login with password=hunter2 failed",
    "project_id": "p-1",
    "task_execution_id": None,
    "root_execution_id": None,
    "event": "WORKFLOW_FAILED",
}
CHILD = WORKFLOW | {"id": "wf-2", "root_execution_id": "wf-1", "task_execution_id": "t-1"}
TASK: dict[str, Any] = {
    "id": "t-9",
    "name": "create_stack",
    "workflow_execution_id": "wf-2",
    "workflow_name": "tripleo.deployment.v1._child",
    "state": "RUNNING",
    "state_info": None,
    "project_id": "p-1",
}


class Broker:
    """Takes notifications; out of order while ``down``."""

    def __init__(self) -> None:
        self.taken: list[dict[str, Any]] = []
        self.tries: list[str] = []
        self.down = False
        self.arrived = threading.Condition()

    def send(self, text: Mapping[str, Any]) -> None:
        with self.arrived:
            self.tries.append(text["message_id"])
            if self.down:
                raise ConnectionError("no broker")
            self.taken.append(json.loads(json.dumps(text)))
            self.arrived.notify_all()

    def wait(self, count: int) -> list[dict[str, Any]]:
        with self.arrived:
            assert self.arrived.wait_for(lambda: len(self.taken) >= count, 10), self.taken
            return list(self.taken)


def no_root(execution: str, context: Any) -> str:
    raise AssertionError(f"{execution} was looked up")


def notice(data: dict[str, Any], event: str | None = None, subject: str = "") -> Notice:
    return Notice(
        message_id="m", subject_id=subject or data["id"], event=event, data=data, timestamp="now"
    )


def test_it_is_what_mistral_loads() -> None:
    (found,) = importlib.metadata.entry_points(
        group="mistral.notification.publishers", name="tripleo"
    )
    assert found.load() is BusPublisher
    assert issubclass(BusPublisher, base.NotificationPublisher)


def test_workflow_event_on_the_bus() -> None:
    broker = Broker()
    publisher = BusPublisher(broker.send, no_root)
    before = datetime.now(UTC)
    publisher.publish(None, "wf-1", WORKFLOW, "WORKFLOW_FAILED", datetime(2020, 1, 1))  # noqa: DTZ001, RUF100
    (sent,) = broker.wait(1)
    assert sent["event_type"] == "mistral.workflow.failed"
    assert (sent["publisher_id"], sent["priority"]) == ("mistral", "INFO")
    body = sent["payload"]
    assert body["execution_id"] == body["root_execution_id"] == "wf-1"
    assert (body["state"], body["event"], body["project_id"]) == ("ERROR", "WORKFLOW_FAILED", "p-1")
    assert before <= datetime.fromisoformat(body["timestamp"]) <= datetime.now(UTC)


def test_child_and_its_tasks_name_the_root_without_a_look_up() -> None:
    broker = Broker()
    publisher = BusPublisher(broker.send, no_root)
    publisher.publish(None, "wf-2", CHILD, "WORKFLOW_LAUNCHED", None)
    publisher.publish(None, "t-9", TASK, "TASK_LAUNCHED", None)
    child, task = broker.wait(2)
    assert child["payload"]["execution_id"] == "wf-2"
    assert child["payload"]["root_execution_id"] == "wf-1"
    assert task["event_type"] == "mistral.task.launched"
    assert task["payload"]["execution_id"] == task["payload"]["workflow_execution_id"] == "wf-2"
    assert task["payload"]["root_execution_id"] == "wf-1"
    assert task["payload"]["id"] == "t-9"


def test_secrets_are_masked() -> None:
    broker = Broker()
    BusPublisher(broker.send, no_root).publish(None, "wf-1", WORKFLOW, "WORKFLOW_FAILED", None)
    assert "hunter2" not in json.dumps(broker.wait(1))


@pytest.mark.parametrize("event", notification_events.EVENTS)
def test_every_event_of_mistral_has_a_type(event: str) -> None:
    kind, _, change = event.lower().partition("_")
    assert event_type(notice(WORKFLOW, event)) == f"mistral.{kind}.{change}"


def test_a_state_without_an_event_goes_by_its_name() -> None:
    assert event_type(notice(TASK | {"state": "DELAYED"})) == "mistral.task.delayed"
    assert event_type(notice(WORKFLOW | {"state": "IDLE"})) == "mistral.workflow.idle"


def test_what_could_not_be_sent_is_sent_later_under_its_first_id() -> None:
    broker = Broker()
    broker.down = True
    publisher = BusPublisher(broker.send, no_root)
    began = time.monotonic()
    for number in range(100):
        publisher.publish(None, f"wf-{number}", WORKFLOW, "WORKFLOW_FAILED", None)
    assert time.monotonic() - began < 1, "a dead broker held the engine up"
    time.sleep(0.5)
    broker.down = False
    taken = broker.wait(100)
    assert [one["payload"]["execution_id"] for one in taken] == [f"wf-{n}" for n in range(100)]
    first = taken[0]["message_id"]
    assert broker.tries.count(first) > 1, "tried once only"
    assert len({one["message_id"] for one in taken}) == 100


def test_a_root_that_cannot_be_found_stops_no_event() -> None:
    def broken(execution: str, context: Any) -> str:
        raise RuntimeError("no database")

    broker = Broker()
    BusPublisher(broker.send, broken).publish(None, "t-9", TASK, "TASK_LAUNCHED", None)
    (sent,) = broker.wait(1)
    assert sent["payload"]["root_execution_id"] == ""


def test_a_root_is_looked_up_once_and_the_memory_is_bounded() -> None:
    asked: list[str] = []

    def look_up(execution: str, context: Any) -> str:
        asked.append(execution)
        return "root"

    roots = Roots(look_up, limit=2)
    tasks = [notice(TASK | {"workflow_execution_id": f"wf-{n}"}) for n in range(3)]
    assert [roots.of(task) for task in (tasks[0], tasks[0], *tasks)] == ["root"] * 5
    assert asked == ["wf-0", "wf-1", "wf-2"]
    assert roots.of(tasks[0]) == "root"
    assert asked == ["wf-0", "wf-1", "wf-2", "wf-0"]


def test_a_full_outbox_drops_the_oldest_and_says_so(caplog: pytest.LogCaptureFixture) -> None:
    gate, taken = threading.Event(), []

    def send(item: int) -> None:
        if not gate.is_set():
            raise ConnectionError("no broker")
        taken.append(item)

    box = Outbox(send, limit=5, first_pause=0.01)
    for number in range(105):
        box.put(number)
    assert len(box) == 5
    assert box.dropped == 100
    gate.set()
    assert box.close(5)
    assert taken[-5:] == [100, 101, 102, 103, 104]
    lines = [record.getMessage() for record in caplog.records if "full" in record.getMessage()]
    assert len(lines) == 3  # at 1, 10 and 100
    assert lines[-1].endswith("100.")


def test_an_item_that_can_never_be_sent_holds_up_no_other() -> None:
    taken: list[str] = []

    def send(item: str) -> None:
        if item == "bad":
            raise TypeError("not serialisable")
        taken.append(item)

    box = Outbox(send)
    for item in ("one", "bad", "two"):
        box.put(item)
    assert box.close(5)
    assert taken == ["one", "two"]


def test_closing_says_what_is_left() -> None:
    def send(item: str) -> None:
        raise ConnectionError("no broker")

    box = Outbox(send, first_pause=0.01)
    box.put("left")
    assert not box.close(0.1)
