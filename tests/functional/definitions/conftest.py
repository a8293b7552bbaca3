"""Workflows run in the undercloud's Mistral, and a listener on the bus that hears of them."""

from __future__ import annotations

import queue
import time
import uuid
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import kombu
import pytest
from keystoneauth1.session import Session
from oslo_config import cfg
from oslo_service import backend

from tripleo_actions.publisher import EXCHANGE

with warnings.catch_warnings():
    # A library of oslo.service looks whether eventlet is there, and that one warns of itself.
    warnings.simplefilter("ignore")
    if backend.get_backend_type() is None:
        # Before oslo.messaging is imported, which would choose eventlet.
        backend.init_backend(backend.BackendType.THREADING)
    import oslo_messaging

WORKFLOWS = """
version: '2.0'
{p}_noop:
  tasks:
    one: {{action: std.noop, on-success: two}}
    two: {{action: std.noop}}
{p}_parent:
  tasks:
    child: {{workflow: {p}_noop}}
{p}_fail:
  tasks:
    one: {{action: std.fail}}
{p}_expression:
  tasks:
    one: {{action: std.echo output=<% $.nothing %>}}
{p}_slow:
  tasks:
    one: {{action: std.sleep seconds=60}}
"""


class Mistral:
    """The workflow service, by plain requests."""

    def __init__(self, session: Session, url: str, prefix: str) -> None:
        self._session, self._url, self.prefix = session, url, prefix

    def call(self, method: str, path: str, **request: Any) -> Any:
        return self._session.request(f"{self._url}{path}", method, **request)

    def start(self, name: str) -> str:
        body = {"workflow_name": f"{self.prefix}_{name}", "input": {}}
        return str(self.call("POST", "/executions", json=body).json()["id"])

    def set_state(self, execution: str, state: str) -> None:
        self.call("PUT", f"/executions/{execution}", json={"state": state})


class Heard:
    """Notifications as they came: (seconds since the epoch, event type, payload, id)."""

    def __init__(self) -> None:
        self._inbox: queue.Queue[tuple[float, str, dict[str, Any], str]] = queue.Queue()

    def info(self, ctxt: Any, publisher_id: str, event_type: str, payload: Any, meta: Any) -> None:
        assert publisher_id == "mistral"
        self._inbox.put((time.time(), event_type, payload, meta["message_id"]))

    def until(
        self, enough: Callable[[list[tuple[float, str, dict[str, Any], str]]], bool], root: str
    ) -> list[tuple[float, str, dict[str, Any], str]]:
        """Everything below a root, up to what is enough."""
        got: list[tuple[float, str, dict[str, Any], str]] = []
        deadline = time.monotonic() + 30
        while not enough(got):
            try:
                one = self._inbox.get(timeout=max(deadline - time.monotonic(), 0.01))
            except queue.Empty:
                pytest.fail(f"only heard {[(kind, body['name']) for _, kind, body, _ in got]}")
            if one[2].get("root_execution_id") == root:
                got.append(one)
        return got


def bus_settings(url: str) -> Any:
    """Settings of oslo.messaging as Mistral in the undercloud has them."""
    conf = cfg.ConfigOpts()
    conf([], default_config_files=[])
    transport = oslo_messaging.get_notification_transport(conf, url=url)
    conf.set_override("amqp_durable_queues", True, group="oslo_messaging_rabbit")
    conf.set_override("transport_url", url, group="oslo_messaging_notifications")
    transport.cleanup()
    return conf


@pytest.fixture(scope="session")
def heard(undercloud: Any) -> Iterator[Heard]:
    """A listener of its own on Mistral's notifications."""
    ears, pool = Heard(), f"definitions-{uuid.uuid4().hex[:8]}"
    listener = oslo_messaging.get_notification_listener(
        oslo_messaging.get_notification_transport(bus_settings(undercloud.broker)),
        [oslo_messaging.Target(exchange=EXCHANGE, topic="notifications")],
        [ears],
        executor="threading",
        pool=pool,
    )
    listener.start()
    yield ears
    listener.stop()
    listener.wait()
    with kombu.Connection(undercloud.broker.replace("rabbit://", "amqp://")) as connection:
        # Nobody reads it any more, and it would grow for ever.
        connection.channel().queue_delete(pool)


@pytest.fixture(scope="session")
def mistral(undercloud: Any, session: Session) -> Iterator[Mistral]:
    """Mistral with this test run's own workflows."""
    prefix = f"publisher_{uuid.uuid4().hex[:8]}"
    made = Mistral(session, f"http://127.0.0.1:{undercloud.port['mistral']}/v2", prefix)
    text = WORKFLOWS.format(p=prefix)
    made.call("POST", "/workflows", data=text, headers={"Content-Type": "text/plain"})
    yield made
    for name in ("parent", "noop", "fail", "expression", "slow"):
        made.call("DELETE", f"/workflows/{prefix}_{name}")


@pytest.fixture
def bus_conf() -> Callable[[str, int], Any]:
    """Settings for the broker's URL with another port in it."""

    def made(url: str, port: int) -> Any:
        head, _, _ = url.rpartition(":")
        return bus_settings(f"{head}:{port}/")

    return made
