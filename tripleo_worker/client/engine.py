"""Mistral as the client needs it: start a workflow, run an action, read an execution.

The calls block; the asyncio shell makes them in threads. python-mistralclient is imported
at the first call, for it is slow to import.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from tripleo_worker.client.calls import reason
from tripleo_worker.client.waiting import ExecutionState
from tripleo_worker.errors import InvalidInput, OperationFailed, ServiceError
from tripleo_worker.events import Status

#: Seconds a single call may take where the session sets no limit of its own.
CALL_LIMIT = 60.0
#: Executions among which the latest of ours is sought, children of others included.
LATEST_SOUGHT = 200
_SERVICE_TYPES = ("workflowv2", "workflow")


class Engine:
    """The Mistral of one cloud, with one user's rights."""

    def __init__(self, session: Any, *, region: str | None = None, interface: str = "public"):
        self._session, self._region, self._interface = session, region, interface
        self._client: Any = None

    def start(self, workflow: str, inputs: Mapping[str, Any]) -> str:
        """Start a workflow.

        Returns:
            The id of the execution.

        Raises:
            InvalidInput: Mistral knows no such workflow, or refuses the inputs.
            ServiceError: Mistral cannot be reached or fails.
        """
        created = self._call(
            f"start {workflow}",
            lambda client: client.executions.create(workflow, workflow_input=dict(inputs)),
        )
        return str(created.id)

    def run_action(self, action: str, inputs: Mapping[str, Any]) -> Any:
        """Run an action and wait for its result.

        Raises:
            OperationFailed: the action failed; the message is the action's own.
            InvalidInput: the action, or Mistral, refuses the inputs.
            ServiceError: as for :meth:`start`.
        """
        done = self._call(
            f"run {action}",
            lambda client: client.action_executions.create(
                action, dict(inputs), save_result=True, run_sync=True
            ),
        )
        result = _decoded(getattr(done, "output", None)).get("result")
        if getattr(done, "state", "SUCCESS") != "SUCCESS":
            raise _failure(result, f"{action} failed and gave no reason.")
        return result

    def latest(self) -> str | None:
        """The root execution of ours that was started last; None if there is none.

        Raises:
            ServiceError: Mistral cannot be reached or fails.
        """
        found = self._call(
            "list the executions",
            lambda client: client.executions.list(
                limit=LATEST_SOUGHT, sort_keys="created_at", sort_dirs="desc"
            ),
        )
        for execution in found:
            known = execution.to_dict()
            ours = str(known.get("workflow_name", "")).startswith("tripleo.")
            if ours and not known.get("root_execution_id"):
                return str(known["id"])
        return None

    def state(self, execution: str) -> ExecutionState:
        """An execution as it is now; its own word, the output's, before the engine's.

        Raises:
            InvalidInput: there is no such execution.
            ServiceError: Mistral cannot be reached or fails.
        """
        found = self._call("read the execution", lambda client: client.executions.get(execution))
        return _state(found.to_dict())

    def _call(self, what: str, call: Callable[[Any], Any]) -> Any:
        from keystoneauth1 import exceptions as identity
        from mistralclient.api.base import APIException

        try:
            return call(self._connected())
        except APIException as error:
            raise _refusal(what, error.error_code, str(error.error_message)) from error
        except identity.HttpError as error:
            raise _refusal(what, error.http_status, error.message) from error
        except identity.ClientException as error:
            raise ServiceError(
                f"Mistral could not be reached to {what}: {reason(error)}",
                remedy="Check that Mistral runs and that the cloud's settings are right.",
            ) from error

    def _connected(self) -> Any:
        if self._client is None:
            from mistralclient.api.v2.client import Client

            if getattr(self._session, "timeout", CALL_LIMIT) is None:
                self._session.timeout = CALL_LIMIT
            self._client = Client(mistral_url=self._endpoint(), session=self._session)
        return self._client

    def _endpoint(self) -> str:
        for kind in _SERVICE_TYPES:
            url = self._session.get_endpoint(
                service_type=kind, interface=self._interface, region_name=self._region
            )
            if url:
                return str(url)
        raise ServiceError(
            "The service catalog has no Mistral (workflowv2).",
            remedy="Choose the undercloud with OS_CLOUD or --os-cloud.",
        )


def _refusal(what: str, status: int | None, text: str) -> Exception:
    said = text.strip() or f"HTTP {status}"
    if status is not None and 400 <= status < 500 and status not in (401, 403, 408, 429):
        return InvalidInput(f"Mistral refused to {what}: {said}")
    if status in (401, 403):
        return ServiceError(
            f"Mistral does not let this user {what}: {said}", remedy="Check the credentials."
        )
    return ServiceError(
        f"Mistral failed to {what}: {said}", remedy="Mistral's log says more; try again later."
    )


def _state(found: Mapping[str, Any]) -> ExecutionState:
    output = _decoded(found.get("output"))
    status = Status.of(found.get("state")) or Status.RUNNING
    own = Status.of(output.get("status"))
    if status is Status.SUCCESS and own is Status.FAILED:
        # A workflow may handle its error, say FAILED, and end in good order.
        status = own
    return ExecutionState(
        id=str(found["id"]),
        workflow=str(found.get("workflow_name", "")),
        status=status,
        message=_text(output.get("message")) or _text(found.get("state_info")),
        created=_time(found.get("created_at")),
        updated=_time(found.get("updated_at")),
    )


def _decoded(text: Any) -> dict[str, Any]:
    try:
        value = json.loads(text) if isinstance(text, str) else text
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _failure(result: Any, otherwise: str) -> Exception:
    """What an action says of its failure: ``{type, text, detail}``, or anything."""
    if isinstance(result, dict) and isinstance(result.get("text"), str):
        kind = InvalidInput if result.get("type") == InvalidInput.code else OperationFailed
        return kind(result["text"])
    return OperationFailed(_text(result) or otherwise)


def _text(value: Any) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    return json.dumps(value, ensure_ascii=False, default=str)


def _time(text: Any) -> datetime:
    """Mistral's ``YYYY-MM-DD HH:MM:SS``, which is UTC."""
    return datetime.fromisoformat(str(text)).replace(tzinfo=UTC)
