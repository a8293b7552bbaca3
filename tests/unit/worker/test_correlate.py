"""Which deployment an event of Heat belongs to."""

from hypothesis import given
from hypothesis import strategies as st

from tests.unit.journal.events_made import NOON
from tripleo_worker.correlate import Correlator
from tripleo_worker.events import HEAT_RESOURCE, STACK_ANNOUNCED, Event, EventData


def announced(root="x", name="overcloud", project="p", stack=None, number=0):
    payload = {"stack_name": name, "stack_id": stack}
    return Event(
        id=f"a{number}{root}{stack}",
        source="/zaqar/tripleo-progress",
        type=STACK_ANNOUNCED,
        time=NOON,
        projectid=project,
        plan=name,
        executionid=root,
        rootexecutionid=root,
        data=EventData(payload=payload),
    )


def resource(stack, name, project="p", itself=False):
    payload = {"stack_id": stack, "resource_name": name, "resource_status": "COMPLETE"}
    if itself:
        payload |= {"resource_type": "OS::Heat::Stack", "physical_resource_id": stack}
    return Event(
        id=f"{stack}{name}",
        source="/zaqar/tripleo-progress",
        type=HEAT_RESOURCE,
        time=NOON,
        projectid=project,
        data=EventData(payload=payload),
    )


def roots(correlator, *events):
    return [correlator.relate(event).rootexecutionid for event in events]


NESTED = "overcloud-ComputeServers-abcdefghijkl"


def test_a_stack_and_all_nested_in_it_are_the_deployments():
    correlator = Correlator()
    assert (
        roots(
            correlator,
            announced(),
            resource("s1", "overcloud", itself=True),
            resource("s1", "Cookie"),
            resource("s2", NESTED, itself=True),
            resource("s2", "0"),
            resource("s3", f"{NESTED}-0-mnopqrstuvwx", itself=True),
            resource("s3", "Compute"),
        )
        == ["x"] * 7
    )


def test_the_plan_comes_along():
    correlator = Correlator()
    correlator.relate(announced())
    assert correlator.relate(resource("s1", "overcloud", itself=True)).plan == "overcloud"


def test_the_execution_itself_is_not_named():
    # A resource's end is not the execution's: nothing may take it for that.
    correlator = Correlator()
    correlator.relate(announced(stack="s1"))
    assert correlator.relate(resource("s1", "Cookie")).executionid == ""


def test_a_stack_that_nobody_announced_is_nobodys():
    correlator = Correlator()
    assert roots(
        correlator,
        announced(),
        resource("s9", "other", itself=True),
        resource("s9", "Thing"),
        resource("s8", "overcloud-2", itself=True),
        resource("s8", "Thing"),
    ) == ["x", "", "", "", ""]


def test_the_longer_name_wins():
    correlator = Correlator()
    correlator.relate(announced())
    correlator.relate(announced("y", "overcloud-Compute"))
    nested = resource("s2", "overcloud-Compute-Servers-abcdefghijkl", itself=True)
    assert roots(correlator, nested) == ["y"]


def test_another_project_is_another_cloud():
    correlator = Correlator()
    correlator.relate(announced(project="p", stack="s1"))
    assert roots(
        correlator,
        resource("s1", "overcloud", project="q", itself=True),
        resource("s1", "Cookie", project="q"),
    ) == ["", ""]


def test_the_next_deployment_takes_the_stacks_over():
    correlator = Correlator()
    roots(correlator, announced(stack="s1"), resource("s2", NESTED, itself=True))
    correlator.relate(announced("y", stack="s1"))
    assert roots(correlator, resource("s1", "Cookie"), resource("s2", "0")) == ["y", "y"]


def test_a_notification_of_heat_is_found_by_its_identity():
    correlator = Correlator()
    correlator.relate(announced())
    told = Event(
        id="n",
        source="/notifications/heat",
        type="orchestration.stack.create.end",
        time=NOON,
        projectid="p",
        data=EventData(payload={"stack_identity": "arn:openstack:heat::p:stacks/overcloud/s1"}),
    )
    assert roots(correlator, told) == ["x"]


@given(st.permutations([("s1", "A"), ("s1", "B"), ("s2", "0"), ("s2", "1"), ("s3", "Node")]))
def test_after_each_stacks_first_event_the_order_does_not_matter(order):
    correlator = Correlator()
    correlator.relate(announced())
    names = {"s1": "overcloud", "s2": NESTED, "s3": f"{NESTED}-0-mnopqrstuvwx"}
    seen = set()
    for stack, name in order:
        if stack not in seen:
            seen.add(stack)
            assert roots(correlator, resource(stack, names[stack], itself=True)) == ["x"]
        assert roots(correlator, resource(stack, name)) == ["x"]
