"""``[keystone]``: who the worker is. keystoneauth's own options."""

from __future__ import annotations

from typing import Any

from keystoneauth1 import loading
from oslo_config import cfg

GROUP = cfg.OptGroup(
    "keystone",
    title="The worker's own user",
    help="The project is the one whose Zaqar queues are followed. The user needs the role admin "
    "there, to check tokens and to see executions of all projects.",
)

OPTIONS = [
    cfg.StrOpt("interface", default="public", help="Which addresses of the catalog are used."),
    cfg.StrOpt("region_name", help="Region of the services; unset: any."),
]


def register_opts(conf: Any) -> None:
    """Let a configuration read the group."""
    conf.register_group(GROUP)
    conf.register_opts(OPTIONS, group=GROUP)
    loading.register_auth_conf_options(conf, GROUP.name)
    loading.register_session_conf_options(conf, GROUP.name)


def list_opts() -> list[tuple[Any, list[Any]]]:
    """The group for the generator of samples."""
    password = [
        option
        for option in loading.get_auth_plugin_conf_options("v3password")
        if option.name not in ("auth_section", "auth_type")
    ]
    shown = [
        *loading.get_auth_common_conf_options(),
        *password,
        *loading.get_session_conf_options(),
    ]
    unique = {option.name: option for option in shown}
    return [(GROUP, [*OPTIONS, *unique.values()])]
