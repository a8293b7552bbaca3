"""Posting: how long a message is tried, and what happens to one that is too large."""

import json

import pytest

from tests.unit.actions.stacks import Services
from tripleo_actions import messages, messaging
from tripleo_actions.faults import CallFailed
from tripleo_actions.messaging import NO_PLAN_CONTAINER, SendMessage

EXECUTION = {"id": "e9", "root_execution_id": "r1", "input": {"container": "oc"}, "spec": {"a": 1}}


@pytest.fixture
def services():
    made = Services()
    made.swift.create_container("oc", {})
    return made


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch):
    monkeypatch.setattr("tenacity.nap.time.sleep", lambda seconds: None)


def refusal(status):
    return CallFailed("Zaqar", status, f"refused {status}")


def test_one_call_posts_one_message(services):
    sent = SendMessage("t.v1.w", execution=EXECUTION, message="hello").perform(services)
    assert sent == {"status": "SUCCESS", "message": "hello", "posted": True, "message_id": "id1"}
    [(queue, body)] = services.zaqar.posted
    assert (queue, body["type"]) == ("tripleo", "t.v1.w")
    payload = body["payload"]
    assert (payload["execution_id"], payload["root_execution_id"]) == ("e9", "r1")
    assert payload["plan_name"] == "oc"
    assert "spec" not in payload["execution"]


def test_without_an_execution_it_is_the_actions_own(services):
    SendMessage("t.v1.w").perform(services)
    [payload] = services.zaqar.payloads("tripleo")
    assert (payload["execution_id"], payload["message"]) == ("e1", "")


def test_progress_that_cannot_be_posted_is_no_error(services):
    services.zaqar.refusals = [refusal(503)] * 9
    sent = SendMessage("t.v1.w", status="RUNNING").perform(services)
    assert sent["posted"] is False
    assert len(services.zaqar.refusals) == 9 - messaging.PROGRESS_TRIES


@pytest.mark.parametrize("status", [None, 429, 500, 503])
def test_a_terminal_message_is_tried_again(services, status):
    services.zaqar.refusals = [refusal(status)] * 3
    assert SendMessage("t.v1.w").perform(services)["posted"]


def test_a_terminal_message_that_is_refused_is_an_error_at_once(services):
    services.zaqar.refusals = [refusal(403)] * 9
    with pytest.raises(CallFailed, match="403"):
        SendMessage("t.v1.w").perform(services)
    assert len(services.zaqar.refusals) == 8


def large(services, **more):
    payload = {"report": "€" * 200_000, "admin_password": "canary"}
    SendMessage("t.v1.w", message="short", payload=payload, **more).perform(services)
    [payload] = services.zaqar.payloads("tripleo")
    return payload


def test_a_large_payload_is_moved_to_the_plans_container_and_masked(services):
    payload = large(services, execution=EXECUTION)
    assert messages.fits({"type": "t.v1.w", "payload": payload})
    assert (payload["status"], payload["message"]) == ("SUCCESS", "short")
    name = payload["payload_url"].removeprefix("memory/oc/")
    whole = json.loads(services.swift.get("oc", name).body)
    assert whole["report"] == "€" * 200_000
    assert "canary" not in json.dumps(whole)


def test_without_a_plan_it_goes_to_a_container_of_its_own(services):
    payload = large(services, execution={"id": "e9"})
    assert payload["payload_url"].startswith(f"memory/{NO_PLAN_CONTAINER}/")


def test_a_large_payload_that_cannot_be_stored_is_posted_without(services):
    services.swift.delete_container("oc")
    assert large(services, execution=EXECUTION)["payload_url"] is None
