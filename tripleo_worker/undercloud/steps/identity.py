"""Seeds Keystone: roles, service users, Heat's domain of stack users, and the catalogue.

Every call either finds what it wants or makes it, so that a step interrupted half-way can
be repeated. Source: the Identity API v3.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from keystoneauth1.adapter import Adapter
from keystoneauth1.identity import V3Password
from keystoneauth1.session import Session

from tripleo_worker.undercloud.steps.context import Context, from_arguments

REGION = "regionOne"
_ROLES = ("admin", "member", "reader", "service", "heat_stack_owner", "heat_stack_user",
          "swiftoperator", "ResellerAdmin")  # fmt: skip
_ADMIN_ROLES = ("heat_stack_owner", "swiftoperator", "member")
_SERVICE_USERS = ("mistral", "zaqar", "swift", "heat", "ironic", "worker")
#: (type, name, listener, path, scheme) of every endpoint but Keystone's own.
_CATALOGUE = (
    ("workflowv2", "mistral", "mistral", "/v2", "http"),
    ("messaging", "zaqar", "zaqar", "", "http"),
    ("messaging-websocket", "zaqar-websocket", "zaqar-websocket", "", "ws"),
    ("object-store", "swift", "swift-proxy", "/v1/AUTH_%(project_id)s", "http"),
    ("orchestration", "heat", "heat", "/v1/%(project_id)s", "http"),
    ("baremetal", "ironic", "ironic", "", "http"),
    ("tripleo-worker", "tripleo-worker", "worker", "", "http"),
)


class Identity:
    """The Identity API, as find-or-make."""

    def __init__(self, adapter: Adapter) -> None:
        self._adapter = adapter

    def ensure(self, kind: str, key: dict[str, str], **more: Any) -> str:
        """The id of the one resource that has the ``key``, made with ``more`` if absent."""
        found = self._adapter.get(f"/{kind}s", params=key).json()[f"{kind}s"]
        if found:
            return str(found[0]["id"])
        made = self._adapter.post(f"/{kind}s", json={kind: key | more}).json()
        return str(made[kind]["id"])

    def set_url(self, endpoint: str, url: str) -> None:
        """Move an endpoint: the ports may have changed since it was made."""
        self._adapter.patch(f"/endpoints/{endpoint}", json={"endpoint": {"url": url}})

    def grant(self, role: str, user: str, on: str) -> None:
        """Give a role to a user on ``projects/ID``, ``domains/ID`` or ``system``."""
        place = f"/{on}/users/{user}/roles/{role}"
        self._adapter.put(place)


def main() -> None:
    """Seed the Keystone of the undercloud that the command line names."""
    context = from_arguments()
    identity = Identity(Adapter(_session(context), service_type="identity", region_name=REGION))
    roles = {name: identity.ensure("role", {"name": name}) for name in _ROLES}
    _grant_admin(identity, roles)
    _make_service_users(context, identity, roles)
    _make_stack_domain(context, identity, roles)
    _make_catalogue(context, identity)


def _session(context: Context) -> Session:
    auth = V3Password(
        auth_url=context.url("keystone", "/v3"),
        username="admin",
        password=context.secret.admin,
        project_name="admin",
        user_domain_id="default",
        project_domain_id="default",
    )
    return Session(auth=auth)


def _grant_admin(identity: Identity, roles: dict[str, str]) -> None:
    admin = identity.ensure("user", {"name": "admin", "domain_id": "default"})
    project = identity.ensure("project", {"name": "admin", "domain_id": "default"})
    for role in _ADMIN_ROLES:
        identity.grant(roles[role], admin, f"projects/{project}")
    identity.grant(roles["admin"], admin, "system")


def _make_service_users(context: Context, identity: Identity, roles: dict[str, str]) -> None:
    project = identity.ensure("project", {"name": "service", "domain_id": "default"})
    deployers = identity.ensure("project", {"name": "admin", "domain_id": "default"})
    for name in _SERVICE_USERS:
        password = getattr(context.secret, name)
        key = {"name": name, "domain_id": "default"}
        user = identity.ensure("user", key, password=password, default_project_id=project)
        for role in ("admin", "service"):
            identity.grant(roles[role], user, f"projects/{project}")
        if name == "worker":
            # It follows the queues of the project that deploys.
            identity.grant(roles["admin"], user, f"projects/{deployers}")


def _make_stack_domain(context: Context, identity: Identity, roles: dict[str, str]) -> None:
    domain = identity.ensure("domain", {"name": "heat"})
    user = identity.ensure(
        "user",
        {"name": "heat_domain_admin", "domain_id": domain},
        password=context.secret.heat_domain_admin,
    )
    identity.grant(roles["admin"], user, f"domains/{domain}")


def _make_catalogue(context: Context, identity: Identity) -> None:
    for kind, name, listener, path, scheme in _CATALOGUE:
        service = identity.ensure("service", {"type": kind, "name": name})
        url = context.url(listener, path, scheme)
        for interface in _interfaces():
            key = {"service_id": service, "interface": interface, "region_id": REGION}
            identity.set_url(identity.ensure("endpoint", key, url=url), url)


def _interfaces() -> Iterable[str]:
    return ("public", "internal", "admin")


if __name__ == "__main__":
    main()
