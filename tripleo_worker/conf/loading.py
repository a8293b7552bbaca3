"""Reading a configuration file, with errors that say what to do."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from oslo_config import cfg
from oslo_log import log

from tripleo_worker.conf.opts import register_opts
from tripleo_worker.errors import InvalidInput

#: Read if the command line names no file.
DEFAULT = Path("/etc/tripleo-worker/tripleo-worker.conf")


def load(files: Sequence[str]) -> Any:
    """Read configuration files, later ones over earlier ones.

    Args:
        files: paths; none: the default one, if it exists.

    Raises:
        InvalidInput: a file is missing or cannot be parsed, or a value is none of its option.
    """
    conf = cfg.ConfigOpts()
    log.register_options(conf)
    register_opts(conf)
    chosen = list(files) or ([str(DEFAULT)] if DEFAULT.exists() else [])
    try:
        conf([], project="tripleo-worker", default_config_files=chosen)
        _read_all(conf)
    except cfg.ConfigFilesNotFoundError as error:
        missing = ", ".join(error.config_files)
        raise InvalidInput(
            f"There is no configuration file {missing}.",
            remedy="Give the right path with --config-file.",
        ) from None
    except cfg.ConfigFilesPermissionDeniedError as error:
        denied = ", ".join(error.config_files)
        raise InvalidInput(
            f"{denied} cannot be read.", remedy="Let the worker's user read it."
        ) from None
    except (cfg.Error, ValueError) as error:
        # oslo.config names option, group and file in its own words.
        raise InvalidInput(f"The configuration is not valid: {error}.") from None
    if not (conf.log_file or conf.log_dir or conf.use_journal or conf.use_syslog):
        # oslo.log would take the standard output, which is for data.
        conf.set_default("use_stderr", True)
    return conf


def _read_all(conf: Any) -> None:
    """Look at every value once: oslo.config checks a value when it is read."""
    for name in conf._groups:
        for option in conf[name]:
            conf[name][option]
