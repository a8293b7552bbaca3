"""The running undercloud that functional tests work on, and connections to it.

``TRIPLEO_UNDERCLOUD_DIR`` names its folder (``make test`` starts one). Without it the tests
skip; under ``CI=true`` they fail, so that CI never passes by having run nothing.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import pytest
from keystoneauth1.identity import V3Password
from keystoneauth1.session import Session

from tripleo_worker.undercloud import credentials, lifecycle, settings
from tripleo_worker.undercloud.layout import Layout, port_map
from tripleo_worker.undercloud.state import Report

#: The cloud's name in clouds.yaml.
CLOUD = "undercloud"


@dataclass(frozen=True)
class Undercloud:
    """A running undercloud."""

    layout: Layout
    port: dict[str, int]
    secret: credentials.Credentials

    @property
    def environment(self) -> dict[str, str]:
        """The environment in which programs find the cloud."""
        inherited = {name: text for name, text in os.environ.items() if name[:3] != "OS_"}
        return inherited | {"OS_CLIENT_CONFIG_FILE": str(self.layout.clouds), "OS_CLOUD": CLOUD}

    @property
    def broker(self) -> str:
        """The transport URL of RabbitMQ."""
        return f"rabbit://openstack:{self.secret.rabbitmq}@127.0.0.1:{self.port['rabbitmq']}/"

    @property
    def auth_url(self) -> str:
        """Keystone's address."""
        return f"http://127.0.0.1:{self.port['keystone']}/v3"

    def report(self) -> Report:
        """What the supervisor says now; fails if it is dead."""
        report = lifecycle.running(self.layout)
        assert report is not None, "the undercloud is down"
        return report

    def session(self, **scope: Any) -> Session:
        """A session of the administrator, of project ``admin`` unless told otherwise."""
        wanted = scope or {"project_name": "admin", "project_domain_id": "default"}
        auth = V3Password(
            auth_url=self.auth_url,
            username="admin",
            password=self.secret.admin,
            user_domain_id="default",
            **wanted,
        )
        return Session(auth=auth, timeout=60)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark every test below this folder as functional."""
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.functional)


@pytest.fixture(scope="session")
def undercloud() -> Undercloud:
    """The running undercloud."""
    folder = os.environ.get("TRIPLEO_UNDERCLOUD_DIR")
    if not folder:
        absent("TRIPLEO_UNDERCLOUD_DIR names no running undercloud")
    layout = Layout.at(folder)
    kept = settings.load(layout)
    if kept is None or lifecycle.running(layout) is None:
        absent(f"the undercloud in {folder} is down")
    assert kept is not None
    secret = msgspec.json.decode(layout.secrets.read_bytes(), type=credentials.Credentials)
    return Undercloud(layout, port_map(kept.port_base), secret)


def absent(reason: str) -> None:
    """Skip the test, or fail it where nothing may be left out."""
    if os.environ.get("CI") == "true":
        pytest.fail(f"Under CI the functional tests must run: {reason}.")
    pytest.skip(f"{reason}; start one: tripleo-worker undercloud up")


@pytest.fixture(scope="session")
def session(undercloud: Undercloud) -> Session:
    """A keystoneauth session of the administrator in project ``admin``."""
    return undercloud.session()


@pytest.fixture(scope="session")
def connection(undercloud: Undercloud) -> Iterator[Any]:
    """An openstacksdk connection to the cloud ``undercloud``."""
    with warnings.catch_warnings():
        # The SDK and its plugins warn of their own deprecations while they are imported.
        warnings.simplefilter("ignore")
        import openstack
        import openstack.config

        loader = openstack.config.OpenStackConfig(config_files=[str(undercloud.layout.clouds)])
        made = openstack.connection.Connection(config=loader.get_one(cloud=CLOUD))
    yield made
    made.close()
