"""Plans: made whole or not at all, changed whole or not at all."""

import threading

import pytest

from tests.unit.actions.twins import Services
from tripleo_actions import locks, plan_store, sample, yaml_guard
from tripleo_actions.faults import CallFailed, NotThere, PlanLocked
from tripleo_actions.heat_capabilities import GetCapabilities, ListRoles, UpdateCapabilities
from tripleo_actions.parameters import ResetParameters, UpdateParameters
from tripleo_actions.plan import CreateContainer, CreatePlan, DeletePlan, ListPlans, UpdatePlan
from tripleo_worker.errors import InvalidInput


@pytest.fixture
def services():
    return Services()


@pytest.fixture
def plan(services):
    CreatePlan("oc", use_default_templates=True).perform(services)
    return services


def snapshot(services, name="oc"):
    held = dict(services.swift.held.get(name, {}))
    return held, dict(services.mistral.held)


def test_the_sample_becomes_a_plan(plan):
    assert ListPlans().perform(plan) == ["oc"]
    environment = plan.mistral.held["oc"]
    assert environment["environments"][0] == {"path": "overcloud-resource-registry.yaml"}
    assert set(environment["passwords"]) == {"AdminPassword", "DatabasePassword"}
    files = plan.swift.held["oc"]
    assert "nodes/controller-role.yaml" in files
    mirror = yaml_guard.load_mapping(files["plan-environment.yaml"][0], "mirror")
    assert mirror == environment


def test_a_plan_that_cannot_be_made_leaves_nothing(services):
    services.heat.refuses = "no such type"
    with pytest.raises(CallFailed, match="no such type"):
        CreatePlan("oc", use_default_templates=True).perform(services)
    assert services.mistral.held == {}
    assert "oc" not in services.swift.held


def test_uploaded_templates_stay_where_a_plan_could_not_be_made(services):
    CreateContainer("oc").perform(services)
    services.swift.put("oc", "overcloud.yaml", b"a: 1\na: 2\n")
    before = snapshot(services)
    with pytest.raises(InvalidInput, match=r"overcloud\.yaml:2"):
        CreatePlan("oc").perform(services)
    assert snapshot(services) == before


def test_the_sample_is_not_uploaded_over_a_users_files(services):
    CreateContainer("oc").perform(services)
    services.swift.put("oc", "mine.yaml", b"a: 1\n")
    with pytest.raises(InvalidInput, match="1 files already"):
        CreatePlan("oc", use_default_templates=True).perform(services)
    assert list(services.swift.held["oc"]) == ["mine.yaml"]


def test_a_plan_is_made_once(plan):
    with pytest.raises(InvalidInput, match="exists"):
        CreatePlan("oc", use_default_templates=True).perform(plan)


@pytest.mark.parametrize("name", ["", "../x", "a b", "1x", "x" * 81, None, "a/b"])
def test_a_name_that_cannot_be_a_plans_is_refused(services, name):
    with pytest.raises(InvalidInput, match="name of a plan"):
        CreateContainer(name).perform(services)


@pytest.mark.parametrize("refused", ["plan-environment.yaml", "overcloud.yaml"])
def test_a_change_that_fails_half_way_is_undone_byte_for_byte(plan, refused):
    for path in ("roles_data.yaml", "overcloud.j2.yaml"):
        plan.swift.put("oc", path, plan.swift.get("oc", path).body + b"\n# changed\n")
    before = snapshot(plan)
    plan.swift.refuse = refused
    with pytest.raises(CallFailed, match="no room"):
        UpdatePlan("oc").perform(plan)
    assert snapshot(plan) == before


def test_passwords_never_change_whatever_a_client_writes(plan):
    kept = dict(plan.mistral.held["oc"]["passwords"])
    mirror = {**plan.mistral.held["oc"], "passwords": {"AdminPassword": "other"}}
    plan.swift.put("oc", "plan-environment.yaml", yaml_guard.dump(mirror))
    UpdatePlan("oc").perform(plan)
    assert plan.mistral.held["oc"]["passwords"] == kept
    with pytest.raises(InvalidInput, match="passwords"):
        ResetParameters("oc", key="passwords").perform(plan)


def test_what_a_client_changed_in_the_mirror_is_taken_up(plan):
    mirror = {**plan.mistral.held["oc"], "parameter_defaults": {"ComputeCount": 7}}
    plan.swift.put("oc", "plan-environment.yaml", yaml_guard.dump(mirror))
    UpdateParameters({"ControllerCount": 3}, "oc").perform(plan)
    assert plan.mistral.held["oc"]["parameter_defaults"] == {
        "ComputeCount": 7,
        "ControllerCount": 3,
    }


def test_parameters_are_patched_and_reset(plan):
    UpdateParameters({"A": 1, "B": 2}, "oc").perform(plan)
    UpdateParameters({"B": 3}, "oc").perform(plan)
    assert plan.mistral.held["oc"]["parameter_defaults"] == {"A": 1, "B": 3}
    ResetParameters("oc").perform(plan)
    assert plan.mistral.held["oc"]["parameter_defaults"] == {}


def test_parameters_that_do_not_fit_are_told_together_and_nothing_is_stored(plan):
    nested = {"x": {"Parameters": {"On": {"Type": "Boolean"}}}}
    root = {"Count": {"Type": "Number", "MinValue": 0}}
    plan.heat.tree = {"Parameters": root, "NestedParameters": nested}
    before = snapshot(plan)
    with pytest.raises(InvalidInput, match=r"Count: -1 is less than 0; On: 'maybe' is not true"):
        UpdateParameters({"Count": -1, "On": "maybe"}, "oc").perform(plan)
    assert snapshot(plan) == before


