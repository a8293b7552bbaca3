"""``tripleo-worker workbooks sync`` on a real Mistral."""

from __future__ import annotations

import json
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from keystoneauth1.session import Session

from tripleo_actions.faults import CallFailed
from tripleo_worker.definitions import sync
from tripleo_worker.definitions.lint import check

TEXT = """version: '2.0'
name: {name}
description: Überprüft.
workflows:
  _one:
    tasks:
      a: {{action: std.noop}}
"""
SECOND = """  _two:
    tasks:
      a: {action: std.noop}
"""

Run = Callable[..., list[dict[str, str]]]


@pytest.fixture
def store(session: Session) -> sync.MistralStore:
    return sync.MistralStore(session)


@pytest.fixture
def prefix(store: sync.MistralStore) -> Iterator[str]:
    """Begin of the names of this test's own workbooks."""
    made = f"tripleo.test_{uuid.uuid4().hex[:8]}."
    yield made
    for kind in ("workbooks", "workflows"):
        for name in store.names(kind):
            if name.startswith(made):
                store.remove(kind, name)


@pytest.fixture
def run(undercloud: Any) -> Run:
    """Run the command and read what it shows."""

    def command(*arguments: object) -> list[dict[str, str]]:
        program = [str(Path(sys.executable).with_name("tripleo-worker")), "workbooks", "sync"]
        done = subprocess.run(
            [*program, "-f", "json", *map(str, arguments)],
            env=undercloud.environment, capture_output=True, text=True, timeout=120,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        shown: list[dict[str, str]] = json.loads(done.stdout)
        return shown

    return command


def test_create_keep_update(run: Run, store: Any, prefix: str, tmp_path: Path) -> None:
    name, file = f"{prefix}v1", tmp_path / "one.yaml"
    file.write_text(TEXT.format(name=name), encoding="utf-8")

    def row(change: str) -> list[dict[str, str]]:
        return [{"name": name, "kind": "workbook", "change": change}]

    assert run("--dry-run", file) == row("create")
    assert store.definition("workbooks", name) is None
    assert run(file) == row("created")
    assert store.definition("workbooks", name) == file.read_text(encoding="utf-8")
    assert run(file) == row("unchanged")
    file.write_text(TEXT.format(name=name) + SECOND, encoding="utf-8")
    assert run(file) == row("updated")
    assert store.definition("workflows", f"{name}._two")
    assert run(file) == row("unchanged")


def test_what_is_shipped_no_more_is_removed(store: Any, prefix: str, tmp_path: Path) -> None:
    kept, gone = f"{prefix}kept", f"{prefix}gone"
    for name in (kept, gone):
        store.create(TEXT.format(name=name) + SECOND)
    file = tmp_path / "kept.yaml"
    file.write_text(TEXT.format(name=kept), encoding="utf-8")
    checked = check([file])
    assert not checked.findings
    steps = sync.plan(store, checked.workbooks, checked.workflows)
    steps += sync.prune(store, checked.workbooks, checked.workflows, prefix)
    sync.apply(store, steps)
    assert [name for name in store.names("workbooks") if name.startswith(prefix)] == [kept]
    left = [name for name in store.names("workflows") if name.startswith(prefix)]
    assert left == [f"{kept}._one"]


class Broken(sync.MistralStore):
    """Fails at the second workbook that it makes."""

    made = 0

    def create(self, definition: str) -> None:
        self.made += 1
        if self.made == 2:
            raise CallFailed("Mistral", 503, "away")
        super().create(definition)


def test_all_or_nothing(session: Session, store: Any, prefix: str) -> None:
    old = f"{prefix}old"
    store.create(TEXT.format(name=old))
    wanted = {name: TEXT.format(name=name) for name in (old, f"{prefix}b", f"{prefix}c")}
    wanted[old] += SECOND
    broken = Broken(session)
    with pytest.raises(CallFailed, match="as it was before"):
        sync.apply(broken, sync.plan(broken, wanted, [f"{prefix}b._one", f"{old}._two"]))
    assert [name for name in store.names("workbooks") if name.startswith(prefix)] == [old]
    left = [name for name in store.names("workflows") if name.startswith(prefix)]
    assert left == [f"{old}._one"]
    assert store.definition("workbooks", old) == TEXT.format(name=old)


def test_mistral_refuses_what_only_it_can_know(store: Any, prefix: str) -> None:
    text = TEXT.format(name=f"{prefix}v1").replace("version: '2.0'", "version: '3.0'")
    assert store.validate(text)
