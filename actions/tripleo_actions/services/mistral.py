"""Mistral: executions to report on, and the environments that hold plans."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote

from keystoneauth1.session import Session

from tripleo_actions.faults import CallFailed
from tripleo_actions.services.rest import Service

#: Environments asked for at once.
PAGE = 100


class Mistral(Service):
    """The workflow service of the caller's project."""

    def __init__(self, session: Session) -> None:
        super().__init__(session, "workflow", "Mistral", "/v2")

    def execution(self, execution_id: str) -> dict[str, Any]:
        """One execution: ``id``, ``root_execution_id``, ``state``, ``input``, ``params``, times.

        ``input`` and ``params`` are decoded; they are {} where Mistral gives none.
        """
        found: dict[str, Any] = self.call("GET", f"/executions/{quote(execution_id)}").json()
        return found | {key: _object(found.get(key)) for key in ("input", "params")}

    def environments(self) -> list[dict[str, Any]]:
        """All environments, each ``{id, name, variables}``."""
        found: list[dict[str, Any]] = []
        marker: dict[str, str] = {}
        while True:
            params = {"limit": str(PAGE), "fields": "id,name,variables", **marker}
            page = self.call("GET", "/environments", params=params).json()["environments"]
            found += [env | {"variables": _object(env.get("variables"))} for env in page]
            if len(page) < PAGE:
                return found
            marker = {"marker": page[-1]["id"]}

    def environment(self, name: str) -> dict[str, Any]:
        """The variables of an environment.

        Raises:
            NotThere: there is none of that name.
        """
        found = self.call("GET", f"/environments/{quote(name, safe='')}").json()
        return _object(found.get("variables"))

    def create_environment(self, name: str, variables: dict[str, Any], description: str) -> None:
        """Make an environment.

        Raises:
            CallFailed: status 409 if one of that name exists.
        """
        self.call("POST", "/environments", json=_environment(name, variables, description))

    def update_environment(self, name: str, variables: dict[str, Any], description: str) -> None:
        """Replace the variables of an environment as a whole."""
        self.call("PUT", "/environments", json=_environment(name, variables, description))

    def delete_environment(self, name: str) -> None:
        """Remove an environment; one that is gone is no error."""
        try:
            self.call("DELETE", f"/environments/{quote(name, safe='')}")
        except CallFailed as error:
            if error.status != 404:
                raise


def _environment(name: str, variables: dict[str, Any], description: str) -> dict[str, Any]:
    text = json.dumps(variables)
    return {"name": name, "description": description[:255] or name, "variables": text}


def _object(value: Any) -> dict[str, Any]:
    decoded = json.loads(value) if isinstance(value, str) and value else value
    return decoded if isinstance(decoded, dict) else {}
