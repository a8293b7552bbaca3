"""Events for the journal's tests, and hypothesis' ways to make them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import strategies as st

from tripleo_worker.events import Event, EventData, Status
from tripleo_worker.ports import Batch, Filter

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
ALL = Filter(project=None)


def event(number, *, root="x", execution=None, status=None, source="/a", project="p", kind="t"):
    return Event(
        id=str(number),
        source=source,
        type=kind,
        time=NOON + timedelta(seconds=number),
        projectid=project,
        executionid=root if execution is None else execution,
        rootexecutionid=root,
        data=EventData(status=status, message=f"message {number}"),
    )


def batch(*events, source="a", marker=None):
    return Batch(source=source, events=events, marker=marker)


events = st.builds(
    event,
    st.integers(0, 30),
    root=st.sampled_from(["", "x", "y"]),
    execution=st.sampled_from([None, "child"]),
    status=st.sampled_from([None, *Status]),
    source=st.sampled_from(["/a", "/b"]),
    project=st.sampled_from(["p", "q", ""]),
)
batches = st.lists(
    st.builds(lambda made: batch(*made), st.lists(events, max_size=8)), min_size=1, max_size=8
)


async def read_all(journal, where=ALL, limit=7):
    entries, after = [], 0
    while True:
        page = await journal.read(after, where, limit)
        entries += page.entries
        if page.upto == after:
            return entries
        after = page.upto
