"""Listeners made of plain libraries, as the documentation shows them, hear what ours hears."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import uuid
from pathlib import Path
from typing import Any

import pytest
import requests
from keystoneauth1.session import Session

from tests.functional.conftest import Undercloud
from tests.functional.samples import DEPLOY, Plans, until
from tripleo_worker.events import Status

pytestmark = pytest.mark.timeout(240)

EXAMPLES = Path(__file__).parents[3] / "doc" / "source" / "examples"
WEBSOCKET, SSE = "listen_websocket.py", "listen_sse.py"


class Listener:
    """One of the examples, running."""

    def __init__(self, example: str, url: str, token: str, since: str, out: Path) -> None:
        self.example, self._out = example, out
        address = {
            WEBSOCKET: f"{url.replace('http', 'ws', 1)}/v1/stream",
            SSE: f"{url}/v1/events/stream",
        }[example]
        with out.open("wb") as file:
            self.process = subprocess.Popen(
                [sys.executable, EXAMPLES / example, address, since],
                env=os.environ | {"OS_TOKEN": token},
                stdout=file,
                stderr=subprocess.PIPE,
                text=True,
            )

    def heard(self) -> list[dict[str, Any]]:
        """The events so far; a line that is still being written is left out."""
        text = self._out.read_text()
        return [json.loads(line) for line in text[: text.rfind("\n") + 1].splitlines()]

    def until(self, kind: str) -> list[dict[str, Any]]:
        """The events up to the one of a type."""

        def complete() -> bool:
            assert self.process.poll() is None, self.process.communicate()
            return any(one["type"] == kind for one in self.heard())

        until(complete, f"{self.example} hears of {kind}", 30)
        heard = self.heard()
        return heard[: [one["type"] for one in heard].index(kind) + 1]

    def end(self) -> str:
        """Stop it; what it said of its troubles."""
        self.process.kill()
        return self.process.communicate()[1]


@pytest.fixture
def url(plans: Plans) -> str:
    return plans.client.cloud.endpoint()


def position(url: str, token: str) -> str:
    answer = requests.get(f"{url}/v1/position", headers={"X-Auth-Token": token}, timeout=10)
    return str(answer.json()["position"])


def test_websocket_and_sse_hear_the_same_and_strangers_nothing(
    undercloud: Undercloud,
    session: Session,
    stranger: Session,
    plans: Plans,
    url: str,
    tmp_path: Path,
) -> None:
    token, foreign = str(session.get_token()), str(stranger.get_token())
    since = position(url, token)
    listeners = {
        (example, who): Listener(example, url, whose, since, tmp_path / f"{who}-{example}")
        for who, whose in (("own", token), ("stranger", foreign))
        for example in (WEBSOCKET, SSE)
    }
    try:
        plan = plans.create()
        run = plans.client.run(DEPLOY, {"container": plan})
        seen = [one.event.sequence for one in run if one.event is not None]
        assert run.operation is not None
        assert run.operation.status is Status.SUCCESS
        theirs = somebody_elses_workflow(undercloud, stranger)
        last = f"tests.mark.{uuid.uuid4().hex}"
        plans.mark(last)
        heard = {example: listeners[example, "own"].until(last) for example in (WEBSOCKET, SSE)}

        assert heard[WEBSOCKET] == heard[SSE]
        first = int(since.partition(":")[2]) + 1
        numbers = [int(one["sequence"]) for one in heard[SSE]]
        assert numbers == list(range(first, first + len(numbers)))
        of_it = [one for one in heard[SSE] if one.get("rootexecutionid") == run.execution_id]
        assert {one["sequence"] for one in of_it} >= set(seen)
        (final,) = [one for one in of_it if one.get("final")]
        assert (final["type"], final["data"]["status"]) == (DEPLOY, "SUCCESS")
        # The word is out while the execution still runs: listeners need not ask the engine.
        (ended,) = [one for one in of_it if _engines_end(one, run.execution_id)]
        assert (ended["type"], ended["data"]["status"]) == (
            "mistral.workflow.succeeded",
            "SUCCESS",
        )
        assert final["sequence"] < ended["sequence"]

        for example in (WEBSOCKET, SSE):
            listener = listeners[example, "stranger"]
            until(lambda heard=listener.heard: any(one.get("final") for one in heard()), "its own")
            assert {one["rootexecutionid"] for one in listener.heard()} == {theirs}
            assert {one["projectid"] for one in listener.heard()} == {stranger.get_project_id()}
    finally:
        said = {name: one.end() for name, one in listeners.items()}
    assert set(said.values()) == {""}
    log = undercloud.layout.log("worker").read_text(errors="replace")
    assert token not in log
    assert foreign not in log


def _engines_end(event: dict[str, Any], execution: str) -> bool:
    kind, _, change = event["type"].rpartition(".")
    ended = change in ("succeeded", "failed", "cancelled")
    return ended and kind == "mistral.workflow" and event["executionid"] == execution


def somebody_elses_workflow(undercloud: Undercloud, stranger: Session) -> str:
    """A workflow of another project, run to its end; returns the execution's id."""
    mistral, name = f"http://127.0.0.1:{undercloud.port['mistral']}/v2", uuid.uuid4().hex
    text = f"version: '2.0'\n{name}_wf:\n  tasks:\n    one: {{action: std.noop}}\n"
    stranger.post(
        f"{mistral}/workflows", data=text.encode(), headers={"Content-Type": "text/plain"}
    )
    started = stranger.post(f"{mistral}/executions", json={"workflow_name": f"{name}_wf"}).json()

    def ended() -> bool:
        found = stranger.get(f"{mistral}/executions/{started['id']}").json()
        return bool(found["state"] == "SUCCESS")

    until(ended, "the workflow ends")
    stranger.delete(f"{mistral}/workflows/{name}_wf")
    return str(started["id"])


@pytest.mark.parametrize("example", [WEBSOCKET, SSE])
def test_a_bad_token_is_refused_at_once(
    example: str, undercloud: Undercloud, url: str, tmp_path: Path
) -> None:
    bad = f"gAAAAA{uuid.uuid4().hex}"
    began = time.monotonic()
    listener = Listener(example, url, bad, "latest", tmp_path / "out")
    _, said = listener.process.communicate(timeout=30)
    assert listener.process.returncode == 1
    assert "token" in said
    assert bad not in said
    assert time.monotonic() - began < 15
    assert listener.heard() == []
    assert bad not in undercloud.layout.log("worker").read_text(errors="replace")


def test_a_stranger_cannot_read_an_execution_by_its_id(
    session: Session, stranger: Session, plans: Plans, url: str
) -> None:
    run = plans.client.run("tripleo.plan_management.v1.list_plans", {})
    run.wait()
    path = f"{url}/v1/operations/{run.execution_id}"
    mine, theirs = (
        requests.get(path, headers={"X-Auth-Token": str(who.get_token())}, timeout=10)
        for who in (session, stranger)
    )
    assert mine.status_code == 200
    assert theirs.status_code == 404
    query = {"since": "earliest", "execution": run.execution_id}
    headers = {"X-Auth-Token": str(stranger.get_token())}
    answer = requests.get(f"{url}/v1/events", headers=headers, params=query, timeout=10)
    assert answer.json()["events"] == []
