"""A worker that is killed in the middle of a deployment costs its watchers nothing."""

from __future__ import annotations

import json
import signal
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import pytest
import requests
from keystoneauth1.session import Session
from websockets.exceptions import ConnectionClosed, InvalidHandshake
from websockets.sync.client import connect

from tests.functional.conftest import Undercloud
from tests.functional.samples import DEPLOY, Plans, until
from tests.functional.worker.conftest import OwnWorker
from tripleo_worker.client.cloud import Cloud
from tripleo_worker.client.sync.connection import Connection
from tripleo_worker.events import Event, Status

pytestmark = pytest.mark.timeout(240)


class Watcher:
    """A thread that gathers a stream up to the event of a type that comes once."""

    def __init__(self, stream: Iterator[dict[str, Any]], last: str) -> None:
        self.seen: list[dict[str, Any]] = []
        self.problem: Exception | None = None
        self._stream, self._last = stream, last
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def of(self, root: str) -> list[dict[str, Any]]:
        """The events of one root execution so far."""
        return [one for one in self.seen if one.get("rootexecutionid") == root]

    def all(self) -> list[dict[str, Any]]:
        """All events, once the last has come."""
        self._thread.join(30)
        assert self.problem is None
        assert self.seen
        assert self.seen[-1]["type"] == self._last, "the last event did not come"
        return self.seen

    def _run(self) -> None:
        try:
            for event in self._stream:
                self.seen.append(event)
                if event["type"] == self._last:
                    return
        except Exception as error:
            self.problem = error


def by_plain_websockets(url: str, token: str, since: str) -> Iterator[dict[str, Any]]:
    """A loop as anybody would write it: come back with the last position."""
    while True:
        try:
            with connect(f"{url.replace('http', 'ws', 1)}/v1/stream") as socket:
                socket.send(json.dumps({"authenticate": {"token": token}}))
                socket.send(json.dumps({"subscribe": {"since": since}}))
                for frame in socket:
                    message = json.loads(frame)
                    assert "error" not in message or message["error"]["code"] == "shutting_down"
                    assert message.get("subscribed", {}).get("recovered", True)
                    if "event" in message:
                        event = message["event"]
                        since = f"{event['epoch']}:{int(event['sequence'])}"
                        yield event
        except (OSError, EOFError, ConnectionClosed, InvalidHandshake):
            time.sleep(0.05)


def by_our_client(session: Session, url: str, since: str) -> Iterator[dict[str, Any]]:
    with Connection(Cloud(session, endpoint=url)) as client:
        for event in client.follow(since=since):
            assert isinstance(event, Event), "the journal did not reach back"
            yield msgspec.to_builtins(event)


def position(worker: OwnWorker, session: Session) -> str:
    headers = {"X-Auth-Token": str(session.get_token())}
    answer = requests.get(f"{worker.url}/v1/position", headers=headers, timeout=10).json()
    return str(answer["position"])


def stored(worker: OwnWorker, kind: str) -> Callable[[], bool]:
    return lambda: bool(worker.rows("SELECT 1 FROM events WHERE type = ?", kind))


def heat_event_ids(plans: Plans, plan: str) -> set[str]:
    """Every event of a stack and of those nested in it, as Heat itself lists them."""
    stack = plans.heat.stack(plan)
    assert stack is not None
    path = f"/stacks/{plan}/{stack['id']}/events"
    found = plans.heat.call("GET", path, params={"nested_depth": "20"}).json()["events"]
    return {one["id"] for one in found}


def test_a_killed_worker_costs_no_event_and_repeats_none(
    undercloud: Undercloud, own_worker: OwnWorker, plans: Plans, caplog: pytest.LogCaptureFixture
) -> None:
    plan = plans.create(StepSeconds=3)
    caught_up, last = (f"tests.mark.{uuid.uuid4().hex}" for _ in range(2))
    plans.mark(caught_up)
    until(stored(own_worker, caught_up), "the new worker has read what lay there")

    session = undercloud.session()
    since = position(own_worker, session)
    plain = Watcher(by_plain_websockets(own_worker.url, str(session.get_token()), since), last)
    ours = Watcher(by_our_client(undercloud.session(), own_worker.url, since), last)
    near = Connection(Cloud(undercloud.session(), endpoint=own_worker.url))
    run = near.run(DEPLOY, {"container": plan})
    root = run.execution_id
    waiting = threading.Thread(target=run.wait, daemon=True)
    waiting.start()

    def kill_after(events: int, away: float) -> None:
        until(lambda: len(plain.of(root)) >= events, f"{events} events")
        own_worker.end(signal.SIGKILL)
        time.sleep(away)
        own_worker.start()

    kill_after(20, away=0)
    kill_after(len(plain.of(root)) + 10, away=3)
    kill_after(0, away=0)  # while it catches up
    assert not any(one.get("final") for one in plain.of(root)), "the deployment was too quick"

    waiting.join(90)
    assert run.operation is not None
    assert run.operation.status is Status.SUCCESS
    assert run.operation.percent == 100.0
    plans.mark(last)
    seen = plain.all()
    assert seen == ours.all()

    first = int(since.partition(":")[2]) + 1
    assert [int(one["sequence"]) for one in seen] == list(range(first, first + len(seen)))
    finals = [one for one in plain.of(root) if one.get("final")]
    assert [one["data"]["status"] for one in finals] == ["SUCCESS"]
    assert finals[0]["executionid"] == root

    kept = own_worker.rows(
        "SELECT sequence, text FROM events WHERE root = ? AND sequence <= ? ORDER BY sequence",
        root,
        int(seen[-1]["sequence"]),
    )
    assert [json.loads(text) for _, text in kept] == plain.of(root)
    assert len({(one["source"], one["id"]) for one in seen}) == len(seen)
    assert heat_event_ids(plans, plan) <= {one["id"] for one in plain.of(root)}
    assert own_worker.rows("SELECT count(*) FROM dead_letters") == [(0,)]
    assert "Traceback" not in own_worker.log.read_text()
    lost = [one for one in caplog.records if getattr(one, "action", "") == "stream_lost"]
    assert 1 <= len(lost) <= 4, "each loss is one warning"
