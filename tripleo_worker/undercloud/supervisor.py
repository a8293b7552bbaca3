"""The supervisor process: runs all units of one undercloud until it is told to stop.

Usage: ``python -m tripleo_worker.undercloud.supervisor FOLDER``, which ``up`` does. SIGTERM
stops everything, dependents first. SIGHUP makes it take up the request file: units to
restart, failed ones to try again, settings that changed.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
from collections.abc import Callable

import psutil

from tripleo_worker.undercloud import credentials, logfiles, orders, settings, state
from tripleo_worker.undercloud.files import private_folder
from tripleo_worker.undercloud.layout import Layout, port_map
from tripleo_worker.undercloud.locks import hold
from tripleo_worker.undercloud.probes import Prober
from tripleo_worker.undercloud.runner import Pace, Runner
from tripleo_worker.undercloud.services import declared
from tripleo_worker.undercloud.state import UnitState
from tripleo_worker.undercloud.units import Kind, Unit

_LOG = logging.getLogger(__name__)
#: Seconds between two looks at the size of the logs.
_LOG_CHECK = 30.0


class Supervisor:
    """All units of one undercloud and the tasks that run them."""

    def __init__(self, layout: Layout, ports: dict[str, int], prober: Prober,
                 pace: Pace | None = None) -> None:  # fmt: skip
        self._layout = layout
        self._ports = ports
        self._prober = prober
        self._pace = pace
        self._runners: dict[str, Runner] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._generation = 0
        self._writing = False

    def start(self, units: tuple[Unit, ...], generation: int = 0) -> None:
        """Run units: new ones are added, ended ones run again, and absent ones stop."""
        for unit in units:
            if unit.name not in self._runners:
                self._runners[unit.name] = Runner(
                    unit, self._layout, self._prober, ports=self._ports,
                    changed=self._changed, pace=self._pace,
                )  # fmt: skip
        for unit in units:
            task = self._tasks.get(unit.name)
            if task is None or (task.done() and self._again(unit)):
                needs = [self._runners[name] for name in unit.needs]
                run = self._runners[unit.name].run(needs)
                self._tasks[unit.name] = asyncio.create_task(run, name=unit.name)
        self._generation = generation
        self._changed()

    def _again(self, unit: Unit) -> bool:
        return unit.kind is Kind.TASK or self._runners[unit.name].state is UnitState.FAILED

    def restart(self, names: tuple[str, ...]) -> None:
        """Restart the named services."""
        for name in names:
            if name in self._runners:
                self._runners[name].restart()

    async def stop(self) -> None:
        """Stop every unit after those that need it."""
        stops: dict[str, asyncio.Task[None]] = {}

        def stopping(name: str) -> asyncio.Task[None]:
            if name not in stops:
                stops[name] = asyncio.create_task(self._stop(name, stopping))
            return stops[name]

        await asyncio.gather(*(stopping(name) for name in self._runners))

    async def _stop(self, name: str, stopping: Callable[[str], asyncio.Task[None]]) -> None:
        dependents = [each for each, runner in self._runners.items() if name in runner.unit.needs]
        await asyncio.gather(*(stopping(each) for each in dependents))
        self._tasks[name].cancel()
        await asyncio.wait({self._tasks[name]})

    def _changed(self) -> None:
        if not self._writing:
            self._writing = True
            asyncio.get_running_loop().call_soon(self.write)

    def write(self) -> None:
        """Write the state file."""
        self._writing = False
        report = state.Report(
            pid=os.getpid(),
            started=psutil.Process().create_time(),
            generation=self._generation,
            units=tuple(runner.report() for runner in self._runners.values()),
        )
        state.write(self._layout, report)


async def _supervise(layout: Layout) -> None:
    kept = settings.load(layout) or settings.Settings()
    ports = port_map(kept.port_base)
    secret = credentials.load_or_generate(layout.secrets)
    supervisor = Supervisor(layout, ports, Prober(ports, secret.rabbitmq))
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)

    def take_up_request() -> None:
        request = orders.read(layout)
        supervisor.restart(request.restart)
        units = declared(layout, settings.load(layout) or kept)
        supervisor.start(units, request.generation)

    loop.add_signal_handler(signal.SIGHUP, take_up_request)
    take_up_request()
    supervisor.write()
    while not stop.is_set():
        await asyncio.wait({asyncio.ensure_future(stop.wait())}, timeout=_LOG_CHECK)
        logfiles.rotate_large(layout)
    await supervisor.stop()
    supervisor.write()


def main() -> None:
    """Supervise the undercloud in the folder that the command line names."""
    os.umask(0o077)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    layout = Layout.at(sys.argv[1])
    private_folder(layout.run)
    with hold(layout.run / "supervisor.lock"):
        _LOG.info("The supervisor starts.")
        asyncio.run(_supervise(layout))
        _LOG.info("The supervisor has stopped everything.")


if __name__ == "__main__":
    main()
