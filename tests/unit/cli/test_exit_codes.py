"""Each end has its exit code, and its words on standard error."""

from __future__ import annotations

import json
import logging
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.unit.cli.running import run
from tests.unit.client.scripted_worker import ScriptedEngine, ScriptedWorker
from tests.unit.operations.scripts import ROOT, announced, engine, message, resource
from tripleo_worker.cli import exits
from tripleo_worker.cli.deploy import DeployOvercloud
from tripleo_worker.cli.plan import CreatePlan, DeletePlan, ListPlans
from tripleo_worker.cli.progress_commands import WatchProgress
from tripleo_worker.client import waiting
from tripleo_worker.errors import OperationFailed
from tripleo_worker.events import Event, Status


@pytest.fixture
def worker() -> Iterator[ScriptedWorker]:
    with ScriptedWorker() as made:
        yield made


def _telling(worker: ScriptedWorker, *events: Event) -> ScriptedEngine:
    return ScriptedEngine(lambda _: worker.append(engine("RUNNING"), *events))


_BROKEN = resource("Controller0", "FAILED", seconds=4, reason="ValueError: resources.x: boom")


@pytest.mark.parametrize(
    ("events", "code", "words"),
    [
        ([message("SUCCESS", "done", final=True)], exits.SUCCESS, "succeeded"),
        (
            [announced(3), _BROKEN, message("FAILED", "bad", final=True)],
            exits.FAILED,
            "Controller0",
        ),
        ([engine("CANCELLED", final=True)], exits.CANCELLED, "was cancelled"),
    ],
)
def test_an_outcome_is_the_exit_code(
    worker: ScriptedWorker,
    capsys: pytest.CaptureFixture[str],
    events: list[Event],
    code: int,
    words: str,
) -> None:
    assert run(DeployOvercloud, worker=worker, engine=_telling(worker, *events)) == code
    told = capsys.readouterr()
    assert words in told.err
    assert told.out == ""
    if code == exits.FAILED:
        assert "boom" in told.err


def test_a_limit_that_passes_is_3_and_says_how_to_go_on(
    worker: ScriptedWorker, capsys: pytest.CaptureFixture[str]
) -> None:
    code = run(DeployOvercloud, "--timeout", "0.01", worker=worker, engine=_telling(worker))
    assert code == exits.TIMED_OUT
    told = capsys.readouterr().err
    assert f"progress watch --execution {ROOT}" in told
    assert "RUNNING" in told


