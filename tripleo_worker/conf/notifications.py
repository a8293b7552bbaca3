"""``[notifications]``: the services' notifications on the bus."""

from __future__ import annotations

from typing import Any

from oslo_config import cfg

GROUP = cfg.OptGroup("notifications", title="Notifications on the bus")

OPTIONS = [
    cfg.StrOpt(
        "transport_url",
        secret=True,
        help="Broker that the services notify on, as oslo.messaging writes it. Unset: "
        "transport_url of [DEFAULT].",
    ),
    cfg.ListOpt(
        "exchanges",
        default=["heat", "ironic", "mistral"],
        help="Exchanges of the services: the control_exchange of each.",
    ),
    cfg.ListOpt(
        "topics",
        default=["notifications", "ironic_versioned_notifications"],
        help="Topics that the services notify on.",
    ),
    cfg.StrOpt(
        "pool",
        default="tripleo-worker",
        help="Name of the worker's own queue. Two workers on one broker need two names. Bound "
        "its length with a policy of the broker.",
    ),
]


def register_opts(conf: Any) -> None:
    """Let a configuration read the group."""
    conf.register_group(GROUP)
    conf.register_opts(OPTIONS, group=GROUP)


def list_opts() -> list[tuple[Any, list[Any]]]:
    """The group for the generator of samples."""
    return [(GROUP, OPTIONS)]
