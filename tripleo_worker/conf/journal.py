"""``[journal]``: where the durable log is."""

from __future__ import annotations

from typing import Any

from oslo_config import cfg

GROUP = cfg.OptGroup("journal", title="The durable log of events")

OPTIONS = [
    cfg.StrOpt(
        "connection",
        default="sqlite:////var/lib/tripleo-worker/journal.sqlite",
        secret=True,
        help="Database of the journal, as an SQLAlchemy URL. A SQLite file is made when it is "
        "missing, readable by its owner alone.",
    ),
]


def register_opts(conf: Any) -> None:
    """Let a configuration read the group."""
    conf.register_group(GROUP)
    conf.register_opts(OPTIONS, group=GROUP)


def list_opts() -> list[tuple[Any, list[Any]]]:
    """The group for the generator of samples."""
    return [(GROUP, OPTIONS)]
