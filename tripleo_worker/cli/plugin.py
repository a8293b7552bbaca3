"""The plugin of the OpenStack client: makes ``openstack overcloud …`` find the worker.

It is imported by every ``openstack`` command, so it imports next to nothing itself.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tripleo_worker.client import Connection

API_NAME = "tripleo_worker"
API_VERSION_OPTION = "os_tripleo_worker_api_version"
DEFAULT_API_VERSION = "1"
API_VERSIONS = ("1",)


def make_client(instance: Any) -> Connection:
    """Connect with the session, region and interface that the OpenStack client chose."""
    from tripleo_worker.client.cloud import Cloud
    from tripleo_worker.client.sync.connection import Connection

    return Connection(
        Cloud(
            instance.session,
            region=instance.region_name or None,
            interface=instance.interface or "public",
        )
    )


def build_option_parser(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    """Add the global options."""
    parser.add_argument(
        "--os-tripleo-worker-api-version",
        metavar="<version>",
        default=DEFAULT_API_VERSION,
        help="version of the worker's API (default: 1)",
    )
    return parser
