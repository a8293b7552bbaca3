"""How an action reaches the services: the caller's own token, and the catalog of its project.

Mistral hands an action the token with which the workflow was started, and Keystone's URL.
The token is used as it is: nothing is authenticated again, so an action can do no more than
its caller could.
"""

from __future__ import annotations

import threading
import time
from typing import Any

import keystoneauth1.session
import requests
from keystoneauth1 import plugin
from keystoneauth1.access import service_catalog

from tripleo_actions.faults import CallFailed

#: Seconds that one request may take; calls that Heat answers slowly ask for more themselves.
REQUEST_TIMEOUT = 60.0

#: Seconds that a project's catalog is kept: each action would ask Keystone for it otherwise.
CATALOG_SECONDS = 300.0

#: Interfaces in the order of preference.
INTERFACES = ["internal", "public", "admin"]

Catalog = list[dict[str, Any]]


class CatalogCache:
    """Catalogs by Keystone and project; safe for the executor's threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: dict[tuple[str, str], tuple[float, Catalog]] = {}

    def get(self, key: tuple[str, str], now: float) -> Catalog | None:
        """The catalog, unless it is too old."""
        with self._lock:
            kept = self._kept.get(key)
        return kept[1] if kept and now - kept[0] < CATALOG_SECONDS else None

    def put(self, key: tuple[str, str], now: float, catalog: Catalog) -> None:
        """Keep a catalog; those out of date leave."""
        with self._lock:
            fresh = {k: v for k, v in self._kept.items() if now - v[0] < CATALOG_SECONDS}
            self._kept = fresh | {key: (now, catalog)}


_catalogs = CatalogCache()


class CallerToken(plugin.BaseAuthPlugin):
    """Authenticates with a token that exists, and finds endpoints in its project's catalog."""

    def __init__(
        self,
        *,
        token: str,
        auth_url: str,
        project_id: str,
        region: str | None = None,
        catalog: Catalog | None = None,
    ) -> None:
        super().__init__()
        self._token = token
        self._auth_url = auth_url.rstrip("/").removesuffix("/v3") + "/v3"
        self._project_id = project_id
        self._region = region
        self._catalog = catalog

    def get_token(self, session: keystoneauth1.session.Session, **kwargs: Any) -> str:
        """The caller's token."""
        return self._token

    def get_project_id(self, session: keystoneauth1.session.Session, **kwargs: Any) -> str:
        """The caller's project."""
        return self._project_id

    def get_endpoint(self, session: keystoneauth1.session.Session, **kwargs: Any) -> str | None:
        """The URL of a service, or None if the catalog does not name it."""
        found: str | None = self._services(session).url_for(
            service_type=kwargs.get("service_type"),
            interface=INTERFACES,
            region_name=kwargs.get("region_name") or self._region or None,
        )
        return found

    def _services(self, session: keystoneauth1.session.Session) -> Any:
        catalog = self._catalog if self._catalog is not None else self._fetch(session)
        kind = (
            service_catalog.ServiceCatalogV2
            if any("publicURL" in e for s in catalog for e in s.get("endpoints", []))
            else service_catalog.ServiceCatalogV3
        )
        return kind(catalog)

    def _fetch(self, session: keystoneauth1.session.Session) -> Catalog:
        key = (self._auth_url, self._project_id)
        kept = _catalogs.get(key, time.monotonic())
        if kept is None:
            reply = session.get(
                f"{self._auth_url}/auth/catalog",
                headers={"X-Auth-Token": self._token},
                authenticated=False,
                raise_exc=False,
                redirect=False,
            )
            kept = _read_catalog(reply)
            _catalogs.put(key, time.monotonic(), kept)
        return kept


def _read_catalog(reply: requests.Response) -> Catalog:
    if reply.status_code == 200:
        catalog: Catalog = reply.json()["catalog"]
        return catalog
    remedy = "The token is no longer valid: start again." if reply.status_code == 401 else ""
    raise CallFailed(
        "keystone",
        reply.status_code,
        f"Keystone gave no catalog (HTTP {reply.status_code}).",
        remedy=remedy,
    )


def open_session(security: Any) -> keystoneauth1.session.Session:
    """A session with the security context that Mistral gives an action.

    Args:
        security: mistral-lib's ``SecurityContext``: ``auth_token``, ``auth_uri``,
            ``project_id``, ``region_name``, ``service_catalog``, ``insecure``, ``auth_cacert``.
    """
    auth = CallerToken(
        token=security.auth_token or "",
        auth_url=security.auth_uri or "",
        project_id=security.project_id or "",
        region=security.region_name,
        catalog=_given_catalog(security.service_catalog),
    )
    verify: bool | str = security.auth_cacert or not security.insecure
    return keystoneauth1.session.Session(auth=auth, verify=verify, timeout=REQUEST_TIMEOUT)


def _given_catalog(catalog: Any) -> Catalog | None:
    return catalog if isinstance(catalog, list) and catalog else None
