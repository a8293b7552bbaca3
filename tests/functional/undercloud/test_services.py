"""Each service of a running undercloud does the part that the product relies on."""

from __future__ import annotations

import json
import subprocess
import sys
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import amqp
import pytest
from keystoneauth1.session import Session
from websockets.sync.client import connect

BIN = Path(sys.executable).parent
NESTED = {
    "heat_template_version": "2021-04-16",
    "resources": {"inner": {"type": "OS::Heat::TestResource", "properties": {"value": "x"}}},
}


def until(ask: Callable[[], Any], seconds: float = 60) -> Any:
    """The first true answer."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        answer = ask()
        if answer:
            return answer
        time.sleep(0.1)
    raise AssertionError(f"nothing within {seconds} s")


def endpoint(session: Session, service: str) -> str:
    found = session.get_endpoint(service_type=service, interface="public")
    assert found
    return found


def test_the_openstack_command_gets_a_token(undercloud: Any) -> None:
    done = subprocess.run(
        [BIN / "openstack", "token", "issue", "-f", "json"],
        env=undercloud.environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["project_id"]


def test_the_catalogue_names_the_worker(undercloud: Any, session: Session) -> None:
    assert endpoint(session, "tripleo-worker") == f"http://127.0.0.1:{undercloud.port['worker']}"


def test_swift_keeps_objects_and_signs_urls(session: Session) -> None:
    url = f"{endpoint(session, 'object-store')}/{uuid.uuid4().hex}"
    assert session.put(url).status_code == 201
    session.put(f"{url}/a/b.yaml", data=b"one: 1\n")
    assert session.get(f"{url}/a/b.yaml").content == b"one: 1\n"
    conditional = {"If-None-Match": "*"}
    refused = session.put(f"{url}/a/b.yaml", data=b"", headers=conditional, raise_exc=False)
    assert refused.status_code == 412
    features = session.get(endpoint(session, "object-store").split("/v1/")[0] + "/info").json()
    assert {"bulk_upload", "tempurl", "slo"} <= set(features)
    session.delete(f"{url}/a/b.yaml")
    session.delete(url)


def test_zaqar_pushes_what_is_posted(undercloud: Any, session: Session) -> None:
    queue, client = uuid.uuid4().hex, str(uuid.uuid4())
    headers = {"Client-ID": client, "X-Project-ID": session.get_project_id()}
    with connect(f"ws://127.0.0.1:{undercloud.port['zaqar-websocket']}") as socket:

        def call(action: str, **body: Any) -> dict[str, Any]:
            token = {"X-Auth-Token": session.get_token()} if action == "authenticate" else {}
            frame = {"action": action, "headers": headers | token, "body": body}
            socket.send(json.dumps(frame))
            return json.loads(socket.recv(timeout=10))["headers"]

        assert call("authenticate")["status"] == 200
        assert call("queue_create", queue_name=queue)["status"] == 201
        assert call("subscription_create", queue_name=queue, ttl=300)["status"] == 201
        url = f"{endpoint(session, 'messaging')}/v2/queues/{queue}"
        message = {"messages": [{"body": {"hello": 1}, "ttl": 300}]}
        assert session.post(f"{url}/messages", json=message, headers=headers).status_code == 201
        assert json.loads(socket.recv(timeout=10))["body"] == {"hello": 1}
    session.delete(url, headers=headers)


WORKFLOW = """
version: '2.0'
{name}:
  tasks:
    first:
      action: std.noop
      on-success: [second]
    second:
      with-items: i in <% range(3) %>
      action: std.echo output=<% $.i %>
