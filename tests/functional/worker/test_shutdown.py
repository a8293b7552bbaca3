"""A worker ends soon when it is told to."""

from __future__ import annotations

import signal
import time

from keystoneauth1.session import Session
from websockets.sync.client import connect

from tests.functional.samples import until
from tests.functional.worker.conftest import OwnWorker


def test_it_ends_whoever_listens(own_worker: OwnWorker, session: Session) -> None:
    until(lambda: "notifications: contact" in own_worker.log.read_text(), "the bus is heard")
    headers = {"X-Auth-Token": str(session.get_token())}
    address = own_worker.url.replace("http", "ws", 1) + "/v1/stream"
    with connect(address, additional_headers=headers):
        began = time.monotonic()
        own_worker.end(signal.SIGTERM)
        assert time.monotonic() - began < 5
    assert "Traceback" not in own_worker.log.read_text()
