"""Asks services whether they are ready; every question is short and costs the service little."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

import amqp

from tripleo_worker.undercloud.units import Probe, ProbeKind

_HOST = "127.0.0.1"
#: Seconds that one question may take.
_PATIENCE = 5.0
_AMQP_HEADER = b"AMQP\x00\x00\x09\x01"


class Prober:
    """Asks the probes of one undercloud.

    Args:
        ports: the port map.
        broker_password: of the user ``openstack``, for probes that look at queues.
    """

    def __init__(self, ports: dict[str, int], broker_password: str) -> None:
        self._ports = ports
        self._broker_password = broker_password

    async def ready(self, probes: tuple[Probe, ...]) -> bool:
        """Whether all are answered well."""
        for probe in probes:
            try:
                async with asyncio.timeout(_PATIENCE):
                    if not await self._ask(probe):
                        return False
            except (OSError, TimeoutError, ValueError, EOFError):
                return False
        return True

    async def _ask(self, probe: Probe) -> bool:
        port = self._ports[probe.port]
        match probe.kind:
            case ProbeKind.TCP:
                return await _answers(port)
            case ProbeKind.GREETING:
                return await _answers(port, receive=4)
            case ProbeKind.AMQP:
                return await _answers(port, send=_AMQP_HEADER, receive=7)
            case ProbeKind.HTTP:
                return await _http(port, probe.target)
            case ProbeKind.CONSUMER:
                return await asyncio.to_thread(
                    consumed, port, self._broker_password, probe.target.split(",")
                )


@contextlib.asynccontextmanager
async def _connection(
    port: int,
) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    reader, writer = await asyncio.open_connection(_HOST, port)
    try:
        yield reader, writer
    finally:
        writer.close()


async def _answers(port: int, send: bytes = b"", receive: int = 0) -> bool:
    async with _connection(port) as (reader, writer):
        writer.write(send)
        return len(await reader.readexactly(receive)) == receive if receive else True


async def _http(port: int, path: str) -> bool:
    request = f"GET {path} HTTP/1.1\r\nHost: {_HOST}:{port}\r\nConnection: close\r\n\r\n"
    async with _connection(port) as (reader, writer):
        writer.write(request.encode())
        status = (await reader.readline()).split(b" ")
        return len(status) > 1 and int(status[1]) < 500


def consumed(port: int, password: str, queues: list[str]) -> bool:
    """Whether every queue exists on the broker and somebody reads it."""
    connection = amqp.Connection(
        f"{_HOST}:{port}", userid="openstack", password=password, connect_timeout=_PATIENCE
    )
    try:
        connection.connect()
        channel = connection.channel()
        counts = [channel.queue_declare(queue, passive=True).consumer_count for queue in queues]
        return all(counts)
    except amqp.AMQPError:
        return False
    finally:
        with contextlib.suppress(OSError, amqp.AMQPError):
            connection.close()
