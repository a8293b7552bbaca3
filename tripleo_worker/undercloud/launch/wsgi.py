"""Serves a WSGI application with waitress.

Usage: ``python -m tripleo_worker.undercloud.launch.wsgi HOST:PORT MODULE:NAME [ARGUMENT…]``;
the arguments are what the application finds on its command line.
"""

from __future__ import annotations

import importlib
import sys
from typing import Any

import waitress

_THREADS = 8


def main() -> None:
    """Import the application and serve it until the process is stopped."""
    listen, target, *arguments = sys.argv[1:]
    module, _, name = target.partition(":")
    sys.argv = [module.split(".")[0], *arguments]
    application: Any = getattr(importlib.import_module(module), name)
    waitress.serve(
        application, listen=listen, threads=_THREADS, clear_untrusted_proxy_headers=False
    )


if __name__ == "__main__":
    main()
