"""A bounded outbox: who puts something in never waits, and it is sent as soon as it can be.

One thread sends in order. What cannot be sent is kept and tried again; when the outbox is
full the oldest goes, and the log says how many were lost. Nothing here knows what is sent.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable
from typing import Generic, TypeVar

LOG = logging.getLogger(__name__)

Item = TypeVar("Item")

#: Items kept while nothing can be sent; about 20 MB of notifications.
LIMIT = 10_000
#: Seconds before the first and between later tries of what could not be sent.
FIRST_PAUSE, LONGEST_PAUSE = 0.2, 10.0

#: Errors in an item itself: no later try would end otherwise.
_HOPELESS = (TypeError, ValueError, LookupError, AttributeError)


class Outbox(Generic[Item]):
    """Sends items in their order from a thread of its own.

    Args:
        send: Sends one item; raises if it could not. Called again with the same item then.
        limit: Items that are kept at most.
        first_pause: Seconds before the second try; doubled with each, up to LONGEST_PAUSE.
    """

    def __init__(
        self,
        send: Callable[[Item], None],
        *,
        limit: int = LIMIT,
        first_pause: float = FIRST_PAUSE,
    ) -> None:
        self._send = send
        self._limit = limit
        self._first_pause = first_pause
        self._items: deque[Item] = deque()
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._closed = False
        #: Items that went because the outbox was full.
        self.dropped = 0

    def __len__(self) -> int:
        return len(self._items)

    def put(self, item: Item) -> None:
        """Hand an item over; returns at once."""
        with self._changed:
            if len(self._items) >= self._limit:
                self._items.popleft()
                self._count_dropped()
            self._items.append(item)
            # Started late: a thread does not survive the fork of a server's children.
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="outbox", daemon=True)
                self._thread.start()
            self._changed.notify_all()

    def close(self, patience: float) -> bool:
        """Send what is left; whether all was sent within so many seconds."""
        with self._changed:
            sent = self._changed.wait_for(lambda: not self._items, patience)
            self._closed = True
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join(max(patience, 0.1))
        return sent

    def _count_dropped(self) -> None:
        self.dropped += 1
        # One line a power of ten: a broker that is away for a day must not fill the disk.
        if str(self.dropped).rstrip("0") == "1":
            LOG.error(
                "The outbox is full with %d items; dropped so far, oldest first: %d.",
                self._limit, self.dropped, extra={"action": "drop"},
            )  # fmt: skip

    def _run(self) -> None:
        failures = 0
        while (item := self._first()) is not None:
            if self._sent(item, failures):
                self._remove(item)
                failures = 0
            else:
                self._rest(failures)
                failures += 1

    def _first(self) -> Item | None:
        with self._changed:
            self._changed.wait_for(lambda: self._items or self._closed)
            return None if self._closed else self._items[0]

    def _sent(self, item: Item, failures: int) -> bool:
        """Whether the item is done with."""
        try:
            self._send(item)
        except _HOPELESS:
            LOG.exception("An item can never be sent; it is left out.", extra={"action": "send"})
        except Exception as error:
            level = logging.WARNING if failures == 0 else logging.DEBUG
            LOG.log(
                level, "Not sent, kept for later with %d more: %s", len(self) - 1, error,
                extra={"action": "send"},
            )  # fmt: skip
            return False
        if failures:
            LOG.warning("Sent again after %d tries; %d wait.", failures + 1, len(self) - 1)
        return True

    def _remove(self, item: Item) -> None:
        with self._changed:
            # It may have been dropped while it was being sent.
            if self._items and self._items[0] is item:
                self._items.popleft()
            self._changed.notify_all()

    def _rest(self, failures: int) -> None:
        pause = min(self._first_pause * 2 ** min(failures, 16), LONGEST_PAUSE)
        with self._changed:
            self._changed.wait_for(lambda: self._closed, pause)
