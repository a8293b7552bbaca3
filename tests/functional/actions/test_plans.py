"""Plans in the real services: what is taken, what is refused, and what then is stored."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import yaml
from keystoneauth1.session import Session

from tests.functional.actions.conftest import kept
from tests.functional.samples import Plans
from tripleo_actions import sample
from tripleo_actions.plan_environment import FILE
from tripleo_worker.errors import InvalidInput, OperationFailed, TripleOWorkerError

pytestmark = pytest.mark.timeout(240)
#: Updates of each writer.
UPDATES = 20


def upload(plans: Plans, changed: dict[str, bytes] | None = None) -> str:
    """A container with the sample's templates, as a client uploads them."""
    name = plans.name()
    plans.client.action("tripleo.plan.create_container", {"container": name})
    plans.swift.put_many(name, sample.files() | (changed or {}))
    return name


def topics(plans: Plans, plan: str) -> dict[str, bool]:
    """Environment file -> whether it is on."""
    found = plans.client.action("tripleo.heat_capabilities.get", {"container": plan})
    return {
        one["file"]: one["enabled"]
        for topic in found.values()
        for group in topic["environment_groups"]
        for one in group["environments"]
    }


def switch(plans: Plans, plan: str, **environments: bool) -> Any:
    given = {
        f"environments/{name.replace('__', '/')}.yaml": on for name, on in environments.items()
    }
    inputs = {"container": plan, "environments": given}
    return plans.client.action("tripleo.heat_capabilities.update", inputs)


def test_uploaded_templates_become_a_plan_and_updates_keep_what_is_set(plans: Plans) -> None:
    plan = upload(plans)
    plans.client.action("tripleo.plan.create", {"container": plan})
    assert plan in plans.client.action("tripleo.plan.list", {})
    before = kept(plans, plan)
    assert {"overcloud.yaml", FILE, "nodes/controller-role.yaml"} <= set(before.files)
    assert yaml.safe_load(before.files[FILE]) == before.environment
    assert all(before.environment["passwords"].values())

    plans.update(plan, ControllerCount=3)
    added = sample.files()["overcloud.j2.yaml"].replace(
        b"\nresources:\n", b"\n  Added: {type: string, default: new}\n\nresources:\n"
    )
    plans.swift.put(plan, "overcloud.j2.yaml", added)
    plans.client.action("tripleo.plan.update", {"container": plan})
    after = kept(plans, plan)
    assert b"Added: {type: string" in after.files["overcloud.yaml"]
    assert after.environment["passwords"] == before.environment["passwords"]
    assert after.environment["parameter_defaults"]["ControllerCount"] == 3

    with pytest.raises(InvalidInput, match="exists"):
        plans.client.action("tripleo.plan.create", {"container": plan})
    plans.client.action("tripleo.plan.delete", {"container": plan})
    assert plan not in plans.client.action("tripleo.plan.list", {})


def test_an_update_that_fails_leaves_the_plan_byte_for_byte(plans: Plans) -> None:
    plan = plans.create()
    good = plans.swift.get(plan, "overcloud.j2.yaml").body
    broken = good.replace(b"\nresources:\n", b"\nresources:\n  Odd: {type: 'OS::No::Such'}\n")
    plans.swift.put(plan, "overcloud.j2.yaml", broken)
    before = kept(plans, plan)
    with pytest.raises(TripleOWorkerError, match="OS::No::Such"):
        plans.client.action("tripleo.plan.update", {"container": plan})
    assert kept(plans, plan) == before


def test_parameters_are_read_set_and_stay(plans: Plans, plan: str) -> None:
    plans.update(plan, CloudDomain="example.org")
    plans.update(plan, ControllerCount=2)
    inputs = {"container": plan}
    found = plans.client.action("tripleo.parameters.get_flatten", inputs)
    given = found["environment_parameters"]
    assert (given["CloudDomain"], given["ControllerCount"]) == ("example.org", 2)
    count = found["heat_resource_tree"]["parameters"]["ControllerCount"]
    assert (count["Type"], count["MaxValue"]) == ("Number", 500)
    tree = plans.client.action("tripleo.parameters.get", inputs)["heat_resource_tree"]
    assert "NestedParameters" in tree
    secrets = set(kept(plans, plan).environment["passwords"].values())
    assert not any(one in str(given) for one in secrets)


