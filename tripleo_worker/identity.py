"""Keystone: the worker's own token, the catalog, and who is behind another's token.

keystoneauth blocks, so it is called in threads; what it answers is shared by all.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import datetime
from typing import Any, TypeVar

import msgspec
from keystoneauth1 import exceptions

from tripleo_worker.errors import IdentityUnavailable, NotAuthenticated

T = TypeVar("T")

#: Seconds for one call to Keystone.
PATIENCE = 20.0


class Caller(msgspec.Struct, frozen=True, kw_only=True):
    """Who is behind a token."""

    user_id: str
    #: Empty: the token is not for a project.
    project_id: str
    roles: tuple[str, ...]
    expires_at: datetime
    #: Whether the token is for the whole system.
    system: bool = False


class Identity:
    """Keystone, asked with the worker's own credentials.

    Args:
        session: a keystoneauth session with them.
        interface: of the catalog's addresses.
        region: None for any.
    """

    def __init__(
        self, session: Any, *, interface: str = "public", region: str | None = None
    ) -> None:
        self._session = session
        self._interface = interface
        self._region = region

    async def token(self, *, fresh: bool = False) -> str:
        """The worker's token; a new one if ``fresh``.

        Raises:
            IdentityUnavailable: Keystone does not give one.
        """

        def ask() -> str:
            if fresh:
                self._session.invalidate()
            return str(self._session.get_token())

        return await self._asked(ask, "a token")

    async def project(self) -> str:
        """The id of the worker's own project."""
        return await self._asked(lambda: str(self._session.get_project_id() or ""), "its project")

    async def endpoint(self, service_type: str) -> str:
        """Where a service is, without a slash at its end.

        Raises:
            IdentityUnavailable: the catalog cannot be read, or does not name it.
        """

        def ask() -> str | None:
            found: str | None = self._session.get_endpoint(
                service_type=service_type, interface=self._interface, region_name=self._region
            )
            return found

        url = await self._asked(ask, "the catalog")
        if not url:
            raise IdentityUnavailable(
                f"The catalog names no {self._interface} endpoint of the type {service_type}.",
                remedy="Register the service in Keystone.",
            )
        return url.rstrip("/")

    async def caller(self, token: str) -> Caller:
        """Who is behind a token.

        Raises:
            NotAuthenticated: Keystone does not know the token, or not any more.
            IdentityUnavailable: Keystone cannot be asked.
        """

        def ask() -> Any:
            return self._session.get(
                "/auth/tokens",
                endpoint_filter={"service_type": "identity", "interface": self._interface},
                headers={"X-Subject-Token": token},
                params={"nocatalog": ""},
                raise_exc=False,
                timeout=PATIENCE,
            )

        answer = await self._asked(ask, "who is behind a token")
        if answer.status_code == 404:
            raise NotAuthenticated(
                "Keystone does not accept the token.", remedy="Ask Keystone for a new one."
            )
        if answer.status_code != 200:
            raise IdentityUnavailable(f"Keystone answered {answer.status_code} about a token.")
        return _caller(answer.json()["token"])

    async def _asked(self, ask: Callable[[], T], what: str) -> T:
        try:
            return await asyncio.to_thread(ask)
        except exceptions.ClientException as error:
            raise IdentityUnavailable(
                f"Keystone does not tell {what}: {error}.",
                remedy="Check [keystone] and that Keystone runs.",
            ) from error


def _caller(token: dict[str, Any]) -> Caller:
    return Caller(
        user_id=token["user"]["id"],
        project_id=token.get("project", {}).get("id", ""),
        roles=tuple(role["name"] for role in token.get("roles", ())),
        expires_at=datetime.fromisoformat(token["expires_at"]),
        system="system" in token,
    )
