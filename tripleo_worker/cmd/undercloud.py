"""``tripleo-worker undercloud …``: real OpenStack services on this machine, for work and tests."""

from __future__ import annotations

import argparse
import itertools
import sys
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from cliff.columns import FormattableColumn
from cliff.command import Command
from cliff.lister import Lister

from tripleo_worker.errors import UndercloudError
from tripleo_worker.undercloud import lifecycle, logfiles, processes
from tripleo_worker.undercloud.layout import DEFAULT_PORT_BASE, Layout
from tripleo_worker.undercloud.screen import screen
from tripleo_worker.undercloud.state import Report, UnitReport, UnitState

_COLUMNS = ("service", "state", "pid", "port", "restarts", "since", "memory_mb", "detail")


def _add_folder(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    parser.add_argument(
        "--dir",
        metavar="FOLDER",
        help="where the undercloud lives (default: tripleo-worker/undercloud in the user's data"
        " folder)",
    )
    return parser


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


class Up(Command):
    """Start the embedded undercloud and wait until every service is ready."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Declare the options."""
        parser = _add_folder(super().get_parser(prog_name))
        parser.add_argument(
            "--port-base",
            type=int,
            metavar="N",
            help=f"first of the hundred ports that it uses (default: the one used before, or"
            f" {DEFAULT_PORT_BASE})",
        )
        parser.add_argument(
            "--worker",
            action=argparse.BooleanOptionalAction,
            help="run the worker daemon too (default: as before)",
        )
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> int:
        """Start and show how to use it."""
        layout = Layout.at(parsed_args.dir)
        with screen() as shown:
            lifecycle.up(
                layout,
                port_base=parsed_args.port_base,
                worker=parsed_args.worker,
                watch=shown.show,
                say=shown.say,
            )
        _say("The undercloud is ready. To use it:")
        print(f"export OS_CLIENT_CONFIG_FILE={layout.clouds} OS_CLOUD=undercloud")
        return 0


class Status(Lister):
    """Show the services of the embedded undercloud; exit code 1 if not all are well."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Declare the options."""
        return _add_folder(super().get_parser(prog_name))

    def run(self, parsed_args: argparse.Namespace) -> int:
        """Show the table, then tell by the exit code whether all is well."""
        super().run(parsed_args)
        report = lifecycle.running(Layout.at(parsed_args.dir))
        well = report is not None and all(unit.state.good for unit in report.units)
        return 0 if well else 1

    def take_action(
        self, parsed_args: argparse.Namespace
    ) -> tuple[tuple[str, ...], Iterable[tuple[Any, ...]]]:
        """Read the supervisor's report and weigh the processes."""
        layout = Layout.at(parsed_args.dir)
        report = lifecycle.running(layout)
        if report is None:
            _say(_why_down(layout))
        found = processes.find(layout.mark)
        return _COLUMNS, _rows(report, processes.memory(found))


def _why_down(layout: Layout) -> str:
    left = len(processes.find(layout.mark))
    if left:
        return (
            f"The supervisor has died; {left} processes of its services are left."
            " Run `tripleo-worker undercloud up` to start anew, or `down` to end them."
        )
    return "The undercloud is down. Start it: tripleo-worker undercloud up"


def _rows(report: Report | None, memory: dict[str, float]) -> Iterable[tuple[Any, ...]]:
    for unit in report.units if report else ():
        if unit.kind == "service" or unit.state is not UnitState.DONE:
            yield _row(unit, memory.get(unit.name))
    if processes.SUPERVISOR in memory and report:
        yield _row(_supervisor(report), memory[processes.SUPERVISOR])


class _Since(FormattableColumn[Any]):
    """A time of today for people, the whole of it for programs."""

    def human_readable(self) -> str:
        """Hours, minutes and seconds, by the clock on the wall."""
        since: datetime = self._value
        return f"{since.astimezone():%H:%M:%S}"

    def machine_readable(self) -> str:
        """ISO 8601 with its offset."""
        since: datetime = self._value
        return since.isoformat(timespec="seconds")


def _supervisor(report: Report) -> UnitReport:
    since = min(unit.since for unit in report.units)
    return UnitReport(
        name=processes.SUPERVISOR, kind="service", state=UnitState.RUNNING, pid=report.pid,
        since=since,
    )  # fmt: skip


def _row(unit: UnitReport, memory: float | None) -> tuple[Any, ...]:
    since = _Since(unit.since)
    held = round(memory, 1) if memory is not None else None
    state = unit.state.value
    return (unit.name, state, unit.pid, unit.port, unit.restarts, since, held, unit.detail)


class Logs(Command):
    """Show the log of one service of the embedded undercloud."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Declare the options."""
        parser = _add_folder(super().get_parser(prog_name))
        parser.add_argument("service", help="name of the service, as `status` gives it")
        parser.add_argument("-f", "--follow", action="store_true", help="go on with new lines")
        parser.add_argument(
            "-n", "--lines", type=int, default=50, metavar="N", help="lines to show (default: 50)"
        )
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> int:
        """Print the log's end, and what is added if asked."""
        layout = Layout.at(parsed_args.dir)
        path = layout.log(parsed_args.service)
        if not path.is_file() or path.parent != layout.logs:
            known = sorted(file.stem for file in layout.logs.glob("*.log"))
            raise UndercloudError(
                f"There is no log of {parsed_args.service!r} in {layout.logs}.",
                remedy=f"Known: {', '.join(known)}." if known else "Start the undercloud first.",
            )
        added = logfiles.follow(path) if parsed_args.follow else iter(())
        for line in itertools.chain(logfiles.tail(path, parsed_args.lines), added):
            print(line, flush=parsed_args.follow)
        return 0


class Restart(Command):
    """Restart services of the embedded undercloud, as after a change of Mistral's actions."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Declare the options."""
        parser = _add_folder(super().get_parser(prog_name))
        parser.add_argument("services", nargs="+", metavar="SERVICE", help="name of a service")
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> int:
        """Restart and wait until all is ready."""
        with screen() as shown:
            lifecycle.restart(
                Layout.at(parsed_args.dir),
                tuple(parsed_args.services),
                watch=shown.show,
                say=shown.say,
            )
        return 0


class Down(Command):
    """Stop the embedded undercloud; its data stays."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Declare the options."""
        return _add_folder(super().get_parser(prog_name))

    def take_action(self, parsed_args: argparse.Namespace) -> int:
        """Stop everything and look that nothing is left."""
        lifecycle.down(Layout.at(parsed_args.dir), _say)
        _say("The undercloud is down.")
        return 0


class Reset(Command):
    """Stop the embedded undercloud and delete its data, passwords and logs."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Declare the options."""
        parser = _add_folder(super().get_parser(prog_name))
        parser.add_argument("--yes", action="store_true", help="do not ask")
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> int:
        """Ask, then delete."""
        layout = Layout.at(parsed_args.dir)
        if not parsed_args.yes and not _confirmed(layout):
            _say("Nothing was deleted.")
            return 1
        lifecycle.reset(layout, _say)
        _say(f"The undercloud in {layout.root} was deleted.")
        return 0


def _confirmed(layout: Layout) -> bool:
    if not sys.stdin.isatty():
        raise UndercloudError(
            "`reset` asks before it deletes, and nobody can answer.", remedy="Give --yes."
        )
    answer = input(f"Delete every plan, stack and node of the undercloud in {layout.root}? [y/N] ")
    return answer.strip().lower() in {"y", "yes"}
