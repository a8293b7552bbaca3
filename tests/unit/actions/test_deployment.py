"""Deploying: what a stack's state means, which failures are causes, who holds the lock."""

import pytest

from tests.unit.actions.twins import Services
from tripleo_actions import stack_expected, stack_lock, stack_start, stack_watch
from tripleo_actions.faults import PlanLocked
from tripleo_actions.stack_watch import Started
from tripleo_worker.errors import InvalidInput


def started(action="CREATE", before=None):
    return Started(plan="oc", stack_name="oc", stack_id="s", action=action, before=before)


def stack(word, updated=None, reason=""):
    return {"stack_status": word, "updated_time": updated, "stack_status_reason": reason}


@pytest.mark.parametrize(
    ("told", "found", "done", "status"),
    [
        (started(), stack("CREATE_IN_PROGRESS"), False, "RUNNING"),
        (started(), stack("CREATE_COMPLETE"), True, "SUCCESS"),
        (started(), stack("CREATE_FAILED", reason="why"), True, "FAILED"),
        (started(), stack("DELETE_IN_PROGRESS"), True, "FAILED"),
        (started(), None, True, "FAILED"),
        (started("UPDATE"), stack("CREATE_COMPLETE"), False, "RUNNING"),
        (started("UPDATE", "t1"), stack("UPDATE_COMPLETE", "t1"), False, "RUNNING"),
        (started("UPDATE", "t1"), stack("UPDATE_COMPLETE", "t2"), True, "SUCCESS"),
        (started("UPDATE", "t1"), stack("UPDATE_FAILED", "t2"), True, "FAILED"),
        (started("DELETE"), stack("DELETE_IN_PROGRESS"), False, "RUNNING"),
        (started("DELETE"), stack("DELETE_FAILED"), True, "FAILED"),
        (started("DELETE"), None, True, "SUCCESS"),
    ],
)
def test_a_state_is_measured_by_what_was_asked(told, found, done, status):
    outcome = stack_watch.judge(told, found)
    assert (outcome.done, outcome.status) == (done, status)
    assert outcome.message


def resource(name, own, reason, nested=""):
    links = [{"rel": "stack", "href": own}]
    if nested:
        links.append({"rel": "nested", "href": nested})
    return {
        "resource_name": name,
        "resource_type": "OS::X",
        "resource_status_reason": reason,
        "links": links,
    }


ROOT = "http://heat/stacks/oc/1"
GROUP = "http://heat/stacks/oc-Servers-abcdefabcdef/2"
NODE = "http://heat/stacks/oc-Servers-abcdefabcdef-0-ghijklghijkl/3"
FAILED = [
    resource("Servers", ROOT, "resources.Servers: ...", nested=GROUP),
    resource("0", GROUP, "resources[0]: ...", nested=NODE),
    resource("DiskCheck", NODE, "the disk is faulty"),
    resource("Network", ROOT, "CREATE aborted (user triggered cancel)"),
]


def test_causes_are_the_leaves_that_nothing_else_ended():
    assert stack_watch.causes(FAILED, "oc") == [
        {"name": "Servers.0.DiskCheck", "type": "OS::X", "reason": "the disk is faulty"}
    ]


def test_what_was_only_aborted_is_told_where_nothing_else_is_known():
    assert [one["name"] for one in stack_watch.causes(FAILED[3:], "oc")] == ["Network"]


def test_a_failure_names_its_causes_in_its_message():
    outcome = stack_watch.judge(started(), stack("CREATE_FAILED", reason="resources.Servers: x"))
    told = stack_watch.explained(outcome, FAILED, "oc")
    assert told.message == "The stack oc is CREATE_FAILED. Servers.0.DiskCheck: the disk is faulty"
    assert stack_watch.explained(outcome, [], "oc") == outcome


def test_a_preview_is_counted_with_all_that_is_nested():
    assert stack_expected.created([{}, [{}, [{}, {}]], []]) == 1 + (1 + 1 + (1 + 2)) + 1


@pytest.mark.parametrize(
    ("word", "action"),
    [(None, "CREATE"), ("CREATE_COMPLETE", "UPDATE"), ("CREATE_FAILED", "UPDATE"),
     ("UPDATE_FAILED", "UPDATE"), ("UPDATE_IN_PROGRESS", None), ("DELETE_FAILED", None)],
)  # fmt: skip
def test_a_stack_in_progress_or_half_deleted_is_not_touched(word, action):
    found = stack(word) if word else None
    if action:
        assert stack_start.action_for("oc", found) == action
    else:
        with pytest.raises((InvalidInput, PlanLocked), match="nothing was started"):
            stack_start.action_for("oc", found)


@pytest.mark.parametrize("minutes", [0, -1, True, 1.5, "240", None, 10**6])
def test_a_timeout_that_is_none_is_refused(minutes):
    with pytest.raises(InvalidInput, match="timeout"):
        stack_start.checked_timeout(minutes)


@pytest.fixture
def services():
    made = Services("e2")
    made.swift.create_container("tripleo-locks", {})
    return made


@pytest.mark.parametrize("state", ["RUNNING", "PAUSED"])
def test_an_execution_that_goes_on_keeps_its_lock(services, state):
    stack_lock.hold(seen_by(services, "e1"), "oc")
    services.mistral.states["e1"] = state
    with pytest.raises(PlanLocked, match="execution e1"):
        stack_lock.hold(services, "oc")


@pytest.mark.parametrize("state", ["ERROR", "CANCELLED", "SUCCESS", None])
def test_the_lock_of_an_execution_that_has_ended_is_taken_over(services, state):
    first = stack_lock.hold(seen_by(services, "e1"), "oc")
    if state:
        services.mistral.states["e1"] = state
    second = stack_lock.hold(services, "oc")
    second.confirm()
    with pytest.raises(PlanLocked):
        first.confirm()


def seen_by(services, execution):
    """The same cloud, seen by another execution."""
    other = Services(execution)
    other.swift, other.mistral = services.swift, services.mistral
    return other
