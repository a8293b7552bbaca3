"""Where a cloud's services are and who asks: the session, its token, the worker's address.

The calls block; the asyncio shell makes them in threads. openstacksdk and keystoneauth are
imported when they are first needed, for they are slow to import.
"""

from __future__ import annotations

import logging
import os
from typing import Any

import msgspec

from tripleo_worker.client.calls import reason
from tripleo_worker.client.engine import Engine
from tripleo_worker.errors import IdentityUnavailable, NotAuthenticated, NoWorker, ServiceError
from tripleo_worker.operations import Operation

LOG = logging.getLogger(__name__)

SERVICE_TYPE = "tripleo-worker"
#: Overrides the service catalog; an ``http(s)://`` URL.
ENDPOINT_VARIABLE = "TRIPLEO_WORKER_ENDPOINT"
#: Seconds for one call to the worker: it answers from its own database.
READ_LIMIT = 10.0


class Cloud:
    """One cloud seen with one user's rights."""

    def __init__(
        self,
        session: Any,
        *,
        endpoint: str | None = None,
        region: str | None = None,
        interface: str = "public",
    ) -> None:
        self.session = session
        self.engine = Engine(session, region=region, interface=interface)
        self._given = endpoint or os.environ.get(ENDPOINT_VARIABLE)
        self.region, self.interface = region, interface

    def token(self, *, fresh: bool = False) -> str:
        """A token of the user; a new one if ``fresh``.

        Raises:
            NotAuthenticated: Keystone refuses the credentials.
            IdentityUnavailable: Keystone does not answer.
        """
        from keystoneauth1 import exceptions

        try:
            if fresh:
                self.session.invalidate()
            return str(self.session.get_token())
        except exceptions.Unauthorized as error:
            raise NotAuthenticated(
                "Keystone refuses the credentials.", remedy="Check the cloud's user and password."
            ) from error
        except exceptions.ClientException as error:
            raise IdentityUnavailable(
                f"Keystone could not be reached: {reason(error)}",
                remedy="Check that Keystone runs.",
            ) from error

    def endpoint(self) -> str:
        """The worker's address, without a slash at its end.

        Raises:
            NoWorker: neither the caller nor the catalog names one.
            IdentityUnavailable: the catalog cannot be read.
        """
        return (self._given or self._catalogued()).rstrip("/")

    def stream_url(self) -> str:
        """Where the websocket stream is.

        Raises:
            NoWorker, IdentityUnavailable: as for :meth:`endpoint`.
        """
        scheme, _, rest = self.endpoint().partition("://")
        return f"{'wss' if scheme in ('https', 'wss') else 'ws'}://{rest}/v1/stream"

    def position(self) -> str:
        """The journal's newest position, ``EPOCH:SEQUENCE``.

        Raises:
            NoWorker: there is no worker, or it does not answer.
        """
        return str(self._read("/v1/position")["position"])

    def operations(self, *, plan: str = "", status: str = "") -> list[Operation]:
        """The operations that the worker knows, oldest first.

        Raises:
            NoWorker: there is no worker, or it does not answer.
        """
        wanted = {"plan": plan, "status": status}
        found = self._read("/v1/operations", {key: value for key, value in wanted.items() if value})
        operations = msgspec.convert(found["operations"], list[Operation], strict=False)
        return sorted(operations, key=lambda one: one.started)

    def _read(self, path: str, query: dict[str, str] | None = None) -> Any:
        from keystoneauth1 import exceptions

        try:
            answer = self.session.get(
                self.endpoint() + path,
                params=query or {},
                timeout=READ_LIMIT,
                connect_retries=0,
                headers={"Accept": "application/json"},
                authenticated=True,
            )
            return answer.json()
        except (exceptions.ClientException, ValueError) as error:
            LOG.debug("No answer from the worker: %s", error, extra={"action": "ask_worker"})
            reached = not isinstance(error, exceptions.ConnectFailure)
            raise NoWorker(
                f"The worker does not answer{f' as it should: {error}' if reached else ''}.",
                remedy="Start it with `tripleo-worker serve`; its log says why it stopped.",
            ) from error

    def _catalogued(self) -> str:
        from keystoneauth1 import exceptions

        try:
            url = self.session.get_endpoint(
                service_type=SERVICE_TYPE,
                interface=self.interface,
                region_name=self.region,
            )
        except exceptions.ClientException as error:
            raise IdentityUnavailable(
                f"The service catalog could not be read: {reason(error)}",
                remedy="Check the cloud's address and credentials, and that Keystone runs.",
            ) from error
        if not url:
            raise NoWorker(
                "The service catalog names no tripleo-worker.",
                remedy=f"Register it, or set {ENDPOINT_VARIABLE}.",
            )
        return str(url)


def from_clouds_yaml(name: str | None = None, *, endpoint: str | None = None) -> Cloud:
    """The cloud of that name in clouds.yaml; without a name what ``OS_*`` says.

    Raises:
        ServiceError: there is no such cloud, or its entry is wrong.
    """
    from openstack.config import OpenStackConfig
    from openstack.exceptions import ConfigException

    try:
        found = OpenStackConfig().get_one(cloud=name)
        session = found.get_session()
    except ConfigException as error:
        raise ServiceError(
            f"The cloud's settings cannot be used: {error}",
            remedy="Check clouds.yaml, OS_CLIENT_CONFIG_FILE and OS_CLOUD.",
        ) from error
    return Cloud(
        session,
        endpoint=endpoint,
        region=found.get_region_name() or None,
        interface=found.get_interface() or "public",
    )
