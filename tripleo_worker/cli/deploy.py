"""``openstack overcloud deploy``."""

from __future__ import annotations

import argparse

from tripleo_worker.cli import command
from tripleo_worker.cli.drawing.text import safe

WORKFLOW = "tripleo.deployment.v1.deploy_plan"


class DeployOvercloud(command.Telling):
    """Deploy a plan and watch the deployment to its end.

    Parameters that are given are kept in the plan, and count for its next deployment too.
    Ctrl-C ends the watching, not the deployment. Exit codes: 0 deployed, 1 failed, 2 wrong
    input, 3 --timeout passed while it goes on, 4 contact lost, 5 cancelled, 130 interrupted.
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """The options of the command."""
        parser: argparse.ArgumentParser = super().get_parser(prog_name)
        parser.add_argument(
            "--plan",
            metavar="NAME",
            default="overcloud",
            help="the plan to deploy (default: overcloud)",
        )
        parser.add_argument(
            "--parameter",
            action="append",
            default=[],
            metavar="NAME=VALUE",
            help="set a parameter of the plan; the value is YAML, so 3 is a number and '\"3\"' a "
            "text; may be repeated",
        )
        parser.add_argument(
            "-e",
            "--environment-file",
            action="append",
            default=[],
            metavar="FILE",
            help="set the parameters under parameter_defaults of a file; may be repeated, later "
            "ones win, --parameter over all",
        )
        command.add_waiting(parser)
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> int:
        """Set the parameters, start the deployment, watch it."""
        from tripleo_worker.cli import starting, steps, values

        given = values.collected(parsed_args.environment_file, parsed_args.parameter)
        plan = parsed_args.plan
        if given:
            inputs = {"container": plan, "parameters": given}
            answer = self.connection.action("tripleo.parameters.update", inputs)
            for warning in values.unknown(given, answer):
                self.log.warning("%s", safe(warning))
        return starting.start(
            self.connection, WORKFLOW, {"container": plan}, plan, parsed_args, steps.steps
        )
