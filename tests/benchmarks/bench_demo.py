"""How long the demo takes once everything is installed: the first time, and again."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

from reporting import Report
from shared_undercloud import PORT_BASE

#: Beside the ports of the shared undercloud, which may run at the same time.
DEMO_PORT_BASE = PORT_BASE + 1000


def command(*words: str) -> list[str]:
    """A command of the package that this Python has installed."""
    return [str(Path(sys.executable).with_name("tripleo-worker")), *words]


def timed(report: Report, name: str, *words: str) -> float:
    """Seconds that a command takes; its words go to a log in the scratch folder.

    Raises:
        RuntimeError: it fails; the text is the end of its log.
    """
    log = report.scratch / f"{name}.log"
    begun = time.monotonic()
    with log.open("wb") as out:
        ended = subprocess.run(command(*words), stdout=out, stderr=out, check=False)
    if ended.returncode:
        raise RuntimeError(f"{' '.join(words)} ended with {ended.returncode}:\n{tail(log)}")
    return time.monotonic() - begun


def tail(log: Path, lines: int = 30) -> str:
    """The last lines of a log."""
    return "\n".join(log.read_text(errors="replace").splitlines()[-lines:])


def run(report: Report) -> None:
    """Play the demo in a new folder, then again on what stands, then after a stop."""
    folder = str(report.scratch / "undercloud")
    demo = ("demo", "--dir", folder, "--port-base", str(DEMO_PORT_BASE))
    down = ("undercloud", "down", "--dir", folder)
    try:
        first = timed(report, "first", *demo)
        again = timed(report, "again", *demo)
        report.at_most("demo, first time", first, unit="s", target=240)
        report.at_most("demo, again while all runs", again, unit="s", target=90)
        report.at_most("demo-down", timed(report, "down", *down), unit="s", target=20)
        report.at_most(
            "demo, again after demo-down", timed(report, "up", *demo), unit="s", target=120
        )
    finally:
        subprocess.run(command(*down), check=False, stdout=subprocess.DEVNULL)
    report.note("3 Controllers and 5 Computes of the sample plan; the installation is not counted.")
