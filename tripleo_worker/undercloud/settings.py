"""What the user asked of one undercloud, kept between commands."""

from __future__ import annotations

import msgspec

from tripleo_worker.errors import UndercloudError
from tripleo_worker.undercloud.files import write_private
from tripleo_worker.undercloud.layout import DEFAULT_PORT_BASE, Layout


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """The choices that outlive a command."""

    port_base: int = DEFAULT_PORT_BASE
    #: Whether the supervisor runs the worker daemon too.
    worker: bool = False


def load(layout: Layout) -> Settings | None:
    """The kept settings; None before the first ``up``.

    Raises:
        UndercloudError: the file cannot be read.
    """
    try:
        return msgspec.json.decode(layout.settings.read_bytes(), type=Settings)
    except FileNotFoundError:
        return None
    except (msgspec.DecodeError, OSError) as error:
        raise UndercloudError(
            f"{layout.settings} cannot be read: {error}.",
            remedy="Delete the file; `up` writes it anew (give --port-base if you had chosen one).",
        ) from error


def store(layout: Layout, settings: Settings) -> None:
    """Keep the settings."""
    write_private(layout.settings, msgspec.json.encode(settings).decode() + "\n")
