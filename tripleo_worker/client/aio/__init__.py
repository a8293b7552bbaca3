"""The client for asyncio: the same files as in ``sync``, over the same core."""

from tripleo_worker.client.aio.connection import Connection, connect

__all__ = ["Connection", "connect"]
