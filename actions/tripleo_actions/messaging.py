"""``tripleo.messaging.send``: one call posts one message to the queue that clients follow."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from typing import Any
from uuid import uuid4

import tenacity

from tripleo_actions import messages
from tripleo_actions.base import DEFAULT_QUEUE, Services, TripleOAction
from tripleo_actions.faults import CallFailed
from tripleo_worker.redact import mask

LOG = logging.getLogger(__name__)

PROGRESS_QUEUE = "tripleo-progress"

#: Folder in a plan's container for payloads that are too large for the queue.
FOLDER = "messages"

#: Container for those of executions without a plan.
NO_PLAN_CONTAINER = "tripleo-messages"

#: Tries of a message that only reports progress: it must not hold the work up.
PROGRESS_TRIES = 2
#: Seconds over which a terminal message is tried again: clients wait for it.
TERMINAL_SECONDS = 60.0


class SendMessage(TripleOAction):
    """Post one message in the contract's form.

    Progress (``status`` RUNNING) that cannot be posted is logged and no error: it never ends
    a deployment. A terminal message is tried for a minute and then is an error.

    Args:
        type: The workflow's name.
        queue_name: The queue.
        execution: The execution to report on, as ``execution()`` gives it; by default the
            one that the action belongs to.
        status: RUNNING, SUCCESS or FAILED.
        message: A text; or what a failed task left behind.
        payload: Further keys of the payload.
        plan_name: The plan, where the execution's input does not name it.
        deployment_status: For messages on a deployment.

    Returns:
        ``status`` and ``message`` as posted, ``posted`` and the ``message_id``.
    """

    def __init__(
        self,
        type: str,
        queue_name: str = DEFAULT_QUEUE,
        execution: dict[str, Any] | None = None,
        status: str = "SUCCESS",
        message: Any = None,
        payload: dict[str, Any] | None = None,
        plan_name: str | None = None,
        deployment_status: str | None = None,
    ) -> None:
        super().__init__()
        self.type = type
        self.queue_name = queue_name
        self.execution = _without_definition(execution)
        self.status = status
        self.message = message
        self.payload = payload
        self.plan_name = plan_name
        self.deployment_status = deployment_status

    def perform(self, services: Services) -> dict[str, Any]:
        """Build, fit and post the message."""
        payload = messages.build_payload(
            status=self.status,
            message=self.message,
            execution=self.execution or own_execution(services),
            extra=self.payload,
            plan_name=self.plan_name,
            deployment_status=self.deployment_status,
        )
        body = fit(services, {"type": self.type, "payload": payload})
        posted = post(services, self.queue_name or DEFAULT_QUEUE, body)
        return {"status": self.status, "message": payload["message"], **posted}


def post(services: Services, queue: str, body: dict[str, Any]) -> dict[str, Any]:
    """Post a message with the patience that its status deserves.

    Returns:
        ``posted`` and ``message_id``.

    Raises:
        CallFailed: a terminal message could not be posted.
    """
    progress = body["payload"].get("status") == "RUNNING"
    try:
        message_id = _retrying(progress)(services.zaqar.post, queue, body, messages.TTL)
    except CallFailed as error:
        if not progress:
            raise
        LOG.warning("Progress was not posted: %s", error, extra={"action": "post"})
        return {"posted": False, "message_id": ""}
    return {"posted": True, "message_id": message_id}


def post_progress(services: Services, kind: str, payload: Mapping[str, Any]) -> None:
    """Post a message with finer progress to its own queue; a failure is only logged.

    Args:
        services: The caller's.
        kind: The message's ``type``.
        payload: Without execution ids those of the action's own execution are added.
    """
    ids = {"execution_id": services.execution_id, "root_execution_id": services.execution_id}
    body = {"type": kind, "payload": {"status": "RUNNING", **ids, **mask(dict(payload))}}
    post(services, PROGRESS_QUEUE, body)


def own_execution(services: Services) -> dict[str, Any]:
    """The execution that the action belongs to; only its id where Mistral does not answer."""
    if not services.execution_id:
        return {"id": ""}
    try:
        return services.mistral.execution(services.execution_id)
    except CallFailed as error:
        # A message without its execution's input is better than none.
        LOG.warning("The execution could not be read: %s", error, extra={"action": "execution"})
        return {"id": services.execution_id}


def fit(services: Services, body: dict[str, Any]) -> dict[str, Any]:
    """The message as it can be posted: a payload too large is moved to the plan's container."""
    if messages.fits(body):
        return body
    payload = body["payload"]
    return body | {"payload": messages.shrink(payload, _store(services, payload))}


def _store(services: Services, payload: Mapping[str, Any]) -> str | None:
    container = payload.get("plan_name") or NO_PLAN_CONTAINER
    name = f"{FOLDER}/{payload['execution_id'] or 'none'}-{uuid4().hex}.json"
    swift = services.swift
    try:
        if container == NO_PLAN_CONTAINER:
            swift.create_container(container, {})
        headers = {"X-Delete-After": str(messages.TTL), "Content-Type": "application/json"}
        swift.put(container, name, json.dumps(payload).encode(), headers)
    except CallFailed as error:
        LOG.warning("A large payload was not stored: %s", error, extra={"action": "store"})
        return None
    return swift.object_url(container, name)


def _without_definition(execution: dict[str, Any] | None) -> dict[str, Any] | None:
    # Mistral sends and stores the attributes: the workflow's text has no business there.
    return {k: v for k, v in execution.items() if k != "spec"} if execution else None


def _worth_retrying(error: BaseException) -> bool:
    return isinstance(error, CallFailed) and (
        error.status is None or error.status >= 500 or error.status == 429
    )


def _retrying(progress: bool) -> tenacity.Retrying:
    return tenacity.Retrying(
        retry=tenacity.retry_if_exception(_worth_retrying),
        stop=tenacity.stop_after_attempt(PROGRESS_TRIES)
        if progress
        else tenacity.stop_after_delay(TERMINAL_SECONDS),
        wait=tenacity.wait_exponential_jitter(initial=0.2, max=5.0),
        reraise=True,
    )
