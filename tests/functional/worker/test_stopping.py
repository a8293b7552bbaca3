"""The worker stops in a few seconds, says goodbye, and comes back where it was."""

from __future__ import annotations

import json
import signal
import subprocess
import time

import pytest
from keystoneauth1.session import Session
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from tests.functional.samples import Plans, until
from tests.functional.worker.conftest import PROGRAM, OwnWorker
from tests.functional.worker.test_endings import deafen

pytestmark = pytest.mark.timeout(120)
#: Seconds in which it has to be gone; twice what it allows itself, for a busy machine.
GONE = 8.0


def stopped(worker: OwnWorker) -> float:
    """Seconds that it took."""
    begun = time.monotonic()
    worker.end(signal.SIGTERM)
    return time.monotonic() - begun


def consume(socket: ClientConnection) -> None:
    while True:
        socket.recv(10)


def test_listeners_are_told_to_come_back(
    own_worker: OwnWorker, session: Session, plans: Plans
) -> None:
    with connect(f"{own_worker.url.replace('http', 'ws', 1)}/v1/stream") as socket:
        socket.send(json.dumps({"authenticate": {"token": session.get_token()}}))
        socket.send(json.dumps({"subscribe": {}}))
        assert "authenticated" in socket.recv(10)
        assert "subscribed" in socket.recv(10)
        seconds = stopped(own_worker)
        with pytest.raises(ConnectionClosed) as closed:
            consume(socket)
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 4000
    assert seconds < GONE
    assert "Traceback" not in own_worker.log.read_text()
    assert own_worker.code == 0

    own_worker.start()
    plans.mark("tests.after.stop")
    until(
        lambda: own_worker.rows("SELECT 1 FROM events WHERE type = 'tests.after.stop'"),
        "what was posted after the start",
    )


def test_a_broker_that_is_away_does_not_hold_the_worker(own_worker: OwnWorker) -> None:
    own_worker.stop()
    deafen(own_worker)
    own_worker.start()
    assert stopped(own_worker) < GONE
    assert own_worker.code == 0


def test_a_second_worker_on_the_same_port_is_refused_in_words(own_worker: OwnWorker) -> None:
    second = subprocess.run(
        [PROGRAM, "serve", "--config-file", own_worker.config],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert second.returncode == 1
    assert "cannot listen on 127.0.0.1 port" in second.stderr
    assert "Traceback" not in second.stderr
