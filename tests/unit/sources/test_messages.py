"""Messages of Zaqar and notifications of the bus as events."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tripleo_worker.events import HEAT_RESOURCE, Event, Status, decode, encode
from tripleo_worker.ports import DeadLetter
from tripleo_worker.sources import messages, notices
from tripleo_worker.sources.texts import one_text, when

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)


def read(body, **envelope):
    message = {"id": "m1", "age": 5, "body": body, **envelope}
    return messages.read(message, queue="tripleo", project="p", now=NOW)


def notice(kind, payload, **more):
    metadata = {"message_id": "n1", "timestamp": "2026-01-01 11:59:58.5"}
    message = {"event_type": kind, "payload": payload, "metadata": metadata, **more}
    return notices.read(message, now=NOW)


def test_a_contract_message_names_execution_plan_and_status():
    event = read(
        {
            "type": "tripleo.deployment.v1.deploy_plan",
            "payload": {
                "status": "SUCCESS",
                "message": "done",
                "execution_id": "e",
                "root_execution_id": "r",
                "execution": {"input": {"container": "overcloud"}},
            },
        }
    )
    assert (event.executionid, event.rootexecutionid, event.plan) == ("e", "r", "overcloud")
    assert (event.id, event.source, event.projectid) == ("m1", "/zaqar/tripleo", "p")
    assert (event.data.status, event.data.message) == (Status.SUCCESS, "done")
    assert event.time == NOW - timedelta(seconds=5)


def test_an_older_sender_names_the_execution_inside_and_no_root():
    event = read({"type": "t", "payload": {"execution": {"id": "e"}, "status": "RUNNING"}})
    assert (event.executionid, event.rootexecutionid) == ("e", "e")


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ("plain", "plain"),
        (None, ""),
        (["a", "b"], "a\nb"),
        ({"message": "inner"}, "inner"),
        ([{"result": "one"}, {"result": "two"}], "one\ntwo"),
        ({}, ""),
        (7, "7"),
    ],
)
def test_a_message_in_any_form_becomes_one_text(message, text):
    assert one_text(message) == text
    assert read({"type": "t", "payload": {"message": message}}).data.message == text


@pytest.mark.parametrize(
    "body", [None, "text", 3, [], {}, {"type": 1, "payload": {}}, {"type": "t", "payload": []}]
)
def test_what_is_no_message_is_set_aside_with_its_reason(body):
    letter = read(body)
    assert isinstance(letter, DeadLetter)
    assert letter.reason
    assert letter.id == "m1"


def test_an_event_of_heat_keeps_its_own_id_and_leaves_the_properties_out():
    event = read(
        {
            "type": "os.heat.event",
            "id": "h1",
            "timestamp": "2026-01-01T11:00:00Z",
            "payload": {
                "stack_id": "s",
                "resource_name": "Compute",
                "resource_action": "CREATE",
                "resource_status": "FAILED",
                "resource_status_reason": "no disk",
                "resource_properties": {"any": "secret"},
            },
        }
    )
    assert (event.id, event.type, event.subject) == (
        "h1",
        HEAT_RESOURCE,
        "stack/s/resource/Compute",
    )
    assert event.time == datetime(2026, 1, 1, 11, tzinfo=UTC)
    assert (event.data.status, event.data.message) == (Status.FAILED, "CREATE_FAILED: no disk")
    assert "resource_properties" not in event.data.payload


def test_a_notification_of_mistral_names_its_executions():
    event = notice(
        "mistral.workflow.failed",
        {
            "execution_id": "e",
            "root_execution_id": "r",
            "project_id": "p",
            "state": "ERROR",
            "state_info": "it broke",
            "input": {"container": "oc"},
        },
    )
    assert (event.id, event.source, event.plan) == ("n1", "/notifications/mistral", "oc")
    assert (event.data.status, event.data.message) == (Status.FAILED, "it broke")
    assert event.time == datetime(2026, 1, 1, 11, 59, 58, 500000, tzinfo=UTC)


@pytest.mark.parametrize(
    ("kind", "state", "words"),
    [
        ("mistral.workflow.cancelled", "CANCELLED", "The workflow was cancelled."),
        ("mistral.workflow.failed", "ERROR", "The workflow failed without a message of its own."),
        ("mistral.workflow.succeeded", "SUCCESS", ""),
        ("mistral.task.failed", "ERROR", ""),
    ],
)
def test_an_end_without_a_word_gets_one(kind, state, words):
    assert notice(kind, {"execution_id": "e", "state": state}).data.message == words


def test_notifications_of_heat_and_ironic_name_what_they_are_about():
    stack = notice(
        "orchestration.stack.create.end",
        {"stack_identity": "arn:x::p:stacks/oc/s1", "tenant_id": "p", "state": "CREATE_COMPLETE"},
    )
    assert (stack.subject, stack.data.status) == ("stack/s1", Status.SUCCESS)
    node = notice(
        "baremetal.node.provision_set.error",
        {"ironic_object.data": {"uuid": "n", "owner": "p", "last_error": "no power"}},
    )
    assert (node.subject, node.data.status, node.data.message) == (
        "node/n",
        Status.FAILED,
        "no power",
    )


def test_a_notification_without_id_or_type_is_set_aside():
    for message in (
        {"event_type": "x", "payload": {}},
        {"payload": {}, "metadata": {"message_id": "1"}},
        {"event_type": "x", "payload": "y", "metadata": {"message_id": "1"}},
        {},
    ):
        letter = notices.read(message, now=NOW)
        assert isinstance(letter, DeadLetter)
        assert letter.id
        assert letter.reason


def test_a_time_without_an_offset_is_utc():
    assert when("2026-01-01 10:00:00", NOW) == datetime(2026, 1, 1, 10, tzinfo=UTC)
    assert when("2026-01-01T10:00:00+02:00", NOW) == datetime(2026, 1, 1, 8, tzinfo=UTC)
    assert when("yesterday", NOW) == when(None, NOW) == NOW


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=15,
)
keys = st.sampled_from(
    "type payload status message execution execution_id id timestamp resource_name "
    "resource_status plan_name input event_type metadata".split()
)
bodies = st.recursive(
    json_values | st.just("os.heat.event"),
    lambda inner: st.dictionaries(keys, inner, max_size=6),
    max_leaves=25,
)


@given(bodies, st.one_of(st.none(), st.integers(0, 10**6), st.text()))
def test_any_body_becomes_an_event_or_is_set_aside(body, age):
    read_as = messages.read({"id": "m", "age": age, "body": body}, queue="q", project="", now=NOW)
    if isinstance(read_as, Event):
        assert decode(encode(read_as)) == read_as


@given(
    st.sampled_from(
        ["mistral.task.x", "mistral.workflow.x", "orchestration.x", "baremetal.x", "z"]
    ),
    bodies,
)
def test_any_notification_becomes_an_event_or_is_set_aside(kind, payload):
    read_as = notice(kind, payload)
    if isinstance(read_as, Event):
        assert decode(encode(read_as)) == read_as
