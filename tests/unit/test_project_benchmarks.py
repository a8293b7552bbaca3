"""The frame of the benchmarks: figures, percentiles and the table."""

import importlib
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "benchmarks"


@pytest.fixture
def reporting(monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))
    yield importlib.import_module("reporting")
    for name in ("reporting", "bench", "machine", "shared_undercloud"):
        sys.modules.pop(name, None)


@pytest.fixture
def bench(reporting):
    return importlib.import_module("bench")


@pytest.fixture
def report(reporting, tmp_path):
    return reporting.Report(scratch=tmp_path, undercloud=lambda: tmp_path)


def test_a_target_is_kept_or_missed(report):
    report.at_most("start", 44.9, unit="s", target=45)
    report.at_most("start", 45.1, unit="s", target=45)
    report.at_least("rate", 1000, unit="events/s", target=1000, peer="other", peer_value=900)
    report.inform("memory", 1.5, unit="GiB")
    assert [figure.ok for figure in report.figures] == [True, False, True, True]


def test_what_was_not_measured_is_no_figure(report):
    with pytest.raises(ValueError, match="latency"):
        report.inform("latency", float("nan"), unit="ms")


@pytest.mark.parametrize(("rank", "value"), [(0, 1), (50, 2), (75, 3), (76, 4), (99, 4), (100, 4)])
def test_a_percentile_is_a_sample(reporting, rank, value):
    assert reporting.percentile([4, 1, 3, 2], rank) == value


def test_the_table_shows_a_missed_target(bench, report):
    report.at_most("start", 50, unit="s", target=45, peer="other", peer_value=60)
    heading, row = bench.table(bench.rows(report.figures)).splitlines()
    assert heading.split() == ["metric", "value", "unit", "target", "ok", "peer", "peer", "value"]
    assert row.split() == ["start", "50", "s", "45", "NO", "other", "60"]


def test_every_benchmark_can_be_run(bench):
    for name in bench.names():
        source = (FOLDER / f"bench_{name}.py").read_text()
        assert "def run(report: Report) -> None:" in source


def test_a_run_writes_its_figures(bench, reporting, tmp_path, monkeypatch, capsys):
    (tmp_path / "bench_sample.py").write_text(
        "def run(report):\n"
        "    report.at_most('wait', 2, unit='s', target=1)\n"
        "    report.skip('x')\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(bench, "RESULTS", tmp_path)
    assert bench.run("sample", bench.SharedUndercloud(tmp_path)) == 1
    assert bench.msgspec.json.decode((tmp_path / "sample.json").read_bytes()) == [
        {
            "metric": "wait",
            "value": 2,
            "unit": "s",
            "target": 1,
            "ok": False,
            "peer": None,
            "peer_value": None,
        }
    ]
    assert "Skipped: x" in capsys.readouterr().out
