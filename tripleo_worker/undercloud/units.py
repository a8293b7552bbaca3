"""What the supervisor runs: the vocabulary of the declaration table in ``services.py``."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType


class Kind(enum.StrEnum):
    """How a unit runs."""

    #: Runs until the undercloud goes down; restarted when it dies.
    SERVICE = "service"
    #: Runs once in the life of the data; run again only if it was interrupted or failed.
    ONCE = "once"
    #: Runs once after each start of the supervisor.
    TASK = "task"


class ProbeKind(enum.StrEnum):
    """How readiness shows."""

    #: A TCP connection is accepted.
    TCP = "tcp"
    #: The server speaks first: a greeting arrives on a TCP connection (MariaDB).
    GREETING = "greeting"
    #: The broker answers the protocol header with its own first frame.
    AMQP = "amqp"
    #: A GET answers with any status below 500.
    HTTP = "http"
    #: A queue on the broker has a consumer.
    CONSUMER = "consumer"


@dataclass(frozen=True, kw_only=True)
class Probe:
    """A question whose answer tells that a service is ready."""

    kind: ProbeKind
    #: Listener (a key of the port map) that is asked.
    port: str
    #: Path of the URL (http) or names of the queues, all of them (consumer).
    target: str = ""


@dataclass(frozen=True, kw_only=True)
class Unit:
    """A service or a step. Command and environment may hold ``{placeholders}``.

    Known are ``{layout.…}`` (the folders), ``{port[NAME]}``, ``{python}``, ``{bin}`` (programs
    installed beside Python) and ``{mark}``.
    """

    name: str
    command: tuple[str, ...]
    kind: Kind = Kind.SERVICE
    #: Units that must be ready (services) or done (steps) before this one starts.
    needs: tuple[str, ...] = ()
    #: All must be answered before the unit counts as ready.
    probes: tuple[Probe, ...] = ()
    env: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    #: Folder below the rendered configuration; a change there restarts the service.
    config: str = ""
    #: Listeners, keys of the port map: checked to be free before the start.
    ports: tuple[str, ...] = ()
    #: Whether a step must be done again when the ports are others.
    holds_ports: bool = False
    #: Seconds from the start to readiness (or to the end of a step) before it counts as failed.
    start_timeout: float = 90.0
    #: Seconds that it gets to end by itself when it is stopped.
    stop_timeout: float = 10.0
    #: Programs that a distribution's package provides, as (program, Debian package).
    programs: tuple[tuple[str, str], ...] = ()

    def resolved(self, values: Mapping[str, object]) -> Unit:
        """The same unit with its placeholders filled."""
        return replace(
            self,
            command=tuple(word.format(**values) for word in self.command),
            env={name: text.format(**values) for name, text in self.env.items()},
        )
