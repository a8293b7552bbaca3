"""Plans made of folders, listed and deleted; input that is refused leaves nothing behind."""

from __future__ import annotations

import json
import uuid
from pathlib import Path

import pytest

from tests.functional.cli.conftest import Program
from tripleo_actions import sample
from tripleo_actions.services.swift import Swift

pytestmark = pytest.mark.timeout(300)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The sample plan as a user's own folder."""
    for path, body in sample.files().items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(body)
    (tmp_path / "Zürich.yaml").write_text("parameter_defaults: {}\n", encoding="utf-8")
    return tmp_path


@pytest.fixture
def name() -> str:
    return f"own-{uuid.uuid4().hex[:8]}"


def _plans(openstack: Program) -> list[str]:
    listed = openstack("overcloud", "plan", "list", "-f", "json")
    assert listed.code == 0, listed.err
    return [row["Plan Name"] for row in json.loads(listed.out)]


@pytest.mark.parametrize("locale", ["C.UTF-8", "C"])
def test_a_folder_becomes_a_plan(
    openstack: Program, folder: Path, name: str, session: object, locale: str
) -> None:
    words = ("overcloud", "plan", "create", name, "--templates", str(folder))
    made = openstack(*words, LC_ALL=locale)
    assert made.code == 0, made.err
    assert name in _plans(openstack)
    names = {one.name for one in Swift(session).objects(name)}  # type: ignore[arg-type]
    assert {"Zürich.yaml", "overcloud.yaml", "plan-environment.yaml"} <= names
    twice = openstack(*words)
    assert twice.code == 2
    assert "exists" in twice.err
    gone = openstack("overcloud", "plan", "delete", name)
    assert gone.code == 0, gone.err
    assert name not in _plans(openstack)


def test_a_link_out_of_the_folder_is_refused(openstack: Program, folder: Path, name: str) -> None:
    (folder / "out.yaml").symlink_to("/etc/hostname")
    refused = openstack("overcloud", "plan", "create", name, "--templates", str(folder))
    assert refused.code == 2
    assert "out.yaml" in refused.err
    assert name not in _plans(openstack)


def test_broken_templates_are_named_with_their_line(
    openstack: Program, folder: Path, name: str
) -> None:
    (folder / "roles_data.yaml").write_text("- name: A\n  name: B\n")
    refused = openstack("overcloud", "plan", "create", name, "--templates", str(folder))
    assert refused.code == 2
    assert "roles_data.yaml:2" in refused.err


def test_templates_that_heat_refuses_can_be_mended_and_tried_again(
    openstack: Program, folder: Path, name: str
) -> None:
    good = (folder / "overcloud.j2.yaml").read_bytes()
    (folder / "overcloud.j2.yaml").write_bytes(good + b"\n  Odd: {type: 'OS::No::Such'}\n")
    words = ("overcloud", "plan", "create", name, "--templates", str(folder))
    refused = openstack(*words)
    assert refused.code == 1, refused.err
    assert name not in _plans(openstack)
    (folder / "overcloud.j2.yaml").write_bytes(good)
    made = openstack(*words)
    assert made.code == 0, made.err
    assert openstack("overcloud", "plan", "delete", name).code == 0


def test_what_is_no_plan_is_not_deleted(openstack: Program) -> None:
    refused = openstack("overcloud", "plan", "delete", "no-such-plan")
    assert refused.code == 1
    assert "no-such-plan" in refused.err
