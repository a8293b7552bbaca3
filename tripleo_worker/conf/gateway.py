"""``[gateway]``: how listeners are served."""

from __future__ import annotations

from typing import Any

from oslo_config import cfg

GROUP = cfg.OptGroup("gateway", title="What listeners connect to")

OPTIONS = [
    cfg.HostAddressOpt("host", default="127.0.0.1", help="Address to listen on."),
    cfg.PortOpt("port", default=8785, help="Port to listen on."),
    cfg.FloatOpt(
        "heartbeat",
        default=10.0,
        min=0.1,
        help="Seconds between heartbeats on a stream, unless the listener asks for others.",
    ),
    cfg.FloatOpt(
        "stall",
        default=30.0,
        min=0.1,
        help="Seconds after which a listener that takes nothing is disconnected.",
    ),
    cfg.FloatOpt(
        "introduction",
        default=10.0,
        min=0.1,
        help="Seconds in which a websocket has to authenticate and subscribe.",
    ),
    cfg.IntOpt(
        "streams_per_project",
        default=2000,
        min=1,
        help="Streams that the users of one project can hold open at once.",
    ),
    cfg.FloatOpt(
        "token_cache",
        default=30.0,
        min=0.0,
        help="Seconds for which Keystone's word about a token is believed.",
    ),
]


def register_opts(conf: Any) -> None:
    """Let a configuration read the group."""
    conf.register_group(GROUP)
    conf.register_opts(OPTIONS, group=GROUP)


def list_opts() -> list[tuple[Any, list[Any]]]:
    """The group for the generator of samples."""
    return [(GROUP, OPTIONS)]
