"""``openstack overcloud plan create|list|delete``."""

from __future__ import annotations

import argparse
from pathlib import Path

from cliff import lister

from tripleo_worker.cli import command

CREATE = "tripleo.plan_management.v1.create_deployment_plan"
DELETE = "tripleo.plan_management.v1.delete_deployment_plan"


class CreatePlan(command.Telling):
    """Create a plan: the templates, roles and parameters of one overcloud.

    Without --templates it is the sample plan that ships with tripleo-worker. Exit codes as for
    `overcloud deploy`.
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """The options of the command."""
        parser: argparse.ArgumentParser = super().get_parser(prog_name)
        parser.add_argument("name", metavar="NAME", help="the plan's name, and its stack's")
        parser.add_argument(
            "--templates",
            type=Path,
            metavar="DIR",
            help="the folder whose files are uploaded as the plan's templates; hidden ones are "
            "left out (default: the sample plan)",
        )
        command.add_waiting(parser)
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> int:
        """Check, upload, start the creation, watch it."""
        from tripleo_actions.names import plan_name
        from tripleo_worker.cli import starting, steps, uploading

        name = plan_name(parsed_args.name)
        if parsed_args.templates is not None:
            uploading.upload(self.connection, name, parsed_args.templates)
        inputs = {
            "container": name,
            "use_default_templates": parsed_args.templates is None,
            "generate_passwords": True,
            "validate_stack": True,
        }
        return starting.start(self.connection, CREATE, inputs, name, parsed_args, steps.steps)


class ListPlans(command.Telling, lister.Lister):
    """List the plans."""

    def take_action(
        self, parsed_args: argparse.Namespace
    ) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """Ask Mistral; the names are sorted."""
        names = self.connection.action("tripleo.plan.list", {}) or []
        return ("Plan Name",), [(str(name),) for name in sorted(names)]


class DeletePlan(command.Telling):
    """Delete plans that are not deployed: their settings and templates.

    Exit codes as for `overcloud deploy`; the first plan that cannot be deleted ends the command.
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """The options of the command."""
        parser: argparse.ArgumentParser = super().get_parser(prog_name)
        parser.add_argument("names", metavar="NAME", nargs="+", help="a plan's name")
        command.add_waiting(parser)
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> int:
        """Start each deletion and watch it."""
        from tripleo_actions.names import plan_name
        from tripleo_worker.cli import starting, steps

        for name in [plan_name(name) for name in parsed_args.names]:
            inputs = {"container": name}
            code = starting.start(self.connection, DELETE, inputs, name, parsed_args, steps.steps)
            if code:
                return code
        return 0
