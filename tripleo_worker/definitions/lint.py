"""Checking workbooks as a whole, without a cloud."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tripleo_worker.definitions import (
    endings,
    found,
    grammar,
    model,
    references,
    source,
    variables,
)
from tripleo_worker.definitions.references import World
from tripleo_worker.definitions.source import Finding, Source


@dataclass(frozen=True)
class Checked:
    """What checking some files brought."""

    files: tuple[Path, ...]
    findings: tuple[Finding, ...]
    #: Definitions of the workbooks whose form is right, by name.
    workbooks: dict[str, str]
    #: Full names of the workflows in them.
    workflows: tuple[str, ...]


def check(files: Sequence[Path]) -> Checked:
    """Check workbooks; they and the shipped ones may call each other.

    Returns:
        The findings by file and line, each once.
    """
    findings, sources = _read(files)
    findings += _named_twice(sources)
    world = World.of([*sources, *_others(files)])
    for one in sources:
        findings += _workbook(one, world)
    return Checked(
        files=tuple(files),
        findings=tuple(sorted(set(findings))),
        workbooks={one.data["name"]: one.text for one in sources},
        workflows=tuple(flow.full_name for one in sources for flow in model.workflows(one)),
    )


def _read(files: Sequence[Path]) -> tuple[list[Finding], list[Source]]:
    """What is wrong with the form of the files, and those whose form is right."""
    findings: list[Finding] = []
    sources: list[Source] = []
    for file in files:
        read = source.read(file)
        if isinstance(read, Finding):
            findings.append(read)
            continue
        wrong = grammar.check(read)
        findings += wrong
        if not wrong:
            sources.append(read)
    return findings, sources


def _others(files: Sequence[Path]) -> list[Source]:
    given = {file.resolve() for file in files}
    return _read([file for file in found.files(()) if file.resolve() not in given])[1]


def _named_twice(sources: Sequence[Source]) -> Iterator[Finding]:
    seen: dict[str, str] = {}
    for one in sources:
        name = one.data["name"]
        if name in seen:
            yield one.finding(("name",), "schema", f"{seen[name]} has the name {name} too.")
        seen.setdefault(name, one.file)


def _workbook(one: Source, world: World) -> Iterator[Finding]:
    for name in one.data.get("actions") or ():
        yield from references.check_action(one, name, world)
        yield from variables.check_action(one, ("actions", name))
    for workflow in model.workflows(one):
        yield from references.check(workflow, world)
        yield from variables.check(workflow)
        yield from endings.check(workflow)
