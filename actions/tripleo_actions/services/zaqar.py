"""Zaqar: posting messages."""

from __future__ import annotations

import uuid
from typing import Any
from urllib.parse import quote

from keystoneauth1.session import Session

from tripleo_actions.services.rest import Service

#: Seconds that one post may take: a queue that hangs must not hold a workflow.
POST_TIMEOUT = 10.0

#: Zaqar wants a client id with every call; any UUID of the process will do.
_CLIENT_ID = str(uuid.uuid4())


class Zaqar(Service):
    """The queues of the caller's project."""

    def __init__(self, session: Session) -> None:
        super().__init__(session, "message", "Zaqar", "/v2")

    def post(self, queue: str, body: dict[str, Any], ttl: int) -> str:
        """Post one message; Zaqar makes a missing queue itself.

        Returns:
            The message's id, or an empty text where Zaqar names none.
        """
        reply = self.call(
            "POST",
            f"/queues/{quote(queue, safe='')}/messages",
            json={"messages": [{"ttl": ttl, "body": body}]},
            headers={"Client-ID": _CLIENT_ID},
            timeout=POST_TIMEOUT,
        )
        resources = reply.json().get("resources") or [""]
        return str(resources[0]).rsplit("/", 1)[-1]
