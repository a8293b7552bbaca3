"""Who asks, and what they may see."""

from __future__ import annotations

import hashlib
import time
from collections import OrderedDict
from datetime import UTC, datetime
from typing import Any, Protocol

import msgspec
from oslo_policy import policy

from tripleo_worker.errors import NotAuthenticated, NotAuthorised
from tripleo_worker.gateway import policies
from tripleo_worker.identity import Caller

#: Tokens whose callers are remembered.
CALLERS_KEPT = 5000


class TokenCheck(Protocol):
    """Tells who is behind a token; :class:`tripleo_worker.identity.Identity` is one."""

    async def caller(self, token: str) -> Caller:
        """See :meth:`tripleo_worker.identity.Identity.caller`."""


class _Known(msgspec.Struct, frozen=True):
    caller: Caller
    until: float


class Access:
    """Checks tokens and policies.

    Args:
        identity: Keystone.
        conf: with ``[oslo_policy]``.
        believed: seconds for which Keystone's word about a token is believed.
    """

    def __init__(self, identity: TokenCheck, conf: Any, believed: float) -> None:
        self._identity = identity
        self._believed = believed
        self._known: OrderedDict[bytes, _Known] = OrderedDict()
        self._enforcer = policy.Enforcer(conf)
        self._enforcer.suppress_default_change_warnings = True
        self._enforcer.register_defaults(policies.RULES)
        self._enforcer.load_rules()

    async def caller(self, token: str | None) -> Caller:
        """Who is behind a token.

        Raises:
            NotAuthenticated: there is none, or it is not good any more.
            IdentityUnavailable: Keystone cannot be asked.
        """
        if not token:
            raise NotAuthenticated(
                "The request carries no token.", remedy="Send one in the header X-Auth-Token."
            )
        # The token itself is not kept: a dump of this process is no bunch of keys.
        key = hashlib.sha256(token.encode("utf-8", "surrogateescape")).digest()
        known = self._known.get(key)
        if known is None or known.until < time.monotonic():
            known = _Known(await self._identity.caller(token), time.monotonic() + self._believed)
            self._known[key] = known
            if len(self._known) > CALLERS_KEPT:
                self._known.popitem(last=False)
        if expired(known.caller):
            raise NotAuthenticated("The token has expired.", remedy="Ask Keystone for a new one.")
        return known.caller

    def scope(self, caller: Caller, rule: str) -> str | None:
        """The project whose events a caller may see; None: those of all.

        Raises:
            NotAuthorised: a policy forbids what the caller asks.
        """
        if not self._allows(caller, rule):
            raise NotAuthorised(
                f"The policy {rule} does not let this user do that.",
                remedy="Ask for a role in the project.",
            )
        if self._allows(caller, policies.ALL_PROJECTS):
            return None
        if not caller.project_id:
            raise NotAuthorised(
                "The token is for no project.", remedy="Ask for a token of the project."
            )
        return caller.project_id

    def _allows(self, caller: Caller, rule: str) -> bool:
        credentials = {
            "user_id": caller.user_id,
            "project_id": caller.project_id,
            "roles": list(caller.roles),
            "system_scope": "all" if caller.system else None,
        }
        return bool(self._enforcer.enforce(rule, {"project_id": caller.project_id}, credentials))


def expired(caller: Caller) -> bool:
    """Whether the token's time is over."""
    return caller.expires_at <= datetime.now(UTC)