def test_lost_contact_is_4(
    worker: ScriptedWorker, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(waiting, "ASK_WITHOUT_STREAM", 0.1)
    script = ScriptedEngine(lambda _: worker.down())
    script.status = None
    real = waiting.Limits

    def short(**given: float | None) -> waiting.Limits:
        return real(**{"contact": 0.5, **given})

    monkeypatch.setattr("tripleo_worker.cli.starting.Limits", short)
    assert run(DeployOvercloud, worker=worker, engine=script) == exits.CONTACT_LOST
    assert "Neither" in capsys.readouterr().err


def test_ctrl_c_detaches(worker: ScriptedWorker, capsys: pytest.CaptureFixture[str]) -> None:
    main = threading.main_thread().ident
    assert main is not None
    threading.Timer(0.5, lambda: signal.pthread_kill(main, signal.SIGINT)).start()
    assert run(DeployOvercloud, worker=worker, engine=_telling(worker)) == exits.INTERRUPTED
    assert f"openstack overcloud progress watch --execution {ROOT}" in capsys.readouterr().err


def test_ctrl_c_before_anything_is_drawn_detaches_too(
    worker: ScriptedWorker, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("tripleo_worker.cli.watching.choose", interrupted)
    assert run(DeployOvercloud, worker=worker, engine=_telling(worker)) == exits.INTERRUPTED
    assert f"openstack overcloud progress watch --execution {ROOT}" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments",
    [
        ["--parameter", "ControllerCount"],
        ["--parameter", "=3"],
        ["--parameter", "A=[1"],
        ["--parameter", "A={a: 1, a: 2}"],
        ["--timeout", "0"],
        ["--timeout", "soon"],
        ["--environment-file", "/nowhere.yaml"],
        ["--progress", "film"],
    ],
)
def test_wrong_input_is_2_and_starts_nothing(
    worker: ScriptedWorker,
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
    arguments: list[str],
) -> None:
    script = ScriptedEngine()
    assert run(DeployOvercloud, *arguments, worker=worker, engine=script) == exits.USAGE
    assert (script.started, script.actions) == ([], [])
    assert arguments[0] in caplog.text + capsys.readouterr().err


def test_parameters_are_set_before_the_start(worker: ScriptedWorker, tmp_path: Path) -> None:
    file = tmp_path / "own.yaml"
    file.write_text("parameter_defaults: {ComputeCount: 1, Debug: true}\n")
    script = _telling(worker, message("SUCCESS", final=True))
    arguments = ["-e", str(file), "--parameter", "ComputeCount=3", "--parameter", "A=é"]
    assert run(DeployOvercloud, "--plan", "p", *arguments, worker=worker, engine=script) == 0
    parameters = {"ComputeCount": 3, "Debug": True, "A": "é"}
    assert script.actions == [
        ("tripleo.parameters.update", {"container": "p", "parameters": parameters})
    ]
    assert script.started == [("tripleo.deployment.v1.deploy_plan", {"container": "p"})]


def test_parameters_that_are_refused_are_1_and_start_nothing(
    worker: ScriptedWorker, caplog: pytest.LogCaptureFixture
) -> None:
    script = ScriptedEngine()
    script.results["tripleo.parameters.update"] = OperationFailed("no parameter \x1b[31mX")
    assert run(DeployOvercloud, "--parameter", "X=1", worker=worker, engine=script) == 1
    assert script.started == []
    assert "no parameter \\x1b[31mX" in caplog.text


def test_no_wait_prints_the_execution(
    worker: ScriptedWorker, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(DeployOvercloud, "--no-wait", worker=worker, engine=_telling(worker)) == 0
    told = capsys.readouterr()
    assert told.out == f"{ROOT}\n"
    assert "progress watch" in told.err


def test_without_a_worker_there_is_one_warning_and_the_outcome(
    capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    script = ScriptedEngine()
    script.status, script.message = Status.FAILED, "No valid host"
    with caplog.at_level(logging.WARNING):
        assert run(DeployOvercloud, engine=script) == exits.FAILED
    told = capsys.readouterr().err
    assert "No valid host" in told
    warnings = [line for line in told.splitlines() if "no tripleo-worker" in line]
    assert len(warnings) + caplog.text.count("no tripleo-worker") == 1


def test_json_lines_are_all_that_stands_on_standard_output(
    worker: ScriptedWorker, capsys: pytest.CaptureFixture[str]
) -> None:
    script = _telling(worker, _BROKEN, message("FAILED", "bad", final=True))
    assert run(DeployOvercloud, "--progress", "json", worker=worker, engine=script) == 1
    told = capsys.readouterr()
    records = [json.loads(line) for line in told.out.splitlines()]
    assert records[0] == {"format": "tripleo-worker-progress", "version": 1}
    assert [record["event"]["type"] for record in records[1:-1]] == [
        event.type for event in worker._journal
    ]
    assert records[-1]["operation"]["failures"][0]["name"] == "Controller0"
    assert told.err == ""


def test_watching_the_latest_begins_at_its_beginning(
    worker: ScriptedWorker, capsys: pytest.CaptureFixture[str]
) -> None:
    other = {"type": "x"}
    worker.append(message("RUNNING", **other), _BROKEN, message("FAILED", "bad", final=True))
    assert run(WatchProgress, "--execution", "@latest", worker=worker) == exits.FAILED
    assert worker.subscriptions[0]["since"] == "e1:0"
    assert "boom" in capsys.readouterr().err


def test_watching_what_does_not_exist(
    worker: ScriptedWorker, caplog: pytest.LogCaptureFixture
) -> None:
    assert run(WatchProgress, "--execution", "@latest", worker=worker) == exits.USAGE
    assert "no operation yet" in caplog.text
    assert run(WatchProgress, "--execution", "x", worker=worker) == exits.USAGE
    assert run(WatchProgress, "--since", "x", worker=worker) == exits.USAGE


def test_watching_all_writes_a_line_an_event_until_ctrl_c(
    worker: ScriptedWorker, capsys: pytest.CaptureFixture[str]
) -> None:
    worker.append(engine("RUNNING"), _BROKEN, message("FAILED", "bad \x1b]0;x", final=True))
    main = threading.main_thread().ident
    assert main is not None
    for arguments in ([], ["-f", "json"]):
        threading.Timer(0.5, lambda: signal.pthread_kill(main, signal.SIGINT)).start()
        code = run(WatchProgress, "--since", "earliest", *arguments, worker=worker)
        assert code == exits.INTERRUPTED
    told = capsys.readouterr()
    lines = told.out.splitlines()
    assert [line[10:] for line in lines[:3]] == [
        "overcloud  mistral.workflow.running  RUNNING",
        "overcloud  Controller0  CREATE_FAILED  ValueError: resources.x: boom",
        "overcloud  tripleo.deployment.v1.deploy_plan  FAILED  bad \\x1b]0;x",
    ]
    assert [json.loads(line)["event"]["sequence"][-1] for line in lines[4:]] == ["1", "2", "3"]
    assert "--since e1:3" in told.err


def test_watching_all_needs_a_worker(caplog: pytest.LogCaptureFixture) -> None:
    assert run(WatchProgress) == exits.FAILED
    assert "no tripleo-worker" in caplog.text


def test_plans_are_listed_sorted(capsys: pytest.CaptureFixture[str]) -> None:
    script = ScriptedEngine()
    script.results["tripleo.plan.list"] = ["b", "a"]
    assert run(ListPlans, "-f", "json", engine=script) == 0
    assert json.loads(capsys.readouterr().out) == [{"Plan Name": "a"}, {"Plan Name": "b"}]


def test_the_sample_plan_is_created(worker: ScriptedWorker) -> None:
    script = _telling(worker, message("SUCCESS", final=True))
    assert run(CreatePlan, "overcloud", worker=worker, engine=script) == 0
    ((workflow, inputs),) = script.started
    assert workflow == "tripleo.plan_management.v1.create_deployment_plan"
    assert inputs["container"] == "overcloud"
    assert inputs["use_default_templates"] is True


@pytest.mark.parametrize("name", ["../x", "1", "", "a/b", "a" * 81])
def test_names_that_cannot_be_a_plans(name: str, caplog: pytest.LogCaptureFixture) -> None:
    script = ScriptedEngine()
    assert run(CreatePlan, name, engine=script) == exits.USAGE
    assert run(DeletePlan, name, engine=script) == exits.USAGE
    assert script.started == []
    assert "name of a plan" in caplog.text


def test_a_plan_that_cannot_be_deleted_ends_the_command(
    worker: ScriptedWorker, capsys: pytest.CaptureFixture[str]
) -> None:
    script = _telling(worker, message("FAILED", "The plan a is deployed", final=True))
    assert run(DeletePlan, "a", "b", worker=worker, engine=script) == exits.FAILED
    assert len(script.started) == 1
    assert "is deployed" in capsys.readouterr().err
