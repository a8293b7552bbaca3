"""``tripleo-worker workbooks lint``, as a user runs it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tripleo_worker.cmd.main import main

HERE = Path(__file__).parent


def test_faults_are_lines_and_an_exit_code(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(HERE)
    assert main(["workbooks", "lint", "bad/duplicate_key.yaml"]) == 1
    shown = capsys.readouterr()
    assert shown.out == "bad/duplicate_key.yaml:3: yaml: the key 'name' stands twice.\n"
    assert shown.err.endswith("1 workbook: 1 fault.\n")


def test_faults_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    file = HERE / "bad" / "duplicate_key.yaml"
    assert main(["workbooks", "lint", "-f", "json", str(file)]) == 1
    (fault,) = json.loads(capsys.readouterr().out)
    assert (fault["file"], fault["line"], fault["rule"]) == (str(file), 3, "yaml")


def test_no_fault(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["workbooks", "lint", str(HERE / "good")]) == 0
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.endswith("2 workbooks: 0 faults.\n")


def test_a_path_that_is_not_there(caplog: pytest.LogCaptureFixture) -> None:
    assert main(["workbooks", "lint", "no/such.yaml"]) == 2
    assert "no/such.yaml is no file" in caplog.text
