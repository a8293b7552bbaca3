"""The options of the daemon: one module a group, each with ``register_opts`` and ``list_opts``.

There is no global ``CONF``: :func:`load` reads a file into an object that is passed on.
"""

from tripleo_worker.conf.loading import load
from tripleo_worker.conf.opts import list_opts, register_opts

__all__ = ["list_opts", "load", "register_opts"]
