"""HTTP calls to a service of the catalog, with the worker's own token."""

from __future__ import annotations

from collections.abc import Iterator
from random import random
from typing import Any

import aiohttp

from tripleo_worker.errors import ServiceError
from tripleo_worker.identity import Identity

#: Seconds for one call.
PATIENCE = aiohttp.ClientTimeout(total=30.0, connect=5.0)


class Service:
    """One service.

    Args:
        identity: gives token and address.
        http: shared by all.
        types: the service's type in the catalog.
    """

    def __init__(self, identity: Identity, http: aiohttp.ClientSession, service_type: str) -> None:
        self._identity = identity
        self._http = http
        self._type = service_type
        self._endpoint = ""

    async def call(
        self,
        method: str,
        path: str,
        *,
        also: tuple[int, ...] = (),
        headers: dict[str, str] | None = None,
        **options: Any,
    ) -> tuple[int, Any]:
        """Make a call; a token that expired is renewed once.

        Args:
            method: of HTTP.
            path: below the service's address.
            also: statuses of 400 and more that are answers too.
            headers: besides the token's.
            options: aiohttp's.

        Returns:
            The status, and the JSON body or None.

        Raises:
            ServiceError: it did not answer, or not so.
            IdentityUnavailable: there is no token or no address.
        """
        status, body = await self._once(method, path, headers, options, fresh=False)
        if status == 401:
            status, body = await self._once(method, path, headers, options, fresh=True)
        if status >= 400 and status not in also:
            raise ServiceError(f"{self._type} answered {status} to {method} {path}.")
        return status, body

    async def _once(
        self,
        method: str,
        path: str,
        headers: dict[str, str] | None,
        options: dict[str, Any],
        *,
        fresh: bool,
    ) -> tuple[int, Any]:
        token = await self._identity.token(fresh=fresh)
        self._endpoint = self._endpoint or await self._identity.endpoint(self._type)
        sent = {"X-Auth-Token": token, "Accept": "application/json", **(headers or {})}
        try:
            async with self._http.request(
                method, self._endpoint + path, headers=sent, timeout=PATIENCE, **options
            ) as answer:
                body = await _json(answer)
                return answer.status, body
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            word = str(error) or type(error).__name__
            raise ServiceError(f"{self._type} does not answer: {word}.") from error


async def _json(answer: aiohttp.ClientResponse) -> Any:
    """The body; a page that is no JSON (of a proxy, say) is an answer without one."""
    text = await answer.read()
    if not text:
        return None
    try:
        return await answer.json(content_type=None)
    except ValueError as error:
        if answer.status >= 400:
            return None
        raise ServiceError("The answer is no JSON.") from error


def pauses(longest: float) -> Iterator[float]:
    """Seconds to wait after each failure in a row: short at first, then ever longer."""
    pause = 0.25
    while True:
        yield pause * (0.75 + 0.5 * random())  # noqa: S311 - spreads load, hides nothing
        pause = min(pause * 2, longest)
