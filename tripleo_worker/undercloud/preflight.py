"""Looks before the leap: programs, disk and ports, each with a remedy when it is not right."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
from collections.abc import Iterable
from pathlib import Path

import psutil

from tripleo_worker.errors import NoSpace, PackageMissing, PortTaken, UndercloudError
from tripleo_worker.undercloud.layout import Layout
from tripleo_worker.undercloud.processes import search_path
from tripleo_worker.undercloud.units import Unit

#: MiB that must be free: before the databases exist, and afterwards.
FIRST_SPACE = 1024
LATER_SPACE = 256


def check_programs(units: Iterable[Unit]) -> None:
    """Look for the programs that the distribution provides.

    Raises:
        PackageMissing: names the programs and the packages.
    """
    wanted = dict(pair for unit in units for pair in unit.programs)
    missing = [name for name in wanted if shutil.which(name, path=search_path()) is None]
    if missing:
        packages = sorted({wanted[name] for name in missing})
        raise PackageMissing(
            f"Not installed: {', '.join(missing)}.",
            remedy=f"Install the packages: sudo apt-get install {' '.join(packages)}",
        )


def check_disk(layout: Layout) -> None:
    """Look for space, and for what Swift stores with each file.

    Raises:
        NoSpace: too little is free.
        UndercloudError: the file system has no extended attributes.
    """
    first = not layout.done.is_dir()
    needed = FIRST_SPACE if first else LATER_SPACE
    free = shutil.disk_usage(layout.root).free // 2**20
    if free < needed:
        raise NoSpace(
            f"{layout.root} has {free} MiB free; the undercloud needs {needed} MiB.",
            remedy="Free some space, or choose a folder on another disk with --dir.",
        )
    if first:
        _check_attributes(layout.data)


def _check_attributes(folder: Path) -> None:
    try:
        os.setxattr(folder, "user.tripleo", b"1")
        os.removexattr(folder, "user.tripleo")
    except OSError as error:
        raise UndercloudError(
            f"The file system of {folder} stores no extended attributes ({error.strerror}),"
            " which Swift needs.",
            remedy="Choose a folder on a local disk (ext4, xfs, btrfs) with --dir.",
        ) from error


def check_ports(ports: dict[str, int]) -> None:
    """Look whether every listener can have its port.

    Raises:
        PortTaken: names the port, what would listen there, and who does if that is known.
    """
    for name, port in ports.items():
        if not _free(port):
            raise PortTaken(
                f"Port {port} ({name}) is taken{_holder(port)}.",
                remedy="Stop that process, or choose other ports with --port-base.",
            )


def _free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def _holder(port: int) -> str:
    """Words that name the process which listens on a port; empty if it cannot be known."""
    with contextlib.suppress(psutil.Error):
        for connection in psutil.net_connections("tcp"):
            address = connection.laddr
            if connection.status != psutil.CONN_LISTEN or not address or not connection.pid:
                continue
            if address.port == port:
                return f" by {psutil.Process(connection.pid).name()} (process {connection.pid})"
    return ""
