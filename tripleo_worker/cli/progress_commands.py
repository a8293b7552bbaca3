"""``openstack overcloud progress …``."""

from __future__ import annotations

import argparse
import sys

from tripleo_worker.cli import command, exits

LATEST = "@latest"


class WatchProgress(command.Telling):
    """Watch an operation, or all that happens.

    With --execution the operation is shown from its beginning and the command ends with it:
    0 success, 1 failed, 3 --timeout passed, 4 contact lost, 5 cancelled. Without, every event
    is a line on standard output until Ctrl-C (130).
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """The options of the command."""
        parser: argparse.ArgumentParser = super().get_parser(prog_name)
        parser.add_argument(
            "--execution",
            metavar="ID",
            help="the root execution to watch; @latest: the one that began last",
        )
        parser.add_argument(
            "--since",
            type=command.place,
            metavar="POSITION",
            help="where to begin: earliest, latest or EPOCH:SEQUENCE (default: the beginning of "
            "the execution, or latest without one)",
        )
        command.add_timeout(parser)
        command.add_drawing(parser)
        parser.add_argument(
            "-f",
            "--format",
            choices=("json",),
            help="json: each event as one line of JSON, the same as --progress json",
        )
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> int:
        """Watch one or all."""
        mode = parsed_args.format or parsed_args.progress
        if parsed_args.execution:
            return self._one(parsed_args, mode)
        return self._all(parsed_args.since or "latest", mode)

    def _one(self, options: argparse.Namespace, mode: str) -> int:
        from tripleo_worker.cli import finding, watching
        from tripleo_worker.cli.steps import steps
        from tripleo_worker.client.waiting import Limits

        known = watching.earlier(self.connection.cloud)
        found = finding.execution(self.connection.cloud, options.execution, LATEST, known)
        run = self.connection.watch(
            found.id, since=options.since or found.since, limits=Limits(deadline=options.timeout)
        )
        return watching.watch(run, found.view(known), mode, steps)

    def _all(self, since: str, mode: str) -> int:
        from tripleo_worker.cli.drawing import stream
        from tripleo_worker.cli.watching import warnings_to

        # A worker that is not there is told at once; one that goes away later comes back.
        self.connection.cloud.position()
        lines = stream.choose(mode, sys.stdout)
        try:
            with warnings_to(lines):
                for item in self.connection.follow(since=since):
                    lines.take(item)
        except KeyboardInterrupt:
            lines.note(f"Go on from here with: --since {lines.position or since}")
        return exits.INTERRUPTED
