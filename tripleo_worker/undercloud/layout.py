"""Where everything of one undercloud lives: a folder, and the ports counted from one base."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from tripleo_worker.errors import InvalidInput

#: First port of an undercloud unless told otherwise.
DEFAULT_PORT_BASE = 21000
#: Ports lie within this many of the base.
PORT_SPAN = 100

#: Port of each listener, counted from the base; the digits recall the usual port.
PORT_OFFSETS: Mapping[str, int] = MappingProxyType(
    {
        "keystone": 0,
        "heat": 4,
        "rabbitmq-distribution": 25,
        "mariadb": 33,
        "ironic": 38,
        "swift-object": 60,
        "swift-container": 61,
        "swift-account": 62,
        "epmd": 69,
        "rabbitmq": 72,
        "redis": 79,
        "swift-proxy": 80,
        "worker": 85,
        "zaqar": 88,
        "mistral": 89,
        "zaqar-websocket": 90,
        "zaqar-notification": 91,
    }
)


def port_map(base: int) -> dict[str, int]:
    """Every listener's port.

    Raises:
        InvalidInput: the base leaves the range of unprivileged ports.
    """
    if not 1024 <= base <= 65535 - PORT_SPAN:
        raise InvalidInput(
            f"--port-base {base} is out of range.",
            remedy=f"Choose a base from 1024 to {65535 - PORT_SPAN}.",
        )
    return {name: base + offset for name, offset in PORT_OFFSETS.items()}


@dataclass(frozen=True)
class Layout:
    """The folders and files of one undercloud; ``root`` is absolute."""

    root: Path

    @classmethod
    def at(cls, directory: str | os.PathLike[str] | None) -> Layout:
        """The layout in a folder; by default in the user's data folder."""
        return cls(Path(directory).expanduser().absolute() if directory else default_root())

    @property
    def etc(self) -> Path:
        """Rendered configuration, written anew by every ``up``."""
        return self.root / "etc"

    @property
    def data(self) -> Path:
        """Databases, queues, objects: what ``reset`` deletes."""
        return self.root / "data"

    @property
    def logs(self) -> Path:
        """One ``NAME.log`` a service."""
        return self.root / "log"

    @property
    def run(self) -> Path:
        """State, locks and requests of the running supervisor."""
        return self.root / "run"

    @property
    def done(self) -> Path:
        """One mark a bootstrap step that was completed; lives and dies with the data."""
        return self.data / "done"

    @property
    def overrides(self) -> Path:
        """The user's own templates; one here wins over the shipped one of the same name."""
        return self.root / "templates"

    @property
    def settings(self) -> Path:
        """What the last ``up`` was asked for."""
        return self.root / "settings.json"

    @property
    def secrets(self) -> Path:
        """Generated passwords and keys."""
        return self.root / "secrets.json"

    @property
    def state(self) -> Path:
        """What the supervisor last said of its services."""
        return self.run / "state.json"

    @property
    def clouds(self) -> Path:
        """``clouds.yaml`` with the cloud ``undercloud``."""
        return self.root / "clouds.yaml"

    @property
    def mark(self) -> str:
        """What names this undercloud in the environment of each of its processes."""
        return hashlib.sha256(os.fsencode(self.root.resolve())).hexdigest()[:16]

    def log(self, name: str) -> Path:
        """The log of a service or step."""
        return self.logs / f"{name}.log"


def default_root() -> Path:
    """``$XDG_DATA_HOME/tripleo-worker/undercloud``, by default below ``~/.local/share``."""
    base = os.environ.get("XDG_DATA_HOME", "")
    data = Path(base) if base.startswith("/") else Path.home() / ".local" / "share"
    return data / "tripleo-worker" / "undercloud"
