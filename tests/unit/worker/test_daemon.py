"""What keeps the daemon going."""

import asyncio
import os
import socket
import subprocess
import sys
import time
from datetime import UTC, datetime

import pytest

from tripleo_worker import daemon
from tripleo_worker.daemon import Supervised, signs_of_life, tell_systemd, watchdog_interval
from tripleo_worker.intake import Intake
from tripleo_worker.ports import Health
from tripleo_worker.testing import MemoryJournal


class Faulty:
    """A source that falls so often, then keeps contact."""

    name = "faulty"

    def __init__(self, falls):
        self.falls = falls
        self.runs = 0
        self.contact = None
        self.running = asyncio.Event()

    def health(self):
        return Health(ok=True, last_contact=self.contact)

    async def run(self, sink):
        self.runs += 1
        if self.runs <= self.falls:
            raise ValueError("odd answer")
        self.running.set()
        await asyncio.Event().wait()


@pytest.fixture
def quick(monkeypatch):
    monkeypatch.setattr(daemon, "pauses", lambda longest: iter([0.0] * 100))


async def test_a_source_that_falls_is_started_again_and_its_health_says_so(quick, caplog):
    source = Faulty(falls=2)
    kept = Supervised(source)
    assert kept.health().ok
    task = asyncio.create_task(kept.run(Intake(MemoryJournal(), lambda entries: None)))
    async with asyncio.timeout(5):
        await source.running.wait()
    health = kept.health()
    assert not health.ok
    assert "odd answer" in health.detail
    assert "falls so far: 2" in health.detail
    source.contact = datetime.now(UTC)
    assert kept.health() == source.health()
    assert [one.message for one in caplog.records].count("faulty fell") == 2
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_source_that_ends_by_itself_is_started_again(quick):
    class Ending(Faulty):
        async def run(self, sink):
            self.runs += 1
            if self.runs > 3:
                await super().run(sink)

    source = Ending(falls=0)
    kept = Supervised(source)
    task = asyncio.create_task(kept.run(Intake(MemoryJournal(), lambda entries: None)))
    async with asyncio.timeout(5):
        await source.running.wait()
    assert "ended by itself" in kept.health().detail
    task.cancel()


async def test_after_a_long_good_run_a_fall_counts_as_the_first(monkeypatch):
    asked = []

    def pauses(longest):
        asked.append(longest)
        return iter([0.0] * 100)

    monkeypatch.setattr(daemon, "pauses", pauses)
    source = Faulty(falls=4)
    task = asyncio.create_task(
        Supervised(source, steady=0.0).run(Intake(MemoryJournal(), lambda entries: None))
    )
    async with asyncio.timeout(5):
        await source.running.wait()
    assert len(asked) == 1 + 4
    task.cancel()


async def test_systemd_is_told(tmp_path, monkeypatch):
    path = str(tmp_path / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(path)
        manager.settimeout(5)
        monkeypatch.setenv("NOTIFY_SOCKET", path)
        tell_systemd("READY=1")
        assert manager.recv(100) == b"READY=1"
        task = asyncio.create_task(signs_of_life(0.01))
        for _ in range(3):
            assert await asyncio.to_thread(manager.recv, 100) == b"WATCHDOG=1"
        task.cancel()


def test_without_systemd_nothing_is_told(monkeypatch):
    monkeypatch.delenv("NOTIFY_SOCKET", raising=False)
    tell_systemd("READY=1")


def test_a_manager_that_is_gone_stops_nobody(tmp_path, monkeypatch, caplog):
    monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "gone"))
    tell_systemd("READY=1")
    assert "cannot be told" in caplog.text


@pytest.mark.parametrize(
    ("environment", "seconds"),
    [
        ({}, None),
        ({"WATCHDOG_USEC": "30000000"}, 15.0),
        ({"WATCHDOG_USEC": "30000000", "WATCHDOG_PID": str(os.getpid())}, 15.0),
        ({"WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "1"}, None),
        ({"WATCHDOG_USEC": "0"}, None),
        ({"WATCHDOG_USEC": "soon"}, None),
    ],
)
def test_signs_of_life_come_twice_in_the_time_that_systemd_waits(environment, seconds):
    assert watchdog_interval(environment) == seconds


def test_what_hangs_does_not_keep_the_process():
    program = (
        "import threading, time, logging; logging.basicConfig()\n"
        "from tripleo_worker.daemon import end_within\n"
        "threading.Thread(target=time.sleep, args=(60,), name='stuck').start()\n"
        "end_within(0.2)\n"
    )
    begun = time.monotonic()
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, timeout=50)
    assert done.returncode == 0
    assert b"stuck" in done.stderr
    assert time.monotonic() - begun < 30
