"""``[zaqar]``: which queues are followed."""

from __future__ import annotations

from typing import Any

from oslo_config import cfg

GROUP = cfg.OptGroup("zaqar", title="The queues that are followed")

OPTIONS = [
    cfg.ListOpt(
        "queues",
        default=["tripleo", "tripleo-progress"],
        help="Queues of the worker's project. One whose name ends in -progress carries what is "
        "finer than the state of executions, and ends none.",
    ),
]


def register_opts(conf: Any) -> None:
    """Let a configuration read the group."""
    conf.register_group(GROUP)
    conf.register_opts(OPTIONS, group=GROUP)


def list_opts() -> list[tuple[Any, list[Any]]]:
    """The group for the generator of samples."""
    return [(GROUP, OPTIONS)]
