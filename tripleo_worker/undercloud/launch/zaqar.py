"""Serves one transport of Zaqar.

Usage: ``python -m tripleo_worker.undercloud.launch.zaqar wsgi|websocket --config-file FILE``.
Zaqar's own server answers one HTTP request at a time, its WSGI module reads configuration
from system folders only; both are what this module is for.
"""

from __future__ import annotations

import asyncio
import sys
from typing import Any

import waitress
from oslo_config import cfg
from oslo_log import log
from zaqar import bootstrap
from zaqar.conf import default

_THREADS = 8


def main() -> None:
    """Build the transport that the first argument names and serve it."""
    transport = sys.argv.pop(1)
    conf = cfg.CONF
    conf.register_cli_opts((default.admin_mode,))
    log.register_options(conf)
    conf(project="zaqar", prog="zaqar-server")
    log.setup(conf, "zaqar")
    boot = bootstrap.Bootstrap(conf)
    conf.set_override("transport", transport, group="drivers")
    # The websocket transport takes the current event loop, which nobody else makes.
    asyncio.set_event_loop(asyncio.new_event_loop())
    serve(conf, boot.transport, transport)


def serve(conf: Any, driver: Any, transport: str) -> None:
    """Serve until the process is stopped."""
    if transport == "websocket":
        driver.listen()
        return
    options = conf["drivers:transport:wsgi"]
    waitress.serve(driver.app, listen=f"{options.bind}:{options.port}", threads=_THREADS)


if __name__ == "__main__":
    main()
