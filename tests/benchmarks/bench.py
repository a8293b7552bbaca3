"""Runs the benchmarks: ``python tests/benchmarks/bench.py [NAME ...]``.

Prints a table and writes ``.bench/NAME.json``. Ends with 0 when every figure keeps its
target, 1 when one does not, 2 when a benchmark could not run to its end.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import tempfile
import time
import traceback
from pathlib import Path

import msgspec
from machine import describe
from reporting import BenchmarkSkipped, Figure, Report
from shared_undercloud import SharedUndercloud

HERE = Path(__file__).parent
RESULTS = HERE.parent.parent / ".bench"
COLUMNS = ("metric", "value", "unit", "target", "ok", "peer", "peer value")


def names() -> list[str]:
    """Every benchmark there is, in the order they run."""
    return sorted(path.stem.removeprefix("bench_") for path in HERE.glob("bench_*.py"))


def rows(figures: list[Figure]) -> list[tuple[str, ...]]:
    """The figures as text, one row each, under :data:`COLUMNS`."""
    return [
        (
            figure.metric,
            f"{figure.value:,.4g}" if figure.value < 1000 else f"{figure.value:,.0f}",
            figure.unit,
            "-" if figure.target is None else f"{figure.target:g}",
            "-" if figure.target is None else ("yes" if figure.ok else "NO"),
            figure.peer or "-",
            "-" if figure.peer_value is None else f"{figure.peer_value:g}",
        )
        for figure in figures
    ]


def table(body: list[tuple[str, ...]]) -> str:
    """Rows under their headings, each column as wide as its widest cell."""
    lines = [COLUMNS, *body]
    widths = [max(len(line[i]) for line in lines) for i in range(len(COLUMNS))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )


def measure(name: str, clouds: SharedUndercloud, scratch: Path) -> tuple[Report, bool]:
    """Run one benchmark; the second value is false when it did not reach its end."""
    report = Report(scratch=scratch, undercloud=clouds.folder)
    try:
        importlib.import_module(f"bench_{name}").run(report)
    except BenchmarkSkipped as reason:
        report.note(f"Skipped: {reason}")
    except Exception:
        traceback.print_exc()
        return report, False
    return report, True


def run(name: str, clouds: SharedUndercloud) -> int:
    """Run, print and write one benchmark; 0, 1 or 2 as the module says."""
    print(f"\n== {name}: {describe()}", flush=True)
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(prefix=f"bench-{name}-") as scratch:
        report, whole = measure(name, clouds, Path(scratch))
    if report.figures:
        print(table(rows(report.figures)))
        text = msgspec.json.format(msgspec.json.encode(report.figures), indent=2)
        (RESULTS / f"{name}.json").write_bytes(text + b"\n")
    for note in report.notes:
        print(f"   {note}")
    print(f"   took {time.monotonic() - begun:.1f} s", flush=True)
    if not whole:
        return 2
    return 0 if all(figure.ok for figure in report.figures) else 1


def main() -> int:
    """Run the benchmarks that the arguments name, or all."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("name", nargs="*", help=f"one of: {', '.join(names())} (default: all)")
    chosen = parser.parse_args().name or names()
    unknown = sorted(set(chosen) - set(names()))
    if unknown:
        parser.error(f"no benchmark {', '.join(unknown)}; there are: {', '.join(names())}")
    RESULTS.mkdir(exist_ok=True)
    with SharedUndercloud(RESULTS / "undercloud") as clouds:
        return max((run(name, clouds) for name in chosen), default=0)


if __name__ == "__main__":
    sys.exit(main())