def test_environments_go_on_and_off_in_their_order(plan):
    def on():
        return [entry["path"] for entry in plan.mistral.held["oc"]["environments"]]

    start = on()
    UpdateCapabilities({"environments/slow.yaml": True}, "oc").perform(plan)
    UpdateCapabilities({"environments/fast.yaml": True}, "oc").perform(plan)
    assert on() == [*start, "environments/fast.yaml"]
    with pytest.raises(InvalidInput, match="Only one of"):
        UpdateCapabilities(
            {"environments/slow.yaml": True, "environments/fast.yaml": True}, "oc"
        ).perform(plan)
    UpdateCapabilities({"environments/network/flat.yaml": True}, "oc").perform(plan)
    UpdateCapabilities({"environments/storage/replicated.yaml": True}, "oc").perform(plan)
    # What it requires came with it, and what that excludes went.
    assert "environments/network/isolated.yaml" in on()
    assert "environments/network/flat.yaml" not in on()
    with pytest.raises(InvalidInput, match=r"nowhere\.yaml"):
        UpdateCapabilities({"environments/nowhere.yaml": True}, "oc").perform(plan)
    with pytest.raises(InvalidInput, match="true or false"):
        UpdateCapabilities({"environments/fast.yaml": "yes"}, "oc").perform(plan)


def test_capabilities_tell_what_is_on_and_what_the_map_does_not_name(plan):
    plan.swift.put("oc", "environments/own.yaml", b"parameter_defaults: {A: 1}\n")
    UpdateCapabilities({"environments/own.yaml": True}, "oc").perform(plan)
    shown = GetCapabilities("oc").perform(plan)
    assert {"Base Resources", "Network", "Storage", "Operation", "Other"} == set(shown)
    (own,) = shown["Other"]["environment_groups"]
    assert own["environments"][0]["enabled"] is True


def test_roles_are_listed_by_name_or_whole(plan):
    assert ListRoles("oc").perform(plan) == ["Controller", "Compute"]
    assert ListRoles("oc", detail=True).perform(plan)[0]["CountDefault"] == 1
    with pytest.raises(InvalidInput, match=r"none\.yaml"):
        ListRoles("oc", role_file_name="none.yaml").perform(plan)


def test_only_a_plan_without_a_stack_is_deleted(plan):
    plan.mistral.held["other"] = {"mine": 1}
    with pytest.raises(InvalidInput, match="no plan"):
        DeletePlan("other").perform(plan)
    plan.heat.stack_found = {"stack_status": "CREATE_COMPLETE"}
    with pytest.raises(InvalidInput, match="deployed"):
        DeletePlan("oc").perform(plan)
    plan.heat.stack_found = None
    DeletePlan("oc").perform(plan)
    assert plan.mistral.held == {"other": {"mine": 1}}
    assert "oc" not in plan.swift.held


def test_a_plan_that_is_not_there_is_told(services):
    with pytest.raises(NotThere, match="There is no plan oc"):
        UpdateParameters({}, "oc").perform(services)


def test_writers_at_once_lose_no_update(plan):
    def write(who):
        for number in range(10):
            UpdateParameters({f"P{who}x{number}": number}, "oc", validate=False).perform(plan)

    threads = [threading.Thread(target=write, args=(who,)) for who in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(plan.mistral.held["oc"]["parameter_defaults"]) == 20


def test_a_lock_is_one_holders_and_only_the_holder_frees_it(services):
    first = locks.take(services.swift, "oc/deployment", owner="execution e1", seconds=60)
    with pytest.raises(PlanLocked, match="being deployed by execution e1"):
        locks.take(services.swift, "oc/deployment", owner="execution e2", seconds=60)
    locks.take(services.swift, "other/deployment", owner="execution e2", seconds=60)
    again = locks.resume(services.swift, "oc/deployment", nonce="wrong", owner="x", seconds=60)
    with pytest.raises(PlanLocked):
        again.confirm()
    again.release()
    first.confirm()
    first.release()
    locks.take(services.swift, "oc/deployment", owner="execution e2", seconds=60)


def test_a_file_that_is_no_text_is_left_alone(plan):
    plan.swift.put("oc", "picture.png", b"\xff\xfe")
    read = plan_store.read(plan, "oc")
    assert "picture.png" not in read.files
    UpdatePlan("oc").perform(plan)
    assert plan.swift.get("oc", "picture.png").body == b"\xff\xfe"


@pytest.mark.parametrize(
    ("file", "text", "where"),
    [
        ("environments/fast.yaml", b"parameter_defaults: {}\nparameter_defaults: {}\n", ":2: "),
        ("capabilities-map.yaml", b"topics:\n  - {title: a\n", ":3: "),
        ("capabilities-map.yaml", b"topics:\n", "the section topics is null"),
    ],
)
def test_what_is_off_has_to_be_readable_too(services, file, text, where):
    services.swift.create_container("oc", {})
    services.swift.put_many("oc", sample.files() | {file: text})
    with pytest.raises(InvalidInput, match=f"{file}.*{where}"):
        CreatePlan("oc").perform(services)
    assert services.mistral.held == {}
