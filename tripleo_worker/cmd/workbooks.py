"""``tripleo-worker workbooks …``: check the workbooks, and bring Mistral up to date with them."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec
from cliff.command import Command
from cliff.lister import Lister

from tripleo_worker.definitions import found, sync
from tripleo_worker.definitions.lint import Checked, check
from tripleo_worker.definitions.source import Finding
from tripleo_worker.errors import InvalidDefinition, InvalidInput

_DONE = {"create": "created", "update": "updated", "remove": "removed"}


def _add_paths(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    parser.add_argument(
        "paths",
        nargs="*",
        type=Path,
        metavar="PATH",
        help="workbook files, or folders of YAML files (default: the shipped workbooks)",
    )
    return parser


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


class LintWorkbooks(Command):
    """Check workbooks without a cloud; exit code 1 if something is wrong.

    Names of tasks, variables, actions and workflows, inputs, expressions, the types of
    messages, and that every way through a workflow ends in its one terminal message.
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Declare the options."""
        parser = _add_paths(super().get_parser(prog_name))
        parser.add_argument(
            "-f",
            "--format",
            choices=("text", "json"),
            default="text",
            help="lines of FILE:LINE: RULE: TEXT, or a JSON list (default: text)",
        )
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> int:
        """Print what was found."""
        checked = check(found.files(parsed_args.paths))
        if parsed_args.format == "json":
            print(json.dumps(msgspec.to_builtins(checked.findings), indent=2, ensure_ascii=False))
        else:
            for finding in checked.findings:
                print(_near(finding))
        _say(_summary(checked))
        return 1 if checked.findings else 0


class SyncWorkbooks(Lister):
    """Bring the workbooks in Mistral up to date: all of them, or none.

    They are checked first, as by `workbooks lint`. What is the same already is left alone.
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Declare the options."""
        parser = _add_paths(super().get_parser(prog_name))
        parser.add_argument("--dry-run", action="store_true", help="only say what would change")
        parser.add_argument(
            "--prune",
            action="store_true",
            help="remove workbooks and workflows of the namespace tripleo that are shipped no more",
        )
        parser.add_argument(
            "--os-cloud",
            metavar="NAME",
            default=os.environ.get("OS_CLOUD"),
            help="the cloud's name in clouds.yaml (default: OS_CLOUD)",
        )
        return parser

    def take_action(
        self, parsed_args: argparse.Namespace
    ) -> tuple[tuple[str, ...], Iterable[tuple[str, ...]]]:
        """Check, compare, change; then show what was done."""
        if parsed_args.prune and parsed_args.paths:
            raise InvalidInput(
                "--prune would remove everything but these paths.",
                remedy="Use it without PATH, for all shipped workbooks.",
            )
        checked = check(found.files(parsed_args.paths))
        if checked.findings:
            for finding in checked.findings:
                _say(_near(finding))
            raise InvalidDefinition(
                f"{_summary(checked)} Nothing was changed.",
                remedy="Correct the workbooks; `tripleo-worker workbooks lint` checks them.",
            )
        steps = _steps(parsed_args, checked)
        if not steps:
            _say("There are no workbooks.")
        return ("name", "kind", "change"), [_row(step, parsed_args.dry_run) for step in steps]


def _steps(arguments: argparse.Namespace, checked: Checked) -> Sequence[sync.Step]:
    # The SDK is slow to import, and a faulty workbook needs no cloud.
    from tripleo_worker.client.cloud import from_clouds_yaml

    if not checked.workbooks and not arguments.prune:
        return ()
    store = sync.MistralStore(from_clouds_yaml(arguments.os_cloud).session)
    steps = sync.plan(store, checked.workbooks, checked.workflows)
    if arguments.prune:
        steps += sync.prune(store, checked.workbooks, checked.workflows)
    if not arguments.dry_run:
        sync.apply(store, steps)
    return steps


def _row(step: sync.Step, dry_run: bool) -> tuple[str, str, str]:
    change = step.change.value
    return step.name, step.kind[:-1], change if dry_run else _DONE.get(change, change)


def _near(finding: Finding) -> str:
    """The finding with its file named from here, where that is shorter."""
    path = os.path.relpath(finding.file)
    return str(finding).replace(finding.file, min(path, finding.file, key=len), 1)


def _summary(checked: Checked) -> str:
    workbooks, found_wrong = len(checked.files), len(checked.findings)
    what = f"{workbooks} workbook{'s' if workbooks != 1 else ''}"
    return f"{what}: {found_wrong} fault{'s' if found_wrong != 1 else ''}."
