"""The journal on SQLite: what is stored, what is refused, and what survives."""

import asyncio
import os
import sqlite3
import stat
import time

import pytest
import sqlalchemy as sa

from tests.unit.journal.events_made import ALL, NOON, batch, event, read_all
from tripleo_worker.errors import InvalidInput, JournalUnavailable
from tripleo_worker.events import Status
from tripleo_worker.journal import database, reading, tables
from tripleo_worker.journal.store import SqlJournal
from tripleo_worker.ports import Batch, DeadLetter


async def test_a_letter_that_cannot_be_read_is_kept_once(journal, url):
    letter = DeadLetter(id="1", source="/a", reason="no JSON", body="\ud83d?"[1:], time=NOON)
    for _ in range(2):
        await journal.append(Batch(source="a", dead=(letter,)))
    with database.connect(url).connect() as connection:
        rows = connection.execute(sa.select(tables.dead_letters)).all()
    assert [(row.source, row.id, row.reason) for row in rows] == [("/a", "1", "no JSON")]


async def test_everything_is_there_after_opening_again(url):
    journal = await SqlJournal.open(url)
    await journal.append(batch(event(1, status=Status.RUNNING), marker="m"))
    await journal.close()
    with pytest.raises(JournalUnavailable):
        await journal.append(batch(event(2)))
    again = await SqlJournal.open(url)
    try:
        assert again.epoch == journal.epoch
        assert await again.marker("a") == "m"
        (entry,) = await again.append(batch(event(1), event(2)))
        assert entry.sequence == 2
    finally:
        await again.close()


async def test_the_file_is_its_owners_alone_whatever_the_mask(tmp_path):
    before = os.umask(0)
    try:
        journal = await SqlJournal.open(f"sqlite:///{tmp_path}/state/journal.sqlite")
        await journal.append(batch(event(1)))
    finally:
        os.umask(before)
    modes = {
        path.name: stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "state").iterdir()
    }
    await journal.close()
    assert set(modes.values()) == {0o600}, modes


async def test_what_cannot_be_written_is_refused_and_later_written(journal, url, monkeypatch):
    monkeypatch.setattr(database, "BUSY_MS", 50)
    await journal.append(batch(event(1)))
    lock = sqlite3.connect(url.removeprefix("sqlite:///"), isolation_level=None)
    lock.execute("BEGIN IMMEDIATE")
    waiting = asyncio.ensure_future(journal.append(batch(event(2), marker="m")))
    with pytest.raises(JournalUnavailable, match="locked"):
        await waiting
    lock.execute("ROLLBACK")
    lock.close()
    assert await journal.marker("a") is None
    (entry,) = await journal.append(batch(event(2), marker="m"))
    assert entry.sequence == 2


@pytest.mark.parametrize("wrong", ["", "nothing", "sqlite://", "sqlite:///:memory:", "db2://x/y"])
async def test_a_connection_that_is_none_is_told(wrong):
    with pytest.raises(InvalidInput, match=r"\[journal\] connection"):
        await SqlJournal.open(wrong)


async def test_a_password_in_the_connection_is_not_told():
    with pytest.raises(InvalidInput) as error:
        await SqlJournal.open("db2://user:canary@host/x")
    assert "canary" not in str(error.value)


async def test_a_folder_that_cannot_be_made_is_told(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(JournalUnavailable, match="file"):
        await SqlJournal.open(f"sqlite:///{tmp_path}/file/journal.sqlite")


async def test_the_migrations_make_what_the_tables_say(journal, url):
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext

    with database.connect(url).connect() as connection:
        context = MigrationContext.configure(connection)
        differences = compare_metadata(context, tables.metadata)
    assert differences == []


async def filled(journal):
    """How many events it took, until it took no more."""
    for kept in range(0, 1000, 20):
        try:
            await journal.append(batch(*(event(kept + i) for i in range(20))))
        except JournalUnavailable:
            return kept
    raise AssertionError("the disk never was full")


async def test_a_full_disk_refuses_everything_until_there_is_room(url, monkeypatch):
    monkeypatch.setattr(database, "_PRAGMAS", (*database._PRAGMAS, "PRAGMA max_page_count = 40"))
    journal = await SqlJournal.open(url)
    try:
        kept = await filled(journal)
        assert await journal.head() == kept
        with pytest.raises(JournalUnavailable, match="full"):
            await journal.append(batch(*(event(kept + i) for i in range(20))))
        monkeypatch.undo()
        journal._engine.dispose()
        stored = await journal.append(batch(*(event(kept + i) for i in range(20))))
        assert [entry.sequence for entry in stored] == list(range(kept + 1, kept + 21))
    finally:
        await journal.close()


async def test_all_that_wait_for_a_locked_database_are_refused_together(url, monkeypatch):
    monkeypatch.setattr(database, "BUSY_MS", 200)
    monkeypatch.setattr(database, "_PRAGMAS", (*database._PRAGMAS, "PRAGMA busy_timeout = 200"))
    journal = await SqlJournal.open(url)
    lock = sqlite3.connect(url.removeprefix("sqlite:///"), isolation_level=None)
    try:
        lock.execute("BEGIN IMMEDIATE")
        begun = time.monotonic()
        outcomes = await asyncio.gather(
            *(journal.append(batch(event(n))) for n in range(40)), return_exceptions=True
        )
        assert time.monotonic() - begun < 3
        assert all(isinstance(one, JournalUnavailable) for one in outcomes)
        lock.execute("ROLLBACK")
        assert len(await journal.append(batch(event(1)))) == 1
    finally:
        lock.close()
        await journal.close()


async def test_a_kill_in_the_midst_of_the_first_migration_leaves_no_half(url, monkeypatch):
    def killed(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("alembic.op.create_index", killed)
    with pytest.raises(KeyboardInterrupt):
        database.migrate(database.connect(url))
    monkeypatch.undo()
    journal = await SqlJournal.open(url)
    assert len(await journal.append(batch(event(1)))) == 1
    await journal.close()


async def test_a_page_is_bounded_by_its_bytes_too(journal, monkeypatch):
    monkeypatch.setattr(reading, "PAGE_BYTES", 1000)
    await journal.append(batch(*(event(n) for n in range(30))))
    page = await journal.read(0, ALL, 30)
    assert 0 < len(page.entries) < 30
    assert page.upto == page.entries[-1].sequence
    assert len(await read_all(journal, limit=30)) == 30


async def test_two_processes_that_open_a_new_journal_at_once_agree(url):
    opened = await asyncio.gather(*(SqlJournal.open(url) for _ in range(4)))
    assert len({journal.epoch for journal in opened}) == 1
    for journal in opened:
        await journal.close()
