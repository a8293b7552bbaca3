"""Mistral's state changes arrive on the bus, soon, and after an outage of the broker too."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
import uuid
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import pytest

from tripleo_actions.publisher import Bus, BusPublisher

#: Milliseconds between the hand-over of an event and its arrival, in the median.
SOON = 250.0


def ended(event: str) -> Any:
    """Enough was heard when the root workflow reported this."""

    def enough(got: list[Any]) -> bool:
        return any(
            kind == f"mistral.workflow.{event}"
            and body["execution_id"] == body["root_execution_id"]
            for _, kind, body, _ in got
        )

    return enough


def kinds(got: list[Any]) -> list[tuple[str, str]]:
    return [(kind.removeprefix("mistral."), body["name"]) for _, kind, body, _ in got]


def test_success_of_a_parent_and_its_child(heard: Any, mistral: Any) -> None:
    root = mistral.start("parent")
    got = heard.until(ended("succeeded"), root)
    assert len(kinds(got)) == 10  # launched and succeeded, of two workflows and three tasks
    assert {body["project_id"] for _, _, body, _ in got} != {None}
    children = {body["execution_id"] for _, _, body, _ in got} - {root}
    assert len(children) == 1
    tasks = [(kind, body["name"]) for _, kind, body, _ in got if kind.startswith("mistral.task.")]
    assert sorted(tasks) == sorted(
        (f"mistral.task.{change}", name)
        for change in ("launched", "succeeded")
        for name in ("child", "one", "two")
    )
    delays = sorted(
        (at - datetime.fromisoformat(body["timestamp"]).timestamp()) * 1000
        for at, _, body, _ in got
    )
    assert delays[len(delays) // 2] < SOON, delays


@pytest.mark.parametrize("name", ["fail", "expression"])
def test_failure_says_why(heard: Any, mistral: Any, name: str) -> None:
    got = heard.until(ended("failed"), mistral.start(name))
    body = got[-1][2]
    assert body["state"] == "ERROR"
    assert body["state_info"]
    assert ("task.failed", "one") in kinds(got)


def test_pause_resume_and_cancel(heard: Any, mistral: Any) -> None:
    root = mistral.start("slow")
    for state, event in (("PAUSED", "paused"), ("RUNNING", "resumed"), ("CANCELLED", "cancelled")):
        mistral.set_state(root, state)
        assert heard.until(ended(event), root)[-1][2]["state"] == state


class Gate:
    """A door in front of the broker that can be shut."""

    def __init__(self, port: int) -> None:
        self._target = port
        self._open = False
        self._sockets: list[socket.socket] = []
        self._server = socket.create_server(("127.0.0.1", 0))
        self.port = self._server.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def open(self) -> None:
        self._open = True

    def shut(self) -> None:
        self._open = False
        for one in self._sockets:
            # close() alone would leave the threads that read from it waiting.
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()
        self._sockets.clear()

    def close(self) -> None:
        self.shut()
        self._server.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                near, _ = self._server.accept()
                if not self._open:
                    near.close()
                    continue
                far = socket.create_connection(("127.0.0.1", self._target))
                self._sockets += [near, far]
                for pair in ((near, far), (far, near)):
                    threading.Thread(target=self._copy, args=pair, daemon=True).start()

    @staticmethod
    def _copy(source: socket.socket, sink: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while part := source.recv(65536):
                sink.sendall(part)
        with contextlib.suppress(OSError):
            sink.shutdown(socket.SHUT_RDWR)


@pytest.fixture
def gate(undercloud: Any) -> Iterator[Gate]:
    made = Gate(undercloud.port["rabbitmq"])
    yield made
    made.close()


def test_an_outage_of_the_broker_loses_nothing(
    undercloud: Any, heard: Any, gate: Gate, bus_conf: Any
) -> None:
    root = uuid.uuid4().hex
    data = {"name": "kept", "state": "RUNNING", "root_execution_id": root, "project_id": "p"}
    publisher = BusPublisher(Bus(bus_conf(undercloud.broker, gate.port)).send)

    def publish(number: int) -> None:
        publisher.publish(None, f"wf-{number}", data, "WORKFLOW_LAUNCHED", None)

    gate.open()
    publish(0)
    heard.until(lambda got: len(got) == 1, root)
    gate.shut()
    began = time.monotonic()
    for number in range(1, 50):
        publish(number)
    assert time.monotonic() - began < 0.5, "an outage held the engine up"
    time.sleep(1)
    gate.open()
    got = heard.until(lambda got: len({one for *_, one in got}) == 49, root)
    order = list(dict.fromkeys(body["execution_id"] for _, _, body, _ in got))
    assert order == [f"wf-{number}" for number in range(1, 50)]
    assert publisher.close()
