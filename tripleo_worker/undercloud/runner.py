"""Runs one unit: starts it when what it needs is ready, watches it, starts it again.

::

    waiting ─► starting ─► running ─► (dies) backoff ─► starting …
                  │  └──► done (a step)
                  └─────► failed (dies repeatedly before it was ever ready)
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from tripleo_worker.undercloud import processes
from tripleo_worker.undercloud.files import write_private
from tripleo_worker.undercloud.layout import Layout
from tripleo_worker.undercloud.probes import Prober
from tripleo_worker.undercloud.state import UnitReport, UnitState
from tripleo_worker.undercloud.units import Kind, Unit


@dataclass(frozen=True, kw_only=True)
class Pace:
    """How patiently a dead unit is started again; all times in seconds."""

    first_pause: float = 0.5
    longest_pause: float = 30.0
    #: A service that ran this long counts its deaths anew.
    stable: float = 60.0
    #: Deaths before the first readiness that make a unit fail.
    attempts: int = 3
    #: Between two questions about readiness.
    probe: float = 0.15

    def pause(self, deaths: int) -> float:
        """How long to wait after so many deaths in a row."""
        return min(self.longest_pause, self.first_pause * 2.0 ** min(deaths - 1, 16))


class Runner:
    """One unit under supervision."""

    def __init__(
        self,
        unit: Unit,
        layout: Layout,
        prober: Prober,
        *,
        ports: dict[str, int],
        changed: Callable[[], None],
        pace: Pace | None = None,
    ) -> None:
        self.unit = unit
        #: Set while the unit does what it is for.
        self.ready = asyncio.Event()
        self._layout = layout
        self._prober = prober
        self._ports = ports
        self._changed = changed
        self._pace = pace or Pace()
        self._process: asyncio.subprocess.Process | None = None
        self._restart = asyncio.Event()
        self._was_ready = False
        self._state = UnitState.WAITING
        self._since = datetime.now(UTC)
        self._restarts = 0
        self._took: float | None = None
        self._detail = ""

    @property
    def state(self) -> UnitState:
        """Where the unit stands."""
        return self._state

    def report(self) -> UnitReport:
        """The unit for the state file."""
        running = self._process is not None and self._process.returncode is None
        return UnitReport(
            name=self.unit.name,
            kind=self.unit.kind.value,
            state=self._state,
            pid=self._process.pid if running and self._process else None,
            port=self._ports[self.unit.ports[0]] if self.unit.ports else None,
            restarts=self._restarts,
            since=self._since,
            took=self._took,
            detail=self._detail,
        )

    def restart(self) -> None:
        """Start the process anew, which is not counted as a death."""
        # Whatever needs it waits from now on, not from when the process is gone.
        self.ready.clear()
        self._restart.set()

    async def run(self, needs: Sequence[Runner]) -> None:
        """Run the unit until it is done, has failed, or the task is cancelled."""
        try:
            self._was_ready = False
            await self._wait_for(needs)
            if self.unit.kind is Kind.SERVICE:
                await self._keep_alive()
            else:
                await self._do_step()
        except asyncio.CancelledError:
            self.ready.clear()
            self._enter(UnitState.STOPPING)
            await asyncio.shield(self._end())
            self._enter(UnitState.STOPPED)
            raise

    async def _wait_for(self, needs: Sequence[Runner]) -> None:
        for needed in needs:
            if not needed.ready.is_set():
                self._enter(UnitState.WAITING, f"needs {needed.unit.name}")
                await needed.ready.wait()

    # -- steps ---------------------------------------------------------------------------

    async def _do_step(self) -> None:
        mark = self._layout.done / self.unit.name
        wanted = f"{min(self._ports.values())}\n" if self.unit.holds_ports else "done\n"
        once = self.unit.kind is Kind.ONCE
        if not (once and mark.is_file() and mark.read_text() == wanted):
            if not await self._complete():
                return
            if once:
                write_private(mark, wanted)
        self._enter(UnitState.DONE)
        self.ready.set()

    async def _complete(self) -> bool:
        """Run a step to its end; False if it failed."""
        started = time.monotonic()
        process = await self._spawn()
        if process is None:
            return False
        try:
            async with asyncio.timeout(self.unit.start_timeout):
                code = await process.wait()
        except TimeoutError:
            await self._end()
            return self._fail(f"did not end within {self.unit.start_timeout:.0f} s")
        self._took = time.monotonic() - started
        return code == 0 or self._fail(_exit_text(code))

    # -- services ------------------------------------------------------------------------

    async def _keep_alive(self) -> None:
        deaths = 0
        while True:
            self._restart.clear()
            started = time.monotonic()
            reason = await self._live()
            self.ready.clear()
            await self._end()
            if not reason:
                continue
            deaths = 1 if time.monotonic() - started > self._pace.stable else deaths + 1
            if not self._was_ready and deaths >= self._pace.attempts:
                self._fail(reason)
                return
            await self._pause(deaths, reason)

    async def _live(self) -> str:
        """Start the service and stay until it dies (the reason) or a restart is asked ("")."""
        process = await self._spawn()
        if process is None:
            return self._detail
        exited = asyncio.create_task(process.wait())
        asked = asyncio.create_task(self._restart_asked())
        ready = asyncio.create_task(self._until_ready())
        try:
            return await self._watch(exited, asked, ready)
        finally:
            for task in (exited, asked, ready):
                task.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await task

    async def _watch(
        self, exited: asyncio.Task[int], asked: asyncio.Task[None], ready: asyncio.Task[None]
    ) -> str:
        limit = self.unit.start_timeout
        first = asyncio.FIRST_COMPLETED
        tasks: set[asyncio.Task[Any]] = {exited, asked, ready}
        await asyncio.wait(tasks, timeout=limit, return_when=first)
        if ready.done() and not exited.done():
            self._was_ready = True
            self._enter(UnitState.RUNNING)
            self.ready.set()
            await asyncio.wait(tasks - {ready}, return_when=first)
        if exited.done():
            return _exit_text(exited.result())
        return "" if asked.done() else f"not ready within {limit:.0f} s"

    async def _restart_asked(self) -> None:
        await self._restart.wait()

    async def _until_ready(self) -> None:
        started = time.monotonic()
        # A service of others tells nobody when it is ready: it has to be asked.
        while not await self._prober.ready(self.unit.probes):  # noqa: ASYNC110
            await asyncio.sleep(self._pace.probe)
        self._took = time.monotonic() - started

    async def _pause(self, deaths: int, reason: str) -> None:
        pause = self._pace.pause(deaths)
        self._enter(UnitState.BACKOFF, f"{reason}; starts again in {pause:g} s")
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(pause):
                await self._restart.wait()
        self._restarts += 1

    # -- processes -----------------------------------------------------------------------

    async def _spawn(self) -> asyncio.subprocess.Process | None:
        """Start the process; None, with the reason kept, if the program cannot be run."""
        self._enter(UnitState.STARTING)
        name = self.unit.name
        with self._layout.log(name).open("ab") as log:
            try:
                self._process = await asyncio.create_subprocess_exec(
                    *self.unit.command,
                    stdin=asyncio.subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    cwd=self._layout.run,
                    env=processes.environment(self._layout.mark, name, self.unit.env),
                    start_new_session=True,
                )
            except OSError as error:
                self._fail(f"{self.unit.command[0]} cannot be run: {error.strerror}")
                return None
        self._changed()
        return self._process

    async def _end(self) -> None:
        """End the process and everything that it started."""
        process, self._process = self._process, None
        if process is None:
            return
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGTERM)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self.unit.stop_timeout):
                    await process.wait()
        name, mark = self.unit.name, self._layout.mark
        await asyncio.to_thread(processes.end, lambda: processes.find(mark, name), 1.0)
        await process.wait()

    # -- state ---------------------------------------------------------------------------

    def _enter(self, state: UnitState, detail: str = "") -> None:
        self._state, self._detail, self._since = state, detail, datetime.now(UTC)
        self._changed()

    def _fail(self, reason: str) -> bool:
        self._enter(UnitState.FAILED, reason)
        return False


def _exit_text(code: int) -> str:
    if code < 0:
        return f"ended by signal {signal.Signals(-code).name}"
    return f"ended with status {code}"
