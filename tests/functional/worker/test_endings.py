"""Every execution ends in the journal, once, though the worker or the bus was away."""

from __future__ import annotations

import configparser
import json
import signal
import time
import uuid
from collections.abc import Iterator
from typing import Any

import pytest
import requests
from keystoneauth1.session import Session

from tests.functional.samples import until
from tests.functional.worker.conftest import OwnWorker, free_port
from tripleo_worker.events import Status

pytestmark = pytest.mark.timeout(180)

WORKFLOW = """
version: '2.0'
{name}:
  tasks:
    tell:
      action: tripleo.messaging.send
      input: {{type: {name}, status: RUNNING, message: begun}}
      on-success: sleep
    sleep: {{action: std.sleep seconds=60}}
"""


class Engine:
    """Mistral, and a workflow in it that says that it has begun, then sleeps."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.name = f"tests_sleeper_{uuid.uuid4().hex[:8]}"

    def call(self, method: str, path: str, **request: Any) -> Any:
        where = {"service_type": "workflowv2", "interface": "public"}
        return self._session.request(path, method, endpoint_filter=where, **request)

    def define(self) -> None:
        text = WORKFLOW.format(name=self.name)
        self.call("POST", "/workflows", data=text, headers={"Content-Type": "text/plain"})

    def start(self) -> str:
        return str(self.call("POST", "/executions", json={"workflow_name": self.name}).json()["id"])

    def end(self, execution: str, state: str) -> None:
        self.call("PUT", f"/executions/{execution}", json={"state": state})


@pytest.fixture
def engine(session: Session) -> Iterator[Engine]:
    made = Engine(session)
    made.define()
    yield made
    made.call("DELETE", f"/workflows/{made.name}")


def events(worker: OwnWorker, execution: str) -> list[dict[str, Any]]:
    query = "SELECT text FROM events WHERE root = ? ORDER BY sequence"
    return [json.loads(text) for (text,) in worker.rows(query, execution)]


def finals(worker: OwnWorker, execution: str) -> list[dict[str, Any]]:
    return [event for event in events(worker, execution) if event.get("final")]


def begun(worker: OwnWorker, engine: Engine) -> str:
    """An execution whose message the worker has."""
    execution = engine.start()

    def told() -> bool:
        return any(event["type"] == engine.name for event in events(worker, execution))

    until(told, "the message of the execution")
    return execution


def ends_once(worker: OwnWorker, execution: str, status: Status, seconds: float) -> dict[str, Any]:
    """The final event; late words of other sources are waited for and change nothing."""
    until(lambda: finals(worker, execution), "a final event", seconds)
    time.sleep(4)
    found = finals(worker, execution)
    assert [one["data"]["status"] for one in found] == [status]
    assert found[0]["executionid"] == execution
    assert found[0]["data"]["message"]
    ((stored,),) = worker.rows("SELECT text FROM operations WHERE execution = ?", execution)
    assert json.loads(stored)["status"] == status
    return found[0]


def deafen(worker: OwnWorker) -> None:
    """Let it look for the broker where there is none."""
    config = configparser.ConfigParser(interpolation=None)
    config.read(worker.config)
    config["notifications"]["transport_url"] = f"rabbit://a:b@127.0.0.1:{free_port()}/"
    with worker.config.open("w") as file:
        config.write(file)


def test_an_execution_that_ends_while_the_worker_is_down(
    own_worker: OwnWorker, engine: Engine
) -> None:
    until(lambda: requests.get(f"{own_worker.url}/readyz", timeout=10).ok, "its queue on the bus")
    cancelled, broken = begun(own_worker, engine), begun(own_worker, engine)
    own_worker.end(signal.SIGKILL)
    engine.end(cancelled, "CANCELLED")
    engine.end(broken, "ERROR")
    time.sleep(1)
    own_worker.start()
    ends_once(own_worker, cancelled, Status.CANCELLED, 20)
    ends_once(own_worker, broken, Status.FAILED, 20)


@pytest.mark.parametrize(
    ("state", "status"), [("CANCELLED", Status.CANCELLED), ("ERROR", Status.FAILED)]
)
def test_without_the_bus_the_watch_finds_the_end(
    own_worker: OwnWorker, engine: Engine, state: str, status: Status
) -> None:
    own_worker.stop()
    deafen(own_worker)
    own_worker.start()
    execution = begun(own_worker, engine)
    engine.end(execution, state)
    final = ends_once(own_worker, execution, status, 10)
    assert final["source"] == "/mistral/executions"
    ready = requests.get(f"{own_worker.url}/readyz", timeout=10)
    assert ready.status_code == 503
    assert not ready.json()["sources"]["notifications"]["ok"]
    assert ready.json()["sources"]["mistral"]["ok"]
