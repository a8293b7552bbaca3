"""Opening the journal's database: its files, its settings, its migrations."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from alembic import command
from alembic.config import Config

from tripleo_worker.errors import InvalidInput, JournalUnavailable
from tripleo_worker.journal import tables

#: Milliseconds for which a locked database is waited for.
BUSY_MS = 5000

#: What each new connection of SQLite is told; WAL lets readers read while one writes.
_PRAGMAS: tuple[str, ...] = (
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = FULL",
    f"PRAGMA busy_timeout = {BUSY_MS}",
    "PRAGMA foreign_keys = ON",
    "PRAGMA cache_size = -16000",
)


def connect(url: str) -> sa.Engine:
    """Make the engine of a journal; a missing SQLite file is made, for its owner alone.

    Args:
        url: SQLAlchemy's form, e.g. ``sqlite:////var/lib/tripleo-worker/journal.sqlite``.

    Raises:
        InvalidInput: the URL is none, or of a database without driver.
        JournalUnavailable: the file cannot be made.
    """
    try:
        parsed = sa.make_url(url)
        if parsed.get_backend_name() != "sqlite":
            return sa.create_engine(parsed, pool_pre_ping=True)
        _make_file(parsed)
        engine = sa.create_engine(parsed, connect_args={"timeout": BUSY_MS / 1000})
    except (sa.exc.ArgumentError, sa.exc.NoSuchModuleError, ImportError) as error:
        raise InvalidInput(
            "[journal] connection is no database URL that can be used here: "
            f"{type(error).__name__}.",
            remedy="Give one such as sqlite:////var/lib/tripleo-worker/journal.sqlite.",
        ) from None
    sa.event.listen(engine, "connect", _prepare)
    sa.event.listen(engine, "begin", _begin)
    return engine


@contextmanager
def writing(engine: sa.Engine) -> Iterator[sa.Connection]:
    """A transaction that writes, alone from its first statement on; committed at the end.

    Raises:
        JournalUnavailable: the database cannot be reached or written; nothing was.
    """
    with guarded(), engine.connect() as connection:
        # The options stay with this use of the connection alone.
        with connection.execution_options(writes=True).begin():
            yield connection


def unavailable(error: Exception) -> bool:
    """Whether it is the database that fails, and not what was to be stored."""
    cause = error.__cause__ if isinstance(error, JournalUnavailable) else error
    return isinstance(cause, sa.exc.OperationalError | sa.exc.InterfaceError | OSError)


def migrate(engine: sa.Engine) -> None:
    """Bring the tables to the newest form.

    Raises:
        JournalUnavailable: the database cannot be reached or written.
    """
    config = Config()
    config.set_main_option("script_location", "tripleo_worker.journal:migrations")
    with writing(engine) as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, "head")


def identify(connection: sa.Connection) -> str:
    """The epoch of the journal; a new journal is given one."""
    known = get(connection, "epoch")
    if known is None:
        known = uuid.uuid4().hex[:12]
        put(connection, "epoch", known)
    return known


def get(connection: sa.Connection, name: str) -> str | None:
    """A value of the table ``meta``."""
    query = sa.select(tables.meta.c.value).where(tables.meta.c.name == name)
    value: str | None = connection.execute(query).scalar()
    return value


def put(connection: sa.Connection, name: str, value: str) -> None:
    """Set a value of the table ``meta``."""
    upsert(connection, tables.meta, {"name": name}, {"value": value})


def upsert(
    connection: sa.Connection, table: sa.Table, key: dict[str, Any], values: dict[str, Any]
) -> None:
    """Change the row with a key, or add it. One writer, so nothing comes between."""
    where = [table.c[name] == value for name, value in key.items()]
    changed = connection.execute(sa.update(table).where(*where).values(values))
    if not changed.rowcount:
        connection.execute(sa.insert(table).values({**key, **values}))


@contextmanager
def guarded() -> Iterator[None]:
    """Turn the database's own errors into :class:`JournalUnavailable`."""
    try:
        yield
    except (sa.exc.SQLAlchemyError, OSError) as error:
        # SQLAlchemy's text carries the statement's values: only the driver's own word is told.
        word = getattr(error, "orig", None) or type(error).__name__
        raise JournalUnavailable(
            f"The journal's database does not do its part: {word}.",
            remedy="Check the disk's space and [journal] connection.",
        ) from error


def _make_file(url: sa.URL) -> None:
    if not url.database or url.database == ":memory:":
        raise InvalidInput(
            "[journal] connection names no file: the journal has to be durable.",
            remedy="Give one such as sqlite:////var/lib/tripleo-worker/journal.sqlite.",
        )
    path = Path(url.database)
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
        path.chmod(0o600)
    except OSError as error:
        raise JournalUnavailable(
            f"{path}: {error.strerror}.",
            remedy="Let the worker write there, or set [journal] connection.",
        ) from error


def _prepare(connection: Any, _record: Any) -> None:
    # The driver would begin transactions by itself, but not before changes of tables: a kill
    # between two of them would leave half a journal.
    connection.isolation_level = None
    cursor = connection.cursor()
    for pragma in _PRAGMAS:
        cursor.execute(pragma)
    cursor.close()


def _begin(connection: sa.Connection) -> None:
    writes = connection.get_execution_options().get("writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
