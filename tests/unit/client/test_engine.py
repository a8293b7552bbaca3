"""What Mistral says, read: the workflow's own word before the engine's; errors in words."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest
from keystoneauth1 import exceptions

from tripleo_worker.client.engine import Engine
from tripleo_worker.errors import InvalidInput, OperationFailed, ServiceError
from tripleo_worker.events import Status


class _Execution:
    def __init__(self, **fields: Any) -> None:
        self._fields = fields

    def to_dict(self) -> dict[str, Any]:
        return self._fields


def _engine(**answers: Any) -> Engine:
    """An engine whose client gives these answers, or raises them."""

    def answer(name: str) -> Any:
        def call(*_: Any, **__: Any) -> Any:
            given = answers[name]
            if isinstance(given, Exception):
                raise given
            return given

        return call

    made = Engine(SimpleNamespace())
    made._client = SimpleNamespace(
        executions=SimpleNamespace(get=answer("get"), create=answer("create"), list=answer("list")),
        action_executions=SimpleNamespace(create=answer("act")),
    )
    return made


def _state(**fields: Any) -> Engine:
    times = {"created_at": "2026-01-02 03:04:05", "updated_at": "2026-01-02 03:04:06.5"}
    return _engine(get=_Execution(id="x", workflow_name="w", **times, **fields))


@pytest.mark.parametrize(
    ("state", "output", "info", "status", "message"),
    [
        ("RUNNING", None, None, Status.RUNNING, ""),
        ("SUCCESS", '{"status": "SUCCESS", "message": "done"}', None, Status.SUCCESS, "done"),
        ("SUCCESS", '{"status": "FAILED", "message": "bad"}', None, Status.FAILED, "bad"),
        ("ERROR", '{"status": "SUCCESS"}', "it broke", Status.FAILED, "it broke"),
        ("ERROR", "no json", "it broke", Status.FAILED, "it broke"),
        ("CANCELLED", "[]", None, Status.CANCELLED, ""),
        ("PAUSED", {"message": ["a", "b"]}, None, Status.PAUSED, '["a", "b"]'),
        ("DELAYED", None, None, Status.RUNNING, ""),
    ],
)
def test_states(state: str, output: Any, info: Any, status: Status, message: str) -> None:
    found = _state(state=state, output=output, state_info=info).state("x")
    assert (found.status, found.message) == (status, message)
    assert found.created.isoformat() == "2026-01-02T03:04:05+00:00"


@pytest.mark.parametrize(
    ("status", "kind"),
    [(404, InvalidInput), (400, InvalidInput), (500, ServiceError), (403, ServiceError)],
)
def test_refusals(status: int, kind: type[Exception]) -> None:
    from mistralclient.api.base import APIException

    engine = _engine(create=APIException(status, "because"))
    with pytest.raises(kind, match="because"):
        engine.start("w", {})


def test_a_mistral_that_is_away() -> None:
    said = "Unable to establish connection to http://m: HTTPConnectionPool(x): [111] refused"
    engine = _engine(get=exceptions.ConnectFailure(said))
    with pytest.raises(ServiceError, match=r"connection to http://m: connection refused\. Check"):
        engine.state("x")


@pytest.mark.parametrize(
    ("result", "words"),
    [
        ({"type": "not-found", "text": "There is no plan x.", "detail": {}}, "^There is no plan x"),
        ("plain text", "plain text"),
        (None, "gave no reason"),
        ({"odd": 1}, "odd"),
    ],
)
def test_an_action_that_fails_says_its_own_words(result: Any, words: str) -> None:
    done = SimpleNamespace(state="ERROR", output=json.dumps({"result": result}))
    with pytest.raises(OperationFailed, match=words):
        _engine(act=done).run_action("tripleo.plan.delete", {})


def test_input_that_an_action_refuses_is_wrong_input() -> None:
    result = {"type": "invalid-input", "text": "A: not a number", "detail": {}}
    done = SimpleNamespace(state="ERROR", output=json.dumps({"result": result}))
    with pytest.raises(InvalidInput, match="A: not"):
        _engine(act=done).run_action("tripleo.parameters.update", {})


def test_an_action_gives_its_result() -> None:
    done = SimpleNamespace(state="SUCCESS", output='{"result": ["a"]}')
    assert _engine(act=done).run_action("tripleo.plan.list", {}) == ["a"]


def test_the_latest_is_a_root_of_ours() -> None:
    listed = [
        _Execution(id="child", workflow_name="tripleo.x", root_execution_id="r"),
        _Execution(id="foreign", workflow_name="other"),
        _Execution(id="ours", workflow_name="tripleo.y", root_execution_id=None),
        _Execution(id="older", workflow_name="tripleo.y"),
    ]
    assert _engine(list=listed).latest() == "ours"
    assert _engine(list=[]).latest() is None
