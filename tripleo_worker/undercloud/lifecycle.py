"""Up, down, restart and reset: what the commands do, apart from what they show."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import sys
import time
from collections.abc import Callable

from tripleo_worker.errors import StartFailed, UndercloudError
from tripleo_worker.undercloud import (
    credentials,
    logfiles,
    orders,
    preflight,
    processes,
    rendering,
    settings,
    state,
)
from tripleo_worker.undercloud.files import private_folder
from tripleo_worker.undercloud.layout import Layout, port_map
from tripleo_worker.undercloud.locks import hold
from tripleo_worker.undercloud.services import declared
from tripleo_worker.undercloud.settings import Settings
from tripleo_worker.undercloud.state import Report, UnitReport, UnitState
from tripleo_worker.undercloud.units import Unit

#: Seconds that a command waits for another one on the same undercloud.
PATIENCE = 600.0
#: Seconds that `up` waits for everything to be ready.
START_TIMEOUT = 300.0
#: Seconds that `down` gives the supervisor to stop all in order.
STOP_TIMEOUT = 90.0
#: Lines of a failed unit's log that the error shows.
_SHOWN_LINES = 15
_POLL_SECONDS = 0.1

Say = Callable[[str], None]
Watch = Callable[[Report], None]


def up(
    layout: Layout, *, port_base: int | None, worker: bool | None, watch: Watch, say: Say
) -> Report:
    """Start what does not run yet and wait until all is ready.

    Args:
        layout: where the undercloud lives.
        port_base: None keeps the one chosen before.
        worker: whether the worker daemon is to run too; None keeps what was chosen before.
        watch: called with each new report of the supervisor.
        say: takes words for people.

    Raises:
        UndercloudError: it cannot start; the message says why and what helps.
        StartFailed: a unit failed; the message ends with the end of its log.
    """
    with _locked(layout, say):
        report = running(layout)
        chosen = _choose(layout, report, port_base, worker)
        units = declared(layout, chosen)
        if report is None:
            generation = _start(layout, chosen, units, say)
        else:
            generation = _refresh(layout, chosen, units, report)
        return _follow(layout, generation, watch)


def running(layout: Layout) -> Report | None:
    """What the living supervisor reports; None if none lives."""
    report = state.read(layout)
    return report if report is not None and report.alive() else None


def _locked(layout: Layout, say: Say) -> contextlib.AbstractContextManager[None]:
    for folder in (layout.root, layout.run, layout.logs, layout.data):
        private_folder(folder)
    return hold(
        layout.run / "command.lock",
        patience=PATIENCE,
        waiting=lambda: say("Another command is at work on this undercloud; waiting for it."),
    )


def _choose(
    layout: Layout, report: Report | None, port_base: int | None, worker: bool | None
) -> Settings:
    kept = settings.load(layout) or Settings()
    base = kept.port_base if port_base is None else port_base
    port_map(base)
    if report is not None and base != kept.port_base:
        raise UndercloudError(
            f"The undercloud in {layout.root} runs with the port base {kept.port_base}.",
            remedy="Run `tripleo-worker undercloud down` before you choose another --port-base.",
        )
    return Settings(port_base=base, worker=kept.worker if worker is None else worker)


def _start(layout: Layout, chosen: Settings, units: tuple[Unit, ...], say: Say) -> int:
    preflight.check_programs(units)
    preflight.check_disk(layout)
    if processes.find(layout.mark):
        say("Ending what an earlier run left behind.")
        _end_left(layout)
    preflight.check_ports(port_map(chosen.port_base))
    _configure(layout, chosen)
    orders.clear(layout)
    layout.state.unlink(missing_ok=True)
    with layout.log("supervisor").open("ab") as log:
        subprocess.Popen(  # noqa: S603 - our own module
            [sys.executable, "-m", "tripleo_worker.undercloud.supervisor", str(layout.root)],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd=layout.run,
            env=processes.environment(layout.mark, processes.SUPERVISOR, {}),
            start_new_session=True,
        )
    return 0


def _configure(layout: Layout, chosen: Settings) -> set[str]:
    private_folder(layout.done)
    for name in ("redis", "rabbitmq", "swift", "ironic"):
        private_folder(layout.data / name)
    secret = credentials.load_or_generate(layout.secrets)
    changed = rendering.render(layout, chosen, secret)
    settings.store(layout, chosen)
    return changed


def _refresh(layout: Layout, chosen: Settings, units: tuple[Unit, ...], report: Report) -> int:
    """Bring a running undercloud in line: configuration, failed units, the worker."""
    changed = _configure(layout, chosen)
    restart = tuple(unit.name for unit in units if unit.config in changed)
    states = {unit.name: unit.state for unit in report.units}
    if not restart and all(states.get(unit.name, UnitState.FAILED).good for unit in units):
        return report.generation
    return orders.send(layout, report, restart).generation


def _follow(layout: Layout, generation: int, watch: Watch) -> Report:
    deadline = time.monotonic() + START_TIMEOUT
    seen: Report | None = None
    while time.monotonic() < deadline:
        report = running(layout)
        if report is not None and report != seen:
            seen = report
            watch(report)
        if report is not None and report.generation >= generation:
            _raise_failure(layout, report)
            if report.units and all(unit.state.good for unit in report.units):
                return report
        elif report is None and not processes.find(layout.mark, processes.SUPERVISOR):
            raise StartFailed(_with_log(layout, "The supervisor ended", "supervisor"))
        time.sleep(_POLL_SECONDS)
    raise StartFailed(_slow(seen))


def _raise_failure(layout: Layout, report: Report) -> None:
    for unit in report.units:
        if unit.state is UnitState.FAILED:
            raise StartFailed(
                _with_log(layout, f"{unit.name} {unit.detail}", unit.name),
                remedy=f"Set right what its log names ({layout.log(unit.name)}), then run"
                " `tripleo-worker undercloud up` again.",
            )


def _with_log(layout: Layout, sentence: str, name: str) -> str:
    lines = logfiles.tail(layout.log(name), _SHOWN_LINES)
    return "\n".join([f"{sentence}. The end of its log:", *(f"  {line}" for line in lines), ""])


def _slow(report: Report | None) -> str:
    late = [unit.name for unit in report.units if not unit.state.good] if report else ["all"]
    return f"Not ready after {START_TIMEOUT:.0f} s: {', '.join(late)}."


def restart(layout: Layout, names: tuple[str, ...], watch: Watch, say: Say) -> Report:
    """Restart services and wait until they are ready again.

    Raises:
        UndercloudError: the undercloud is down, or a name is unknown.
    """
    with _locked(layout, say):
        report = running(layout)
        if report is None:
            raise UndercloudError(
                "The undercloud is down.", remedy="Start it: tripleo-worker undercloud up."
            )
        known_service(report.units, names)
        return _follow(layout, orders.send(layout, report, names).generation, watch)


def known_service(units: tuple[UnitReport, ...], names: tuple[str, ...]) -> None:
    """Check names of services.

    Raises:
        UndercloudError: a name is unknown; the error lists the known ones.
    """
    known = [unit.name for unit in units if unit.kind == "service"]
    unknown = [name for name in names if name not in known]
    if unknown:
        raise UndercloudError(
            f"There is no service {', '.join(unknown)}.", remedy=f"Known: {', '.join(known)}."
        )


def down(layout: Layout, say: Say) -> None:
    """Stop everything; end what is left even if the supervisor is dead.

    Raises:
        UndercloudError: a process could not be ended.
    """
    if not layout.root.is_dir():
        return
    with _locked(layout, say):
        _stop(layout)


def _stop(layout: Layout) -> None:
    supervisor = processes.find(layout.mark, processes.SUPERVISOR)
    processes.end(lambda: [found for found in supervisor if found.process.is_running()],
                  STOP_TIMEOUT)  # fmt: skip
    _end_left(layout)
    layout.state.unlink(missing_ok=True)


def _end_left(layout: Layout) -> None:
    left = processes.end(lambda: processes.find(layout.mark), 20.0)
    if left:
        names = ", ".join(f"{found.unit} (process {found.process.pid})" for found in left)
        raise UndercloudError(
            f"Still alive: {names}.", remedy="End them by hand; they may belong to another user."
        )


def reset(layout: Layout, say: Say) -> None:
    """Stop everything and delete all that was made but the user's own templates."""
    if not layout.root.is_dir():
        return
    with _locked(layout, say):
        _stop(layout)
        for folder in (layout.data, layout.etc, layout.logs):
            shutil.rmtree(folder, ignore_errors=True)
        for file in (layout.secrets, layout.clouds, layout.settings):
            file.unlink(missing_ok=True)
