"""The actions that exist and the inputs they take, known without Mistral.

Those of ``std`` stand here; ours and other packages' are found among the installed entry
points ``mistral.actions``; those that Mistral makes for OpenStack clients are looked up in
mistral-extra's own list where it is installed.

Source: ``mistral.actions.std_actions``, Mistral 23.
"""

from __future__ import annotations

import functools
import importlib.metadata
import importlib.util
import inspect
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tripleo_worker.errors import InvalidDefinition


@dataclass(frozen=True)
class Inputs:
    """What an action or a workflow takes."""

    required: frozenset[str] = frozenset()
    optional: frozenset[str] = frozenset()
    #: Whether it takes more than it names.
    open: bool = False

    @classmethod
    def of(cls, declared: Mapping[str, bool]) -> Inputs:
        """From names, each with whether it must be given."""
        required = frozenset(name for name, needed in declared.items() if needed)
        return cls(required, frozenset(declared) - required)


class Missing(InvalidDefinition):
    """There is no such action; the text says why."""


def _std(required: str = "", optional: str = "") -> Inputs:
    return Inputs(frozenset(required.split()), frozenset(optional.split()))


_HTTP = _std(
    "url", "method params body json headers cookies auth timeout allow_redirects proxies verify"
)
_STD: Mapping[str, Inputs] = {
    "std.async_noop": _std(),
    "std.echo": _std("output", "delay"),
    "std.email": _std(
        "from_addr to_addrs smtp_server",
        "reply_to cc_addrs bcc_addrs smtp_password subject body html_body",
    ),
    "std.fail": _std("", "error_data"),
    "std.http": _HTTP,
    "std.javascript": _std("script", "context"),
    "std.js": _std("script", "context"),
    "std.mistral_http": _HTTP,
    "std.noop": _std(),
    "std.sleep": _std("", "seconds"),
    "std.ssh": _std(
        "cmd host username", "password private_key_filename private_key return_result_on_error"
    ),
    "std.ssh_proxied": _std(
        "cmd host username private_key_filename gateway_host",
        "gateway_username password proxy_command private_key",
    ),
    "std.test_dict": _std("", "size key_prefix val"),
}

#: Services whose actions Mistral makes from their clients.
OPENSTACK = frozenset({"heat", "ironic", "keystone", "mistral", "swift", "zaqar"})


@functools.cache
def inputs(name: str) -> Inputs:
    """The inputs of an action.

    Raises:
        Missing: there is no such action, or it cannot be loaded.
    """
    if name in _STD:
        return _STD[name]
    if name.partition(".")[0] in OPENSTACK:
        return _openstack(name)
    found = importlib.metadata.entry_points(group="mistral.actions", name=name)
    if not found:
        raise Missing(f"there is no action {name}.")
    try:
        return _signature(next(iter(found)).load())
    except Exception as error:
        # Whatever a module raises while it is imported, Mistral would meet it too.
        raise Missing(f"the action {name} cannot be loaded: {error}.") from error


def _signature(action: Any) -> Inputs:
    kinds = inspect.Parameter
    parameters = list(inspect.signature(action).parameters.values())
    named = [one for one in parameters if one.kind not in (kinds.VAR_KEYWORD, kinds.VAR_POSITIONAL)]
    return Inputs(
        frozenset(one.name for one in named if one.default is kinds.empty),
        frozenset(one.name for one in named if one.default is not kinds.empty),
        any(one.kind is kinds.VAR_KEYWORD for one in parameters),
    )


def _openstack(name: str) -> Inputs:
    service, _, method = name.partition(".")
    known = _mapping().get(service)
    if known is not None and method not in known:
        raise Missing(f"there is no action {name}.")
    return Inputs(open=True)


@functools.cache
def _mapping() -> Mapping[str, Any]:
    """Methods of OpenStack clients by service; empty where mistral-extra is not installed."""
    spec = importlib.util.find_spec("mistral_extra")
    for folder in (spec and spec.submodule_search_locations) or ():
        file = Path(folder) / "actions" / "openstack" / "mapping.json"
        if file.is_file():
            read: Mapping[str, Any] = json.loads(file.read_text(encoding="utf-8"))
            return read
    return {}
