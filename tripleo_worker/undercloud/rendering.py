"""Turns the template of each configuration file into the file that a service reads.

A template in the user's own ``templates`` folder wins over the shipped one of the same
name, so that no configuration change needs a change of code.
"""

from __future__ import annotations

import importlib.metadata
import importlib.resources
import json
import os
import pwd
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jinja2

from tripleo_worker.errors import UndercloudError
from tripleo_worker.undercloud.credentials import Credentials
from tripleo_worker.undercloud.files import private_folder, write_private
from tripleo_worker.undercloud.filters import FILTERS
from tripleo_worker.undercloud.layout import Layout, port_map
from tripleo_worker.undercloud.settings import Settings

_SHIPPED = Path(__file__).parent / "templates"
_SUFFIX = ".j2"
#: Fragments that other templates include; no file is made of them.
_FRAGMENTS = "fragments/"


def render(layout: Layout, settings: Settings, credentials: Credentials) -> set[str]:
    """Write every configuration file (0600) below ``layout.etc``.

    Returns:
        The folders below it (one a service) in which a file changed.

    Raises:
        UndercloudError: a template is not valid; names the template and the line.
    """
    environment = _environment(layout, settings, credentials)
    private_folder(layout.etc)
    changed = set()
    for name in environment.list_templates(filter_func=_makes_a_file):
        target = layout.etc / name.removesuffix(_SUFFIX)
        if target.name == "clouds.yaml":
            target = layout.clouds
        if write_private(target, _text(environment, name)):
            changed.add(name.split("/")[0])
    return changed


def _makes_a_file(name: str) -> bool:
    return name.endswith(_SUFFIX) and not name.startswith(_FRAGMENTS)


def _environment(
    layout: Layout, settings: Settings, credentials: Credentials
) -> jinja2.Environment:
    environment = jinja2.Environment(  # noqa: S701 - configuration files, not HTML
        loader=jinja2.FileSystemLoader([layout.overrides, _SHIPPED]),
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
        trim_blocks=True,
    )
    environment.filters.update(FILTERS)
    environment.globals.update(_values(layout, settings, credentials))
    return environment


def _values(layout: Layout, settings: Settings, credentials: Credentials) -> dict[str, Any]:
    return {
        "layout": layout,
        "port": port_map(settings.port_base),
        "secret": credentials,
        "user": pwd.getpwuid(os.geteuid()).pw_name,
        "heat_data": _heat_data(),
        "openstack_actions": _openstack_actions,
        "host": "127.0.0.1",
        "region": "regionOne",
    }


def _text(environment: jinja2.Environment, name: str) -> str:
    try:
        return environment.get_template(name).render()
    except jinja2.TemplateSyntaxError as error:
        raise UndercloudError(f"Template {error.name}, line {error.lineno}: {error}.") from error
    except jinja2.TemplateError as error:
        raise UndercloudError(f"Template {name}: {error}.") from error


def _heat_data() -> Path:
    """Where the installed Heat keeps its api-paste.ini, below the prefix of its environment."""
    for file in importlib.metadata.files("openstack-heat") or ():
        if file.name == "api-paste.ini":
            return Path(str(file.locate())).resolve().parent
    raise UndercloudError(
        "The installed openstack-heat has no api-paste.ini.",
        remedy="Install it anew: pip install --force-reinstall openstack-heat.",
    )


def _openstack_actions(namespaces: Sequence[str]) -> str:
    """Mistral's own table of OpenStack actions, cut to the services that run here (JSON)."""
    table = importlib.resources.files("mistral_extra") / "actions" / "openstack" / "mapping.json"
    actions = json.loads(table.read_text())
    return json.dumps({name: actions[name] for name in namespaces}, indent=1)
