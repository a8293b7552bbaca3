"""A journal in a folder of its own."""

import contextlib

import pytest

from tripleo_worker.journal.store import SqlJournal


@pytest.fixture
def url(tmp_path):
    return f"sqlite:///{tmp_path}/journal.sqlite"


@pytest.fixture
async def journal(url):
    opened = await SqlJournal.open(url)
    async with contextlib.AsyncExitStack() as stack:
        stack.push_async_callback(opened.close)
        yield opened
