"""The declaration table: every service and bootstrap step of the undercloud, as data.

Order in the table is the order on the screen; what waits for what is said by ``needs``.
Readiness of an engine that has no port of its own shows in its queues on the broker.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterable
from pathlib import Path

from tripleo_worker.undercloud.layout import Layout, port_map
from tripleo_worker.undercloud.settings import Settings
from tripleo_worker.undercloud.units import Kind, Probe, ProbeKind, Unit

_RABBITMQ = {
    "HOME": "{layout.data}/rabbitmq",
    "RABBITMQ_NODENAME": "tripleo-{mark}@localhost",
    "RABBITMQ_MNESIA_BASE": "{layout.data}/rabbitmq/mnesia",
    "RABBITMQ_LOG_BASE": "{layout.logs}/rabbitmq",
    "RABBITMQ_CONFIG_FILE": "{layout.etc}/rabbitmq/rabbitmq.conf",
    "RABBITMQ_ADVANCED_CONFIG_FILE": "{layout.etc}/rabbitmq/advanced.config",
    "RABBITMQ_CONF_ENV_FILE": "{layout.etc}/rabbitmq/rabbitmq-env.conf",
    "RABBITMQ_ENABLED_PLUGINS_FILE": "{layout.etc}/rabbitmq/enabled_plugins",
    "RABBITMQ_DIST_PORT": "{port[rabbitmq-distribution]}",
    "ERL_EPMD_ADDRESS": "127.0.0.1",
    "ERL_EPMD_PORT": "{port[epmd]}",
    "ERL_CRASH_DUMP_BYTES": "0",
    # Busy waiting of idle schedulers would cost the other services their processor.
    "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": (
        "-kernel inet_dist_use_interface {{127,0,0,1}} +S 2:2 +sbwt none +sbwtdcpu none"
        " +sbwtdio none"
    ),
}

_CLOUD = {
    "OS_CLIENT_CONFIG_FILE": "{layout.clouds}",
    "OS_CLOUD": "undercloud",
}


def _wsgi(port: str, application: str, *arguments: str) -> tuple[str, ...]:
    return (
        "{python}",
        "-m",
        "tripleo_worker.undercloud.launch.wsgi",
        f"127.0.0.1:{{port[{port}]}}",
        application,
        *arguments,
    )


def _config(path: str) -> tuple[str, str]:
    return ("--config-file", f"{{layout.etc}}/{path}")


def _step(module: str) -> tuple[str, ...]:
    return ("{python}", "-m", f"tripleo_worker.undercloud.steps.{module}", "{layout.root}")


def _zaqar(transport: str) -> tuple[str, ...]:
    module = "tripleo_worker.undercloud.launch.zaqar"
    return ("{python}", "-m", module, transport, *_config("zaqar/zaqar.conf"))


def _http(port: str, path: str = "/") -> tuple[Probe, ...]:
    return (Probe(kind=ProbeKind.HTTP, port=port, target=path),)


def _consumer(*queues: str) -> Probe:
    return Probe(kind=ProbeKind.CONSUMER, port="rabbitmq", target=",".join(queues))


_STORES = (
    Unit(
        name="redis",
        command=("redis-server", "{layout.etc}/redis/redis.conf"),
        probes=(Probe(kind=ProbeKind.TCP, port="redis"),),
        config="redis",
        ports=("redis",),
        programs=(("redis-server", "redis-server"),),
    ),
    Unit(
        name="mariadb-data",
        kind=Kind.ONCE,
        command=_step("mariadb_data"),
        programs=(("mariadb-install-db", "mariadb-server"),),
    ),
    Unit(
        name="mariadb",
        command=("mariadbd", "--defaults-file={layout.etc}/mariadb/my.cnf"),
        needs=("mariadb-data",),
        probes=(Probe(kind=ProbeKind.GREETING, port="mariadb"),),
        config="mariadb",
        ports=("mariadb",),
        stop_timeout=30,
        programs=(("mariadbd", "mariadb-server"),),
    ),
    Unit(
        name="epmd",
        command=("epmd", "-port", "{port[epmd]}", "-address", "127.0.0.1"),
        probes=(Probe(kind=ProbeKind.TCP, port="epmd"),),
        ports=("epmd",),
        programs=(("epmd", "erlang-base"),),
    ),
    Unit(
        name="rabbitmq",
        # The distribution's wrapper on PATH would change the user; this is what it runs.
        command=("/usr/lib/rabbitmq/bin/rabbitmq-server",),
        needs=("epmd",),
        env=_RABBITMQ,
        probes=(Probe(kind=ProbeKind.AMQP, port="rabbitmq"),),
        config="rabbitmq",
        ports=("rabbitmq", "rabbitmq-distribution"),
        stop_timeout=30,
        programs=(("/usr/lib/rabbitmq/bin/rabbitmq-server", "rabbitmq-server"),),
    ),
)

_IDENTITY = (
    Unit(
        name="keystone-schema",
        kind=Kind.ONCE,
        command=("{bin}/keystone-manage", *_config("keystone/keystone.conf"), "db_sync"),
        needs=("mariadb",),
    ),
    Unit(
        name="keystone-admin",
        kind=Kind.ONCE,
        command=_step("keystone_admin"),
        needs=("keystone-schema",),
        holds_ports=True,
    ),
    Unit(
        name="keystone",
        command=_wsgi("keystone", "keystone.wsgi.api:application"),
        env={"OS_KEYSTONE_CONFIG_FILES": "{layout.etc}/keystone/keystone.conf"},
        needs=("keystone-admin",),
        probes=_http("keystone", "/v3"),
        config="keystone",
        ports=("keystone",),
    ),
    Unit(
        name="identity",
        kind=Kind.ONCE,
        command=_step("identity"),
        needs=("keystone",),
        holds_ports=True,
    ),
)

_SWIFT = (
    Unit(
        name="swift-rings",
        kind=Kind.ONCE,
        command=_step("rings"),
        holds_ports=True,
    ),
    *(
        Unit(
            name=f"swift-{kind}",
            command=(
                f"{{bin}}/swift-{kind}-server",
                f"{{layout.etc}}/swift/{kind}-server.conf",
                "-v",
            ),
            needs=("swift-rings",),
            probes=_http(f"swift-{kind}", "/healthcheck"),
            config="swift",
            ports=(f"swift-{kind}",),
        )
        for kind in ("account", "container", "object", "proxy")
    ),
)

_MESSAGING = (
    Unit(
        name="zaqar",
        command=_zaqar("wsgi"),
        needs=("redis",),
        probes=_http("zaqar"),
        config="zaqar",
        ports=("zaqar",),
    ),
    Unit(
        name="zaqar-websocket",
        command=_zaqar("websocket"),
        needs=("redis",),
        probes=(
            Probe(kind=ProbeKind.TCP, port="zaqar-websocket"),
            Probe(kind=ProbeKind.TCP, port="zaqar-notification"),
        ),
        config="zaqar",
        ports=("zaqar-websocket", "zaqar-notification"),
    ),
)

_WORKFLOWS = (
    Unit(
        name="mistral-schema",
        kind=Kind.ONCE,
        command=("{bin}/mistral-db-manage", *_config("mistral/mistral.conf"), "upgrade", "head"),
        needs=("mariadb",),
    ),
    Unit(
        name="mistral",
        command=(
            "{bin}/mistral-server",
            *_config("mistral/mistral.conf"),
            "--server",
            "api,engine,executor",
        ),
        needs=("mistral-schema", "rabbitmq"),
        probes=(*_http("mistral", "/v2"), _consumer("mistral_engine", "mistral_executor")),
        config="mistral",
        ports=("mistral",),
    ),
    Unit(
        name="workbooks",
        kind=Kind.TASK,
        command=("{bin}/tripleo-worker", "workbooks", "sync"),
        env=_CLOUD,
        needs=("mistral", "identity"),
    ),
)

_ORCHESTRATION = (
    Unit(
        name="heat-schema",
        kind=Kind.ONCE,
        command=("{bin}/heat-manage", *_config("heat/heat.conf"), "db_sync"),
        needs=("mariadb",),
    ),
    Unit(
        name="heat-engine",
        command=("{bin}/heat-engine", *_config("heat/heat.conf")),
        needs=("heat-schema", "rabbitmq"),
        probes=(_consumer("engine", "engine_worker"),),
        config="heat",
    ),
    Unit(
        name="heat-api",
        command=_wsgi("heat", "heat.wsgi.api:application", *_config("heat/heat.conf")),
        needs=("heat-schema", "rabbitmq"),
        probes=_http("heat"),
        config="heat",
        ports=("heat",),
    ),
)

_BARE_METAL = (
    Unit(
        name="ironic-schema",
        kind=Kind.ONCE,
        command=("{bin}/ironic-dbsync", *_config("ironic/ironic.conf"), "upgrade"),
        needs=("mariadb",),
    ),
    Unit(
        name="ironic",
        command=("{bin}/ironic", *_config("ironic/ironic.conf")),
        needs=("ironic-schema", "rabbitmq"),
        probes=_http("ironic"),
        config="ironic",
        ports=("ironic",),
    ),
)

_WORKER = (
    Unit(
        name="worker",
        command=("{bin}/tripleo-worker", "serve", *_config("tripleo-worker/tripleo-worker.conf")),
        needs=("identity", "zaqar", "zaqar-websocket", "mistral"),
        probes=_http("worker", "/readyz"),
        config="tripleo-worker",
        ports=("worker",),
    ),
)

#: Every unit that an undercloud may run.
UNITS = (
    *_STORES, *_IDENTITY, *_SWIFT, *_MESSAGING, *_WORKFLOWS, *_ORCHESTRATION, *_BARE_METAL,
    *_WORKER,
)  # fmt: skip


def declared(layout: Layout, settings: Settings) -> tuple[Unit, ...]:
    """The units of one undercloud, their placeholders filled."""
    values: dict[str, object] = {
        "layout": layout,
        "port": port_map(settings.port_base),
        "python": sys.executable,
        "bin": Path(sys.executable).parent,
        "mark": layout.mark,
    }
    return tuple(unit.resolved(values) for unit in _chosen(settings))


def _chosen(settings: Settings) -> Iterable[Unit]:
    absent = set() if settings.worker else {"worker"}
    if importlib.util.find_spec("tripleo_worker.cmd.workbooks") is None:
        absent.add("workbooks")
    return (unit for unit in UNITS if unit.name not in absent)
