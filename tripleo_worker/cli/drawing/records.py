"""JSON lines for programs."""

from __future__ import annotations

import sys
from typing import IO, Any

import msgspec

from tripleo_worker import operations
from tripleo_worker.cli.drawing.view import View
from tripleo_worker.client.waiting import Progress
from tripleo_worker.errors import TripleOWorkerError
from tripleo_worker.operations import Operation

#: Version of the JSON lines, told in their first.
FORMAT_VERSION = 1


class JsonLines:
    """Data for programs on standard output: a version line, events, the result."""

    def __init__(self, view: View, file: IO[str] | None = None) -> None:
        self._file, self._contact = file or sys.stdout, view.contact
        self._write({"format": "tripleo-worker-progress", "version": FORMAT_VERSION})

    def show(self, progress: Progress | None) -> None:
        """Write what is new."""
        if progress is None:
            return
        if progress.contact is not self._contact:
            self._contact = progress.contact
            self._write({"contact": progress.contact})
        if progress.event is not None:
            self._write({"event": progress.event})

    def note(self, text: str) -> None:
        """Write a warning."""
        self._write({"warning": text})

    def failed(self, error: TripleOWorkerError) -> None:
        """Write the error."""
        said = {"code": error.code, "message": error.message, "remedy": error.remedy}
        self._write({"error": said})

    def parted(self, text: str, command: str) -> None:
        """Write it as a warning."""
        self.note(f"{text} {command}")

    def finish(self, operation: Operation, steps: list[str]) -> None:
        """Write the operation as it ended."""
        self._write({"operation": operations.brief(operation)})

    def stop(self) -> None:
        """Every line was flushed already."""

    def _write(self, record: dict[str, Any]) -> None:
        self._file.write(msgspec.json.encode(record).decode() + "\n")
        self._file.flush()
