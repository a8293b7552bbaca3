"""One running undercloud for all benchmarks that need one."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Self

from reporting import BenchmarkSkipped

#: Away from the default (21000) and from the tests', so that all three can run at once.
PORT_BASE = int(os.environ.get("TRIPLEO_BENCH_PORT_BASE", "25000"))


class SharedUndercloud:
    """Starts an undercloud with its worker when first asked, and takes it down at the end.

    ``TRIPLEO_UNDERCLOUD_DIR`` names one that runs already; that one is left running.
    """

    def __init__(self, own: Path) -> None:
        self._own = own
        self._started = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._started:
            self._command("down")

    def folder(self) -> Path:
        """The folder of an undercloud that is up.

        Raises:
            BenchmarkSkipped: it does not start.
        """
        given = os.environ.get("TRIPLEO_UNDERCLOUD_DIR")
        if given:
            return Path(given)
        if not self._started:
            self._started = True
            if self._command("up", "--worker", "--port-base", str(PORT_BASE)):
                raise BenchmarkSkipped("the undercloud does not start; see its message above")
        return self._own

    def _command(self, verb: str, *options: str) -> int:
        command = Path(sys.executable).with_name("tripleo-worker")
        return subprocess.run(
            [command, "undercloud", verb, "--dir", self._own, *options], check=False
        ).returncode
