"""All groups together: for the daemon, and for the generator of samples."""

from __future__ import annotations

from itertools import chain
from typing import Any

from tripleo_worker.conf import gateway, journal, keystone, notifications, zaqar

GROUPS = (journal, gateway, keystone, zaqar, notifications)


def register_opts(conf: Any) -> None:
    """Let a configuration read every group."""
    for group in GROUPS:
        group.register_opts(conf)


def list_opts() -> list[tuple[Any, list[Any]]]:
    """Every group with its options; the entry point ``oslo.config.opts``."""
    return list(chain.from_iterable(group.list_opts() for group in GROUPS))
