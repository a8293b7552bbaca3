"""How long the embedded undercloud takes to be ready, cold and warm, and what it holds."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

from reporting import Report
from shared_undercloud import PORT_BASE

#: Beside the ports of the shared undercloud, which may run at the same time.
OWN_PORT_BASE = PORT_BASE + 500


def undercloud(*words: str, folder: Path) -> str:
    """Run a command on the undercloud in a folder; its standard output.

    Raises:
        RuntimeError: it fails; the text is what it said.
    """
    program = Path(sys.executable).with_name("tripleo-worker")
    line = [str(program), "undercloud", *words, "--dir", str(folder)]
    ended = subprocess.run(line, capture_output=True, text=True, check=False)
    if ended.returncode:
        raise RuntimeError(f"{' '.join(line)} ended with {ended.returncode}:\n{ended.stderr}")
    return ended.stdout


def timed(*words: str, folder: Path) -> float:
    """Seconds that a command takes."""
    begun = time.monotonic()
    undercloud(*words, folder=folder)
    return time.monotonic() - begun


def run(report: Report) -> None:
    """Start in a new folder, weigh, stop, start again."""
    folder = report.scratch / "undercloud"
    up = ("up", "--worker", "--port-base", str(OWN_PORT_BASE))
    try:
        report.at_most("up, the first time", timed(*up, folder=folder), unit="s", target=120)
        report.at_most("memory, all processes (PSS)", memory(folder), unit="MiB", target=2560)
        report.at_most("up, all running", timed(*up, folder=folder), unit="s", target=10)
        report.at_most("down", timed("down", folder=folder), unit="s", target=30)
        report.at_most("up, warm", timed(*up, folder=folder), unit="s", target=45)
    finally:
        undercloud("down", folder=folder)
    report.note("With the worker; the installation is not counted.")


def memory(folder: Path) -> float:
    """MiB that all services and their supervisor hold."""
    rows = json.loads(undercloud("status", "-f", "json", folder=folder))
    return float(sum(row["memory_mb"] or 0 for row in rows))
