"""The stream itself: every event as a line for people, or as JSON."""

from __future__ import annotations

import sys
from typing import IO, Any

import msgspec

from tripleo_worker.cli.drawing.records import FORMAT_VERSION
from tripleo_worker.cli.drawing.text import clipped, safe
from tripleo_worker.client.frames import Subscribed
from tripleo_worker.events import HEAT_RESOURCE, Event
from tripleo_worker.operations import brief

#: Longest text of a line; what is longer is cut with a mark.
_WIDEST = 400


class EventLines:
    """Dated lines on a file, warnings on standard error."""

    def __init__(self, file: IO[str]) -> None:
        self._file = file
        #: Of the newest event that was shown; empty: none was yet.
        self.position = ""

    def take(self, item: Event | Subscribed) -> None:
        """Show an event, or that some were missed."""
        if isinstance(item, Event):
            self.position = str(item.position)
            print(described(item), file=self._file, flush=True)
        else:
            self.position = item.position
            self.note("The journal does not reach back that far; some events were missed.")

    def note(self, text: str) -> None:
        """Show a warning."""
        print(safe(text), file=sys.stderr, flush=True)


class EventRecords(EventLines):
    """JSON lines: a version line, then a record an event."""

    def __init__(self, file: IO[str]) -> None:
        super().__init__(file)
        self._write({"format": "tripleo-worker-progress", "version": FORMAT_VERSION})

    def take(self, item: Event | Subscribed) -> None:
        """Write an event, or the operations as they are where some were missed."""
        if isinstance(item, Event):
            self.position = str(item.position)
            self._write({"event": item})
        else:
            self.position = item.position
            self._write({"missed": True, "operations": [brief(one) for one in item.operations]})

    def _write(self, record: dict[str, Any]) -> None:
        print(msgspec.json.encode(record).decode(), file=self._file, flush=True)


def choose(mode: str, file: IO[str]) -> EventLines:
    """Lines, or JSON where the mode asks for it."""
    return EventRecords(file) if mode == "json" else EventLines(file)


def described(event: Event) -> str:
    """An event in one line: when, whose, what, how it stands."""
    payload = event.data.payload
    if event.type == HEAT_RESOURCE:
        state = f"{payload.get('resource_action', '')}_{payload.get('resource_status', '')}"
        what, text = str(payload.get("resource_name", "")), event.data.message
    else:
        state, text = event.data.status or "", event.data.message
        what = event.type
        if isinstance(payload.get("name"), str):
            what += f" {payload['name']}"
    parts = [event.plan or "-", what, state, text]
    said = "  ".join(safe(part) for part in parts if part)
    return f"{event.time.astimezone():%H:%M:%S}  {clipped(said, _WIDEST)}"
