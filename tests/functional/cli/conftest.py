"""The ``openstack`` program on the real undercloud, and plans to deploy."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from keystoneauth1.session import Session

from tests.functional.conftest import Undercloud, absent
from tripleo_actions.services.heat import Heat
from tripleo_worker.client.cloud import Cloud
from tripleo_worker.client.sync.connection import Connection
from tripleo_worker.operations import Operation

OPENSTACK = Path(sys.executable).with_name("openstack")
#: Seconds that no command of these tests may take.
LIMIT = 180
QUICK = (
    "--parameter", "BootSeconds=0", "--parameter", "ConfigSeconds=0", "--parameter",
    "StepSeconds=0", "--parameter", "ControllerCount=1", "--parameter", "ComputeCount=1",
    "--parameter", "FailRole=",
)  # fmt: skip


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    code: int
    out: str
    err: str


@dataclass(frozen=True)
class Program:
    """The program as a user of the undercloud runs it."""

    environment: dict[str, str]

    def start(self, *words: str, **variables: str) -> subprocess.Popen[str]:
        """Start a command."""
        return subprocess.Popen(
            [OPENSTACK, *words],
            env=self.environment | variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )

    def __call__(self, *words: str, **variables: str) -> Ended:
        """Run a command to its end."""
        return ended(self.start(*words, **variables))


def ended(process: subprocess.Popen[str]) -> Ended:
    """Wait for a command."""
    try:
        out, err = process.communicate(timeout=LIMIT)
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
        pytest.fail(f"{process.args} did not end:\n{out}\n{err}")
    return Ended(process.returncode, out, err)


def until(ask: Callable[[], Any], seconds: float = 60) -> Any:
    """The first true answer."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        answer = ask()
        if answer:
            return answer
        time.sleep(0.2)
    raise AssertionError(f"nothing within {seconds} s")


@pytest.fixture(scope="session")
def worker(undercloud: Undercloud) -> Callable[[], int]:
    """Gives the process id of the worker that the undercloud supervises."""

    def pid() -> int:
        found = [one for one in undercloud.report().units if one.name == "worker"]
        return found[0].pid or 0 if found else 0

    if not pid():
        absent("the undercloud has no worker; start it with `undercloud up --worker`")
    return pid


@pytest.fixture(scope="session")
def kill_worker(worker: Callable[[], int]) -> Callable[[], None]:
    """Kills the worker as nothing can be prepared for."""
    return lambda: os.kill(worker(), signal.SIGKILL)


@pytest.fixture(scope="session")
def openstack(undercloud: Undercloud, worker: Callable[[], int]) -> Program:
    return Program(undercloud.environment)


@pytest.fixture(scope="session")
def cloud(session: Session) -> Connection:
    return Connection(Cloud(session))


@pytest.fixture(scope="session")
def heat(session: Session) -> Heat:
    return Heat(session)


@pytest.fixture(scope="module")
def plan(openstack: Program, heat: Heat) -> Iterator[str]:
    """A sample plan that a module's tests deploy one after the other."""
    yield from _plan(openstack, heat)


@pytest.fixture
def own_plan(openstack: Program, heat: Heat) -> Iterator[str]:
    """A sample plan for a test that leaves its stack in disorder."""
    yield from _plan(openstack, heat)


def _plan(openstack: Program, heat: Heat) -> Iterator[str]:
    name = f"cli-{uuid.uuid4().hex[:8]}"
    created = openstack("overcloud", "plan", "create", name)
    assert created.code == 0, created.err
    yield name
    stack = heat.stack(name)
    if stack is not None:
        openstack("stack", "delete", "--yes", "--wait", name)
    deleted = openstack("overcloud", "plan", "delete", name)
    assert deleted.code == 0, deleted.err


def latest(cloud: Connection, plan: str) -> Operation:
    """The operation that was started last on a plan."""
    return cloud.operations(plan=plan)[-1]
