"""Says where a figure was taken: machine, load and versions."""

from __future__ import annotations

import os
import platform
from importlib import metadata

#: The distributions whose release moves the figures most.
MEASURED = ("tripleo-worker", "mistral", "openstack-heat", "zaqar", "aiohttp", "websockets")


def version(distribution: str) -> str:
    """The installed release, or ``absent``."""
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return "absent"


def describe() -> str:
    """One line: cores, memory, load, system, Python, and the releases measured."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    releases = ", ".join(f"{name} {version(name)}" for name in MEASURED)
    return (
        f"{os.cpu_count()} cores, {memory:.0f} GiB, load {os.getloadavg()[0]:.2f}, "
        f"{platform.system()} {platform.release()}, Python {platform.python_version()}, {releases}"
    )