"""


def test_mistral_runs_a_workflow_without_waiting_between_tasks(session: Session) -> None:
    url, name = endpoint(session, "workflowv2"), f"uc_{uuid.uuid4().hex}"
    text = {"headers": {"Content-Type": "text/plain"}, "data": WORKFLOW.format(name=name)}
    assert session.post(f"{url}/workflows", **text).status_code == 201

    def run() -> float:
        started = time.monotonic()
        made = session.post(f"{url}/executions", json={"workflow_name": name}).json()
        where = f"{url}/executions/{made['id']}"
        ended = until(lambda: (e := session.get(where).json())["state"] != "RUNNING" and e)
        assert ended["state"] == "SUCCESS", ended["state_info"]
        return time.monotonic() - started

    try:
        # The scheduler that Mistral sets by default makes each run wait for its next poll.
        assert min(run() for _ in range(5)) < 0.95
    finally:
        session.delete(f"{url}/workflows/{name}")


def test_heat_posts_resource_events_to_a_queue(session: Session) -> None:
    url, name = endpoint(session, "orchestration"), f"uc-{uuid.uuid4().hex}"
    group = {"count": 2, "resource_def": {"type": "nested.yaml"}}
    body = {
        "stack_name": name,
        "template": NESTED
        | {"resources": {"group": {"type": "OS::Heat::ResourceGroup", "properties": group}}},
        "files": {"nested.yaml": json.dumps(NESTED)},
        "environment": {"event_sinks": [{"type": "zaqar-queue", "target": name, "ttl": 300}]},
        "timeout_mins": 5,
    }
    stack = session.post(f"{url}/stacks", json=body).json()["stack"]
    where = f"{url}/stacks/{name}/{stack['id']}"
    try:
        ended = until(
            lambda: (s := session.get(where).json()["stack"])["stack_status"]
            != "CREATE_IN_PROGRESS" and s, 120
        )  # fmt: skip
        assert ended["stack_status"] == "CREATE_COMPLETE", ended["stack_status_reason"]
        queue = f"{endpoint(session, 'messaging')}/v2/queues/{name}"
        headers = {"Client-ID": str(uuid.uuid4())}
        listed = session.get(f"{queue}/messages?echo=true", headers=headers).json()
        assert any("inner" in json.dumps(each["body"]) for each in listed["messages"])
        session.delete(queue, headers=headers)
    finally:
        session.delete(where)


def test_ironic_takes_a_fake_node_through_inspection(undercloud: Any) -> None:
    system = undercloud.session(system_scope="all")
    url = f"{endpoint(system, 'baremetal')}/v1/nodes"
    headers = {"X-OpenStack-Ironic-API-Version": "1.80"}
    node = system.post(
        url, json={"driver": "fake-hardware", "inspect_interface": "agent"}, headers=headers
    ).json()
    where = f"{url}/{node['uuid']}"
    assert system.get(f"{url[:-6]}/drivers", headers=headers).json()["drivers"]
    try:
        for verb, state in (("manage", "manageable"), ("inspect", "inspect wait")):
            system.put(f"{where}/states/provision", json={"target": verb}, headers=headers)
            until(lambda s=state: system.get(where, headers=headers).json()["provision_state"] == s)
    finally:
        maintenance = f"{where}/maintenance"
        system.put(maintenance, json={}, headers=headers)
        system.delete(where, headers=headers)


@pytest.fixture
def channel(undercloud: Any) -> Any:
    broker = amqp.Connection(
        f"127.0.0.1:{undercloud.port['rabbitmq']}",
        userid="openstack",
        password=undercloud.secret.rabbitmq,
    )
    broker.connect()
    with broker:
        yield broker.channel()


def test_unread_notifications_do_not_pile_up(channel: Any) -> None:
    limit = 10_000
    queue = "versioned_notifications.sample"  # nobody else uses it, the same policy bounds it
    channel.queue_declare(queue, durable=True, auto_delete=False)
    for number in range(limit + 50):
        channel.basic_publish(amqp.Message(str(number)), routing_key=queue)
    held = until(
        lambda: (n := channel.queue_declare(queue, passive=True).message_count) >= limit and n
    )
    assert held == limit
    channel.queue_delete(queue)
