"""Starting a deployment: what Heat is asked, what is announced, and when nothing is begun."""

import pytest

from tests.unit.actions.stacks import Services, lost, stack
from tripleo_actions import locks
from tripleo_actions.deployment import Deploy, Undeploy
from tripleo_actions.faults import CallFailed, NotThere, PlanLocked
from tripleo_actions.plan import CreatePlan
from tripleo_worker.errors import InvalidInput, OperationCancelled

LOCK = "oc/deployment"


@pytest.fixture
def services():
    made = Services()
    CreatePlan("oc", use_default_templates=True).perform(made)
    return made


def test_a_plan_without_a_stack_is_created_and_announced_before_and_after(services):
    services.heat.previews = [[{"resource_name": "A"}, [{"resource_name": "B"}]]]
    started = Deploy(container="oc").perform(services)
    assert (started["action"], started["stack_id"], started["plan"]) == ("CREATE", "new", "oc")
    assert services.heat.calls() == ["preview", "create"]
    told = services.zaqar.payloads("tripleo-progress")
    assert [(one["stack_id"], one["expected_resources"]) for one in told] == [
        (None, None),
        ("new", 3),
    ]
    assert {one["execution_id"] for one in told} == {"e1"}
    assert services.zaqar.payloads("tripleo") == []
    assert locks.holder(services.swift, LOCK)["owner"] == "execution e1"


def test_only_what_is_deployed_sends_events_to_the_queue_of_progress(services):
    Deploy(container="oc").perform(services)
    sinks = {
        call: request["environment"].get("event_sinks") for call, request in services.heat.asked
    }
    assert sinks["preview"] is None
    assert [one["target"] for one in sinks["create"]] == ["tripleo-progress"]


@pytest.mark.parametrize("word", ["CREATE_COMPLETE", "CREATE_FAILED", "UPDATE_FAILED"])
def test_a_stack_that_is_there_is_updated(services, word):
    services.heat.stack_found = stack(word)
    services.heat.held = {"template": {}, "files": {}, "environment": {}}
    started = Deploy(container="oc").perform(services)
    assert (started["action"], started["stack_id"], started["before"]) == ("UPDATE", "s1", "t1")
    assert services.heat.calls()[-1] == "update"


@pytest.mark.parametrize(
    ("skip", "parameters", "same"),
    [(True, {"DeployIdentifier": "7"}, True), (False, {"DeployIdentifier": "7"}, False),
     (True, {}, False), (True, {"DeployIdentifier": ""}, False)],
)  # fmt: skip
def test_the_identifier_stays_only_where_it_is_to_be_skipped(services, skip, parameters, same):
    services.heat.stack_found = stack("CREATE_COMPLETE", parameters=parameters)
    services.heat.held = {"template": {}, "files": {}, "environment": {}}
    Deploy(container="oc", skip_deploy_identifier=skip).perform(services)
    [request] = [request for call, request in services.heat.asked if call == "update"]
    given = request["environment"]["parameter_defaults"]["DeployIdentifier"]
    assert (given == "7") is same
    assert given.isdigit()


@pytest.mark.parametrize(
    ("found", "error"),
    [("CREATE_IN_PROGRESS", PlanLocked), ("UPDATE_IN_PROGRESS", PlanLocked),
     ("DELETE_FAILED", InvalidInput)],
)  # fmt: skip
def test_a_stack_that_is_busy_is_left_alone_and_the_lock_is_freed(services, found, error):
    services.heat.stack_found = stack(found)
    with pytest.raises(error, match=found):
        Deploy(container="oc").perform(services)
    assert services.heat.calls() == []
    assert services.zaqar.posted == []
    assert not locks.holder(services.swift, LOCK)


def test_a_second_deployment_is_refused_and_frees_nothing(services):
    Deploy(container="oc").perform(services)
    other = Services("e2")
    other.swift, other.mistral, other.heat = services.swift, services.mistral, services.heat
    with pytest.raises(PlanLocked, match="being deployed by execution e1"):
        Deploy(container="oc").perform(other)
    assert locks.holder(services.swift, LOCK)["owner"] == "execution e1"


def test_what_heat_refuses_in_the_preview_is_not_created(services):
    services.heat.fails["preview"] = CallFailed("Heat", 400, "Unknown Property")
    with pytest.raises(CallFailed, match="Unknown Property"):
        Deploy(container="oc").perform(services)
    assert "create" not in services.heat.calls()
    assert not locks.holder(services.swift, LOCK)


@pytest.mark.parametrize("error", [lost(), lost(500)])
def test_without_a_preview_the_deployment_goes_on_without_a_count(services, error):
    services.heat.fails["preview"] = error
    Deploy(container="oc").perform(services)
    assert services.zaqar.payloads("tripleo-progress")[-1]["expected_resources"] is None


def test_a_preview_that_cannot_be_read_does_not_stop_an_update(services):
    services.heat.stack_found = stack("CREATE_COMPLETE")
    services.heat.held = {}
    Deploy(container="oc").perform(services)
    assert services.heat.calls()[-1] == "update"


def test_an_execution_that_was_cancelled_meanwhile_starts_nothing(services):
    services.mistral.states["e1"] = "CANCELLED"
    with pytest.raises(OperationCancelled):
        Deploy(container="oc").perform(services)
    assert "create" not in services.heat.calls()
    assert not locks.holder(services.swift, LOCK)


@pytest.mark.parametrize("error", [lost(), lost(502)])
def test_a_lost_reply_to_a_creation_that_began_is_no_failure(services, error):
    def create(name, request, minutes):
        services.heat.stack_found = stack("CREATE_IN_PROGRESS")
        raise error

    services.heat.create = create
    assert Deploy(container="oc").perform(services)["stack_id"] == "s1"


@pytest.mark.parametrize(("updated", "begun"), [("t2", True), ("t1", False)])
def test_a_lost_reply_to_an_update_counts_only_if_it_began(services, updated, begun):
    services.heat.stack_found = stack("UPDATE_COMPLETE")
    services.heat.held = {"template": {}, "files": {}, "environment": {}}

    def update(name, ident, request, minutes):
        services.heat.stack_found = stack("UPDATE_IN_PROGRESS", updated)
        raise lost()

    services.heat.update = update
    if begun:
        assert Deploy(container="oc").perform(services)["action"] == "UPDATE"
    else:
        with pytest.raises(CallFailed):
            Deploy(container="oc").perform(services)


def test_a_lost_reply_where_nothing_began_is_a_failure(services):
    services.heat.fails["create"] = lost()
    with pytest.raises(CallFailed, match="no answer"):
        Deploy(container="oc").perform(services)
    assert not locks.holder(services.swift, LOCK)


def test_a_plan_that_is_not_there_is_told_and_locks_nothing(services):
    for action in (Deploy(container="none"), Undeploy(container="none")):
        with pytest.raises(NotThere, match="There is no plan none"):
            action.perform(services)
    assert not locks.holder(services.swift, "none/deployment")


def test_a_stack_is_deleted_once_it_is_announced(services):
    services.heat.stack_found = stack("CREATE_COMPLETE")
    services.heat.listing = [{}, {}]
    started = Undeploy("oc").perform(services)
    assert (started["action"], services.heat.calls()[-1]) == ("DELETE", "delete")
    [told] = services.zaqar.payloads("tripleo-progress")
    assert (told["action"], told["expected_resources"]) == ("DELETE", 2)


def test_without_a_stack_there_is_nothing_to_delete(services):
    assert Undeploy("oc").perform(services)["stack_id"] == ""
    assert services.heat.calls() == []
    assert services.zaqar.posted == []
