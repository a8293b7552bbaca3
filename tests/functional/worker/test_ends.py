"""However a workflow ends in the engine, watchers hear of its end once, and in words."""

from __future__ import annotations

import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from keystoneauth1.session import Session

from tests.functional.conftest import Undercloud
from tests.functional.samples import Plans, until
from tripleo_worker.client.cloud import Cloud
from tripleo_worker.client.sync.connection import Connection
from tripleo_worker.events import Status
from tripleo_worker.operations import Operation

OPENSTACK = Path(sys.executable).with_name("openstack")
#: Seconds in which the notifications tell an end, and in which the watch finds one.
TOLD, FOUND = 8.0, 45.0

WORKFLOWS = """
version: '2.0'
{p}_child:
  tasks:
    one: {{action: std.noop, wait-before: 300}}
{p}_waits:
  tasks:
    one: {{workflow: {p}_child}}
{p}_dies:
  tasks:
    one: {{action: std.noop, wait-before: 2, on-success: [two]}}
    two: {{action: std.fail}}
"""


@dataclass(frozen=True)
class Case:
    workflow: str
    status: Status
    #: What the outcome says, and the command's exit code.
    words: str
    code: int
    limit: float
    request: tuple[str, str, dict[str, Any]] | None = None


CASES = {
    "cancelled": Case(
        "waits", Status.CANCELLED, "was cancelled", 5, TOLD, ("PUT", "", {"state": "CANCELLED"})
    ),
    "failed without a message": Case("dies", Status.FAILED, "two", 1, TOLD + 2),
    "deleted by force": Case(
        "waits", Status.FAILED, "deleted before it ended", 1, FOUND, ("DELETE", "?force=true", {})
    ),
}


@dataclass
class Watched:
    """An execution with a command that watches it and a client that waits for it."""

    execution: str
    command: subprocess.Popen[str]
    #: The outcome, and the time of the monotonic clock when it was known.
    wait: Future[tuple[Operation, float]]
    began: float = 0.0


@pytest.fixture(scope="module")
def client(session: Session) -> Connection:
    return Connection(Cloud(session))


@pytest.fixture(scope="module")
def watched(
    undercloud: Undercloud, session: Session, client: Connection
) -> Iterator[dict[str, Watched]]:
    """All cases side by side, each brought to its end."""
    prefix = f"ends_{uuid.uuid4().hex[:8]}"
    url = f"http://127.0.0.1:{undercloud.port['mistral']}/v2"
    text, plain = WORKFLOWS.format(p=prefix), {"Content-Type": "text/plain"}
    session.post(f"{url}/workflows", data=text, headers=plain)
    made: dict[str, Watched] = {}
    waits = ThreadPoolExecutor(len(CASES))

    def wait(execution: str) -> tuple[Operation, float]:
        return Connection(Cloud(session)).watch(execution).wait(), time.monotonic()

    for name, case in CASES.items():
        execution = client.cloud.engine.start(f"{prefix}_{case.workflow}", {})
        words = ("overcloud", "progress", "watch", "--execution", execution)
        command = subprocess.Popen(
            [OPENSTACK, *words],
            env=undercloud.environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        made[name] = Watched(execution, command, waits.submit(wait, execution))
    for one in made.values():
        until(lambda one=one: known(client, one.execution), "the worker knows it", 30)
    for name, case in CASES.items():
        made[name].began = time.monotonic()
        if case.request is not None:
            method, query, body = case.request
            address = f"{url}/executions/{made[name].execution}{query}"
            session.request(address, method, json=body or None)
    yield made
    waits.shutdown()
    for one in made.values():
        one.command.kill()
        one.command.communicate()
    for name in ("waits", "child", "dies"):
        session.delete(f"{url}/workflows/{prefix}_{name}")


def known(client: Connection, execution: str) -> Any:
    found = [one for one in client.operations() if one.execution_id == execution]
    return found[0] if found else None


@pytest.mark.parametrize("name", CASES)
def test_each_end_is_told_once_and_in_words(
    name: str, watched: dict[str, Watched], client: Connection, session: Session
) -> None:
    case, one = CASES[name], watched[name]
    operation, known_at = one.wait.result(60)
    assert operation.status is case.status
    assert case.words in operation.message
    assert known_at - one.began < case.limit

    _, said = one.command.communicate(timeout=30)
    assert one.command.returncode == case.code, said
    assert case.words in said

    found = Plans(session).events(one.execution)
    finals = [event for event in found if event.get("final")]
    assert [event["data"]["status"] for event in finals] == [case.status]
    assert finals[0]["executionid"] == finals[0]["rootexecutionid"] == one.execution


def test_a_late_watcher_hears_the_same(
    watched: dict[str, Watched], client: Connection, session: Session
) -> None:
    """After all that may still be told of them, each has one end, and it is the same."""
    time.sleep(max(0.0, min(one.began for one in watched.values()) + 20 - time.monotonic()))
    for name, one in watched.items():
        finals = [event for event in Plans(session).events(one.execution) if event.get("final")]
        assert [event["data"]["status"] for event in finals] == [CASES[name].status]
        assert client.watch(one.execution).wait().status is CASES[name].status
