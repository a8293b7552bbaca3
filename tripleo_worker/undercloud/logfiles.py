"""The logs of the units: bounded, and read from their end."""

from __future__ import annotations

import shutil
import time
from collections import deque
from collections.abc import Iterator
from pathlib import Path

from tripleo_worker.undercloud.layout import Layout

#: Size at which a log is set aside as ``NAME.log.1``; so each unit has twice this at most.
LARGEST = 32 * 2**20
_POLL_SECONDS = 0.3


def rotate_large(layout: Layout, largest: int = LARGEST) -> None:
    """Set large logs aside. Units append to the same open file, so it is copied and cut."""
    for path in layout.logs.glob("*.log"):
        if path.stat().st_size > largest:
            shutil.copy2(path, path.with_suffix(".log.1"))
            with path.open("r+b") as file:
                file.truncate(0)


def tail(path: Path, lines: int) -> list[str]:
    """The last lines of a log, without line ends; empty if there is none."""
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            return [line.rstrip("\n") for line in deque(file, maxlen=lines)]
    except FileNotFoundError:
        return []


def follow(path: Path) -> Iterator[str]:
    """The lines that are added from now on, for ever; a log cut short is read from its start."""
    with path.open(encoding="utf-8", errors="replace") as file:
        file.seek(0, 2)
        while True:
            line = file.readline()
            if line:
                yield line.rstrip("\n")
                continue
            if path.stat().st_size < file.tell():
                file.seek(0)
            time.sleep(_POLL_SECONDS)
