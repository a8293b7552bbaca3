"""Locks between processes: held by an open file, so that a crash frees them."""

from __future__ import annotations

import contextlib
import fcntl
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from tripleo_worker.errors import UndercloudBusy

_POLL_SECONDS = 0.2


@contextlib.contextmanager
def hold(
    path: Path, *, patience: float = 0.0, waiting: Callable[[], None] | None = None
) -> Iterator[None]:
    """Hold the lock of a file.

    Args:
        path: the file; made if absent.
        patience: seconds to wait for another holder.
        waiting: called once if there is another holder.

    Raises:
        UndercloudBusy: another process held it all the time.
    """
    with path.open("ab") as file:
        path.chmod(0o600)
        deadline = time.monotonic() + patience
        while not _taken(file.fileno()):
            if waiting is not None:
                waiting()
                waiting = None
            if time.monotonic() >= deadline:
                raise UndercloudBusy(
                    f"Another command holds {path}.",
                    remedy="Wait until it has ended and try again.",
                )
            time.sleep(_POLL_SECONDS)
        yield


def _taken(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
