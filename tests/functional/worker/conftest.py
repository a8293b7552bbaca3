"""Workers of a test's own: journal, port and queue of the bus are nobody else's."""

from __future__ import annotations

import configparser
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import kombu
import pytest
import requests
from keystoneauth1.session import Session

from tests.functional.conftest import Undercloud
from tests.functional.samples import Plans, until

PROGRAM = Path(sys.executable).with_name("tripleo-worker")


class OwnWorker:
    """A worker that a test may kill."""

    def __init__(self, config: Path, port: int) -> None:
        self.config, self.url = config, f"http://127.0.0.1:{port}"
        self.log, self.journal = config.with_suffix(".log"), config.with_name("journal.sqlite")
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def code(self) -> int | None:
        """The exit code; None while it runs."""
        assert self._process is not None
        return self._process.poll()

    def start(self) -> None:
        """Start it, and wait until it serves."""
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                [PROGRAM, "serve", "--config-file", self.config], stdout=log, stderr=log
            )
        until(self._serves, "the worker serves", 30)

    def end(self, number: signal.Signals) -> None:
        """Send it a signal and wait for its end."""
        assert self._process is not None
        self._process.send_signal(number)
        self._process.wait(30)

    def stop(self) -> None:
        """End it if it runs."""
        if self._process is not None and self._process.poll() is None:
            self.end(signal.SIGTERM)

    def rows(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        """What stands in the journal's database, read beside the worker."""
        with sqlite3.connect(f"file:{self.journal}?mode=ro", uri=True) as database:
            found = database.execute(query, values).fetchall()
        database.close()
        return found

    def _serves(self) -> bool:
        assert self._process is not None
        assert self._process.poll() is None, self.log.read_text()[-3000:]
        try:
            return requests.get(f"{self.url}/healthz", timeout=5).ok
        except requests.ConnectionError:
            return False


@pytest.fixture
def own_worker(undercloud: Undercloud, tmp_path: Path) -> Iterator[OwnWorker]:
    """A worker that runs, with an empty journal."""
    config = configparser.ConfigParser(interpolation=None)
    config.read(undercloud.layout.etc / "tripleo-worker" / "tripleo-worker.conf")
    port, pool = free_port(), f"test-worker-{uuid.uuid4().hex[:8]}"
    config["journal"] = {"connection": f"sqlite:///{tmp_path}/journal.sqlite"}
    config["gateway"] = {"host": "127.0.0.1", "port": str(port)}
    config["notifications"] = {"pool": pool}
    path = tmp_path / "worker.conf"
    with open(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), "w") as file:
        config.write(file)
    worker = OwnWorker(path, port)
    try:
        worker.start()
        yield worker
    finally:
        worker.stop()
        forget_queue(undercloud, pool)


def forget_queue(undercloud: Undercloud, pool: str) -> None:
    """Delete a queue that nobody reads any more, and that would grow for ever."""
    with kombu.Connection(undercloud.broker.replace("rabbit://", "amqp://")) as connection:
        connection.channel().queue_delete(pool)


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
        return port


@pytest.fixture
def plans(session: Session) -> Iterator[Plans]:
    made = Plans(session)
    yield made
    made.remove()
