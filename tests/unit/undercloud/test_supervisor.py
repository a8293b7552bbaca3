"""Supervision, on real processes: order, crashes, back-off, ends."""

import asyncio
import contextlib
import os
import signal

import psutil
import pytest

from tests.unit.undercloud.conftest import SLEEP, step, unit
from tripleo_worker.undercloud import processes, state
from tripleo_worker.undercloud.runner import Pace
from tripleo_worker.undercloud.state import UnitState
from tripleo_worker.undercloud.supervisor import Supervisor


class Ready:
    """Every question about readiness is answered by yes."""

    async def ready(self, probes):
        return True


@pytest.fixture
async def start(layout):
    """Starts a supervisor over units; it is stopped at the end."""
    async with contextlib.AsyncExitStack() as stack:

        def begin(*units, pace=None):
            quick = pace or Pace(probe=0.01, first_pause=0.05, longest_pause=0.1)
            supervisor = Supervisor(layout, {}, Ready(), quick)
            stack.push_async_callback(supervisor.stop)
            supervisor.start(units)
            return supervisor

        yield begin


async def until(layout, met, seconds=15.0):
    async with asyncio.timeout(seconds):
        while True:
            report = state.read(layout)
            units = {one.name: one for one in report.units} if report else {}
            with contextlib.suppress(KeyError):
                if met(units):
                    return units
            await asyncio.sleep(0.02)


def is_in(wanted, **names):
    return all(wanted[name].state == UnitState(word) for name, word in names.items())


async def test_a_unit_starts_after_what_it_needs(layout, start):
    made = layout.run / "made"
    start(
        unit("service", f"assert open({str(made)!r}).read(); {SLEEP}", needs=("first",)),
        step("first", f"import time; time.sleep(0.3); open({str(made)!r}, 'w').write('x')"),
    )
    await until(layout, lambda u: is_in(u, service="running", first="done"))


async def test_a_step_that_was_done_is_not_done_again(layout, start):
    count = layout.run / "count"
    script = f"open({str(count)!r}, 'a').write('x')"
    start(step("first", script))
    await until(layout, lambda u: is_in(u, first="done"))
    start(step("first", script))
    await until(layout, lambda u: is_in(u, first="done"))
    assert count.read_text() == "x"


async def test_a_service_that_crashes_is_started_again_and_counted(layout, start):
    start(unit("service", SLEEP))
    first = (await until(layout, lambda u: is_in(u, service="running")))["service"]
    os.kill(first.pid, signal.SIGKILL)
    again = (
        await until(layout, lambda u: u["service"].restarts == 1 and is_in(u, service="running"))
    )["service"]
    assert again.pid != first.pid


async def test_a_service_that_dies_at_its_start_fails_with_its_reason(layout, start):
    class Never:
        async def ready(self, probes):
            return False

    supervisor = Supervisor(
        layout, {}, Never(), Pace(probe=0.01, first_pause=0.01, longest_pause=0.02, attempts=2)
    )
    supervisor.start((unit("service", "raise SystemExit('no such table')"),))
    units = await until(layout, lambda u: is_in(u, service="failed"))
    assert "status 1" in units["service"].detail
    assert "no such table" in layout.log("service").read_text()
    await supervisor.stop()


async def test_a_program_that_is_missing_is_told(layout, start):
    from tripleo_worker.undercloud.units import Unit

    start(Unit(name="service", command=("/nowhere/program",)), pace=Pace(attempts=1))
    units = await until(layout, lambda u: is_in(u, service="failed"))
    assert "/nowhere/program" in units["service"].detail


async def test_stopping_leaves_no_process_however_it_was_started(layout, start):
    # The child leaves the group and the session of its parent.
    script = (
        "import subprocess, sys, time;"
        "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'],"
        " start_new_session=True); time.sleep(600)"
    )
    supervisor = start(unit("service", script))
    await until(layout, lambda u: is_in(u, service="running"))
    async with asyncio.timeout(10):
        while len(processes.find(layout.mark)) < 2:  # noqa: ASYNC110
            await asyncio.sleep(0.05)
    children = [found.process for found in processes.find(layout.mark)]
    await supervisor.stop()
    assert processes.find(layout.mark) == []
    assert not any(
        child.is_running() and child.status() != psutil.STATUS_ZOMBIE for child in children
    )


async def test_what_needs_a_restarted_service_waits_for_it(layout, start):
    supervisor = start(unit("service", SLEEP))
    before = (await until(layout, lambda u: is_in(u, service="running")))["service"]
    runner = supervisor._runners["service"]
    supervisor.restart(("service",))
    assert not runner.ready.is_set()
    async with asyncio.timeout(10):
        await runner.ready.wait()
    after = (await until(layout, lambda u: u["service"].pid not in (None, before.pid)))["service"]
    assert after.restarts == 0
