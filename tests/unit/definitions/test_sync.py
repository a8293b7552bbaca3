"""Bringing Mistral up to date: what is the same stays, and all changes are made or none."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import pytest

from tripleo_actions.faults import CallFailed
from tripleo_worker.cmd.workbooks import SyncWorkbooks
from tripleo_worker.definitions import sync
from tripleo_worker.definitions.sync import Change
from tripleo_worker.errors import InvalidDefinition, InvalidInput


class Mistral:
    """Workbooks in memory: a definition is ``NAME WORKFLOW …``; ``bad`` in it is refused."""

    def __init__(self, *definitions: str) -> None:
        self.held: dict[str, dict[str, str]] = {"workbooks": {}, "workflows": {}}
        for one in definitions:
            self._put(one)
        self.calls: list[str] = []
        #: Definitions whose change fails; with True it is made all the same.
        self.failing: dict[str, bool] = {}

    def _put(self, definition: str) -> None:
        name, *workflows = definition.split()
        self.held["workbooks"][name] = definition
        for one in workflows:
            self.held["workflows"][f"{name}.{one}"] = one

    def names(self, kind: str) -> Sequence[str]:
        return list(self.held[kind])

    def definition(self, kind: str, name: str) -> str | None:
        return self.held[kind].get(name)

    def validate(self, definition: str) -> str:
        return "it is bad" if "bad" in definition else ""

    def create(self, definition: str) -> None:
        self._change("create", definition)

    def update(self, definition: str) -> None:
        self._change("update", definition)

    def _change(self, how: str, definition: str) -> None:
        self.calls.append(f"{how} {definition}")
        if definition in self.failing and not self.failing[definition]:
            raise CallFailed("Mistral", 500, "it broke")
        self._put(definition)
        if definition in self.failing:
            raise CallFailed("Mistral", None, "no answer")

    def remove(self, kind: str, name: str) -> None:
        self.calls.append(f"remove {name}")
        self.held[kind].pop(name, None)


def wanted(*definitions: str) -> tuple[dict[str, str], list[str]]:
    workflows = [f"{one.split()[0]}.{name}" for one in definitions for name in one.split()[1:]]
    return {one.split()[0]: one for one in definitions}, workflows


def changes(steps: Sequence[sync.Step]) -> list[tuple[str, str]]:
    return [(step.name, step.change.value) for step in steps]


def test_each_workbook_gets_what_it_needs() -> None:
    mistral = Mistral("tripleo.a x", "tripleo.b x")
    steps = sync.plan(mistral, *wanted("tripleo.a x", "tripleo.b x y", "tripleo.c x"))
    assert changes(steps) == [
        ("tripleo.a", "unchanged"),
        ("tripleo.b", "update"),
        ("tripleo.c", "create"),
    ]
    sync.apply(mistral, steps)
    assert mistral.calls == ["update tripleo.b x y", "create tripleo.c x"]
    again = sync.plan(mistral, *wanted("tripleo.a x", "tripleo.b x y", "tripleo.c x"))
    assert {step.change for step in again} == {Change.KEEP}


def test_a_workflow_that_was_lost_brings_its_workbook_again() -> None:
    mistral = Mistral("tripleo.a x y")
    del mistral.held["workflows"]["tripleo.a.y"]
    steps = sync.plan(mistral, *wanted("tripleo.a x y"))
    assert changes(steps) == [("tripleo.a", "update")]


def test_nothing_is_changed_when_mistral_refuses_one() -> None:
    mistral = Mistral("tripleo.a old")
    steps = sync.plan(mistral, *wanted("tripleo.a new", "tripleo.b bad"))
    with pytest.raises(InvalidDefinition, match=r"tripleo\.b: it is bad"):
        sync.apply(mistral, steps)
    assert mistral.calls == []


@pytest.mark.parametrize("made", [False, True], ids=["refused", "made without an answer"])
def test_a_change_that_fails_takes_the_others_back(made: bool) -> None:
    mistral = Mistral("tripleo.a old")
    mistral.failing = {"tripleo.c x": made}
    steps = sync.plan(mistral, *wanted("tripleo.a new", "tripleo.b x", "tripleo.c x"))
    with pytest.raises(CallFailed, match=r"workbook tripleo\.c.*as it was before"):
        sync.apply(mistral, steps)
    assert mistral.held["workbooks"] == {"tripleo.a": "tripleo.a old"}
    assert list(mistral.held["workflows"]) == ["tripleo.a.old"]


def test_what_cannot_be_taken_back_is_named() -> None:
    mistral = Mistral("tripleo.a old")
    mistral.failing = {"tripleo.b x": False, "tripleo.a old": False}
    steps = sync.plan(mistral, *wanted("tripleo.a new", "tripleo.b x"))
    with pytest.raises(CallFailed, match=r"Not put back: tripleo\.a"):
        sync.apply(mistral, steps)


def test_pruning_removes_ours_alone() -> None:
    mistral = Mistral("tripleo.a x y", "tripleo.gone x", "theirs x")
    names, workflows = wanted("tripleo.a x")
    steps = sync.prune(mistral, names, workflows)
    assert changes(steps) == [
        ("tripleo.gone", "remove"),
        ("tripleo.a.y", "remove"),
        ("tripleo.gone.x", "remove"),
    ]
    sync.apply(mistral, steps)
    assert sorted(mistral.held["workbooks"]) == ["theirs", "tripleo.a"]
    assert sorted(mistral.held["workflows"]) == ["theirs.x", "tripleo.a.x"]


def run(*arguments: str) -> argparse.Namespace:
    return SyncWorkbooks(None, None).get_parser("sync").parse_args(arguments)


def test_pruning_some_paths_is_refused() -> None:
    with pytest.raises(InvalidInput, match="--prune"):
        SyncWorkbooks(None, None).take_action(run("--prune", "workbooks"))


def test_a_faulty_workbook_needs_no_cloud(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "a.yaml"
    file.write_text("version: '2.0'\nname: tripleo.a\n")
    with pytest.raises(InvalidDefinition, match="Nothing was changed"):
        SyncWorkbooks(None, None).take_action(run(str(file), "--os-cloud", "none"))
    assert "has neither workflows nor actions" in capsys.readouterr().err
