"""``tripleo-worker demo``: the first deployment, step by step.

The demo does nothing that a user could not type: it prints each command, runs it, and
goes on if it ended well. So it is also the tutorial.
"""

from __future__ import annotations

import argparse
import os
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

import msgspec
from cliff.command import Command

#: Large enough to watch, small enough not to wait long.
DEPLOYED = ("--parameter", "ControllerCount=3", "--parameter", "ComputeCount=5")

NEXT = """
The overcloud stands, and all is left running. To go on in this shell:

    {activate}{export}

and try:

    openstack stack resource list --nested-depth 2 {plan}   what was built
    openstack overcloud progress watch --execution @latest --since earliest
                                                            the same deployment once more
    openstack overcloud deploy --plan {plan} --wait --parameter FailRole=Compute
                                                            what a failure looks like
    tripleo-worker undercloud status                        the services, all real
    tripleo-worker undercloud logs mistral                  what one of them says

`{down}` stops everything; nothing is lost, and the next start is quicker.
"""

Variables = Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class Ran:
    """How a command ended."""

    code: int
    #: What it wrote to its standard output, where that was asked for.
    output: str = ""


#: Runs a command with added environment variables; the last argument asks for its output.
Run = Callable[[Sequence[str], Variables, bool], Ran]


def exports(text: str) -> dict[str, str]:
    """Read the variables of the ``export NAME=VALUE ...`` lines in a text for a shell."""
    found: dict[str, str] = {}
    for line in text.splitlines():
        words = shlex.split(line)
        if words[:1] == ["export"]:
            pairs = (word.partition("=") for word in words[1:])
            found.update({name: value for name, equals, value in pairs if equals})
    return found


def beside(name: str) -> str:
    """The program of that name that is installed with this one, or else the one on the path."""
    program = Path(sys.executable).with_name(name)
    return str(program) if program.exists() else name


def run(command: Sequence[str], variables: Variables, keep: bool) -> Ran:
    """Run a command on this terminal; where its output is kept, it is not shown."""
    ended = subprocess.run(  # noqa: S603 - the demo's own commands, without a shell
        [beside(command[0]), *command[1:]],
        env={**os.environ, **variables},
        stdout=subprocess.PIPE if keep else None,
        text=True,
        check=False,
    )
    return Ran(code=ended.returncode, output=ended.stdout or "")


class Show:
    """The demo's steps; each stops the demo with its exit code if it does not end well."""

    def __init__(self, run: Run, words: TextIO, where: Sequence[str], plan: str) -> None:
        """Take what the steps need.

        Args:
            run: runs one command.
            words: takes the commands and what is said about them.
            where: the options of ``tripleo-worker undercloud up`` that say where it lives.
            plan: name of the plan to create and deploy.
        """
        self._run = run
        self._words = words
        self._where = where
        self._plan = plan
        self._variables: dict[str, str] = {}

    def play(self, parameters: Sequence[str] = DEPLOYED) -> int:
        """Run all steps; the exit code of the first that fails, else 0."""
        steps = (self._up, self._create, lambda: self._deploy(parameters), self._summary)
        for step in steps:
            code = step()
            if code:
                return code
        return 0

    @property
    def variables(self) -> Variables:
        """The variables that choose the undercloud; empty before it is up."""
        return self._variables

    def _up(self) -> int:
        ran = self._step(
            "An undercloud: real services on this machine, and the worker",
            "tripleo-worker", "undercloud", "up", "--worker", *self._where,
            keep=True,
        )  # fmt: skip
        self._variables = exports(ran.output)
        if self._variables:
            line = " ".join(f"{name}={value}" for name, value in self._variables.items())
            print(f"$ export {line}", file=self._words)
        return ran.code

    def _create(self) -> int:
        listed = self._step(
            "A plan: templates, roles and parameters of one overcloud",
            "openstack", "overcloud", "plan", "list", "-f", "json",
            keep=True,
        )  # fmt: skip
        if listed.code:
            return listed.code
        if self._plan in plans(listed.output):
            print(f"  The plan {self._plan} exists; it is deployed again.", file=self._words)
            return 0
        return self._step("", "openstack", "overcloud", "plan", "create", self._plan).code

    def _deploy(self, parameters: Sequence[str]) -> int:
        return self._step(
            "The deployment, watched live",
            "openstack", "overcloud", "deploy", "--plan", self._plan, *parameters, "--wait",
        ).code  # fmt: skip

    def _summary(self) -> int:
        return self._step(
            "What stands now",
            "openstack", "stack", "list", "-c", "Stack Name", "-c", "Stack Status",
            "-c", "Updated Time",
        ).code  # fmt: skip

    def _step(self, title: str, *command: str, keep: bool = False) -> Ran:
        if title:
            print(f"\n# {title}", file=self._words)
        print(f"$ {shlex.join(command)}", file=self._words, flush=True)
        return self._run(command, self._variables, keep)


def plans(text: str) -> set[str]:
    """The plans' names in the JSON of ``openstack overcloud plan list``; empty if unreadable."""
    try:
        listed = msgspec.json.decode(text, type=list[dict[str, object]])
    except msgspec.DecodeError:
        return set()
    return {str(next(iter(row.values()), "")) for row in listed}


def farewell(variables: Variables, plan: str, down: str) -> str:
    """What to try next."""
    activate = Path(sys.prefix, "bin", "activate")
    line = " ".join(f"{name}={shlex.quote(value)}" for name, value in variables.items())
    return NEXT.format(
        activate=f". {activate}\n    " if activate.exists() else "",
        export=f"export {line}",
        plan=plan,
        down=down,
    )


class Demo(Command):
    """Deploy the sample plan on an embedded undercloud and show each command on the way.

    Run again, it deploys the same plan once more. All is left running; ``tripleo-worker
    undercloud down`` stops it.
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """The options of the command."""
        parser: argparse.ArgumentParser = super().get_parser(prog_name)
        for option, metavar in (("--dir", "FOLDER"), ("--port-base", "N")):
            parser.add_argument(option, metavar=metavar, help="as for `undercloud up`")
        parser.add_argument(
            "--plan",
            metavar="NAME",
            default="overcloud",
            help="name of the plan (default: overcloud)",
        )
        return parser

    def take_action(self, parsed_args: argparse.Namespace) -> int:
        """Play the demo; the exit code of the step that failed, else 0."""
        given = {"--dir": parsed_args.dir, "--port-base": parsed_args.port_base}
        where = [word for name, value in given.items() if value for word in (name, value)]
        show = Show(run, sys.stderr, where, parsed_args.plan)
        begun = time.monotonic()
        code = show.play()
        if code:
            print(f"\nThe last command ended with code {code}.", file=sys.stderr)
            return code
        print(f"\nThe demo took {time.monotonic() - begun:.0f} s.", file=sys.stderr)
        down = shlex.join(["tripleo-worker", "undercloud", "down", *where[:2]])
        print(farewell(show.variables, parsed_args.plan, down), file=sys.stderr)
        return 0