def test_values_that_do_not_fit_are_all_named_and_nothing_is_stored(
    plans: Plans, plan: str
) -> None:
    before = kept(plans, plan)
    wrong = {
        "ControllerCount": "many",
        "ComputeCount": 501,
        "Debug": "perhaps",
        "StorageReplicas": 7,
        "ControllerHostnameFormat": "UPPER",
    }
    with pytest.raises(InvalidInput) as refused:
        plans.update(plan, **wrong, NtpServers=["a.example.org"])
    for name, value in wrong.items():
        assert f"{name}: {value!r}" in str(refused.value)
    assert "NtpServers" not in str(refused.value)
    assert kept(plans, plan) == before


def test_environments_exclude_and_require_each_other(plans: Plans, plan: str) -> None:
    switch(plans, plan, fast=True)
    switch(plans, plan, slow=True)
    on = topics(plans, plan)
    assert (on["environments/slow.yaml"], on["environments/fast.yaml"]) == (True, False)

    done = switch(plans, plan, storage__replicated=True)
    paths = [one["path"] for one in done["environments"]]
    required, wanted = "environments/network/isolated.yaml", "environments/storage/replicated.yaml"
    assert paths.index(required) < paths.index(wanted)

    before = kept(plans, plan)
    with pytest.raises(InvalidInput, match="Only one of"):
        switch(plans, plan, fast=True, slow=True)
    with pytest.raises(InvalidInput, match="is required by"):
        switch(plans, plan, storage__replicated=True, network__isolated=False)
    with pytest.raises(InvalidInput, match=r"environments/no-such\.yaml"):
        switch(plans, plan, **{"no-such": True})
    assert kept(plans, plan) == before
    switch(plans, plan, slow=False, storage__replicated=False, network__isolated=False)


def test_roles(plans: Plans, plan: str) -> None:
    inputs = {"container": plan}
    assert plans.client.action("tripleo.role.list", inputs) == ["Controller", "Compute"]
    whole = plans.client.action("tripleo.role.list", inputs | {"detail": True})
    assert whole[0]["name"] == "Controller"
    assert whole[0]["networks"]


def test_two_writers_lose_no_update(plans: Plans, plan: str, session: Session) -> None:
    def write(writer: str) -> None:
        own = Plans(session)
        for number in range(UPDATES):
            values = {f"{writer}{number}": number}
            inputs = {"container": plan, "parameters": values, "validate": False}
            own.client.action("tripleo.parameters.update", inputs)

    with ThreadPoolExecutor(2) as writers:
        list(writers.map(write, ("Ada", "Bob")))
    wanted = {f"{writer}{n}": n for writer in ("Ada", "Bob") for n in range(UPDATES)}
    after = kept(plans, plan)
    assert wanted.items() <= after.environment["parameter_defaults"].items()
    assert yaml.safe_load(after.files[FILE]) == after.environment


@pytest.mark.parametrize("name", ["../admin", "a/b", "", "9lives", "x" * 81, "Zürich", "a\nb"])
def test_names_that_no_plan_can_have(plans: Plans, name: str) -> None:
    for action in ("tripleo.plan.create", "tripleo.plan.delete", "tripleo.parameters.get"):
        with pytest.raises(InvalidInput, match="cannot be the name of a plan"):
            plans.client.action(action, {"container": name})


@pytest.mark.parametrize(
    ("file", "text", "where"),
    [
        ("roles_data.yaml", b"- name: A\n  name: B\n", "roles_data.yaml:2"),
        ("environments/fast.yaml", b"parameter_defaults:\n  A: 1\n  A: 2\n", "fast.yaml:3"),
        (FILE, b"name: a\nversion: 1.0\nname: b\n", f"{FILE}:3"),
        ("capabilities-map.yaml", b"topics:\n  - {title: a\n", "capabilities-map.yaml:3"),
    ],
)
def test_faulty_files_are_named_with_their_line(
    plans: Plans, file: str, text: bytes, where: str
) -> None:
    plan = upload(plans, {file: text})
    with pytest.raises((InvalidInput, OperationFailed), match=where):
        plans.client.action("tripleo.plan.create", {"container": plan})
    assert plan not in plans.client.action("tripleo.plan.list", {})
    assert plans.swift.get(plan, file).body == text


def test_what_is_no_plan_is_told(plans: Plans) -> None:
    for action in ("tripleo.plan.update", "tripleo.parameters.get", "tripleo.role.list"):
        with pytest.raises(TripleOWorkerError, match="no-such-plan"):
            plans.client.action(action, {"container": "no-such-plan"})
