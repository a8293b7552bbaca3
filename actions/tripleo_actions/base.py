"""What every action of TripleO shares: the caller's services and errors in one form.

An Action class is a thin shell: its constructor keeps the inputs, :meth:`TripleOAction.perform`
fetches, calls a plain function and returns. Mistral sends an action to an executor as its
class and its attributes, so a constructor keeps plain data and does nothing else.
"""

from __future__ import annotations

import abc
import logging
from functools import cached_property
from typing import Any

from keystoneauth1.session import Session
from mistral_lib import actions

from tripleo_actions.faults import as_error
from tripleo_actions.services.heat import Heat
from tripleo_actions.services.mistral import Mistral
from tripleo_actions.services.swift import Swift
from tripleo_actions.services.zaqar import Zaqar
from tripleo_actions.session import open_session
from tripleo_worker.errors import TripleOWorkerError

LOG = logging.getLogger(__name__)

DEFAULT_CONTAINER = "overcloud"
DEFAULT_QUEUE = "tripleo"


class Services:
    """The services of the caller's cloud, each made when it is first asked for.

    Args:
        session: With the caller's token.
        execution_id: The workflow execution that the action belongs to; empty if it was
            called by itself.
        workflow: That execution's workflow name, or empty.
    """

    def __init__(self, session: Session, *, execution_id: str = "", workflow: str = "") -> None:
        self.session = session
        self.execution_id = execution_id
        self.workflow = workflow

    @classmethod
    def of(cls, context: Any) -> Services:
        """Read what Mistral hands to an action."""
        return cls(
            open_session(context.security),
            execution_id=context.execution.workflow_execution_id or "",
            workflow=context.execution.workflow_name or "",
        )

    @property
    def owner(self) -> str:
        """Who works here, for locks and their errors."""
        return f"execution {self.execution_id}" if self.execution_id else "an action"

    @cached_property
    def swift(self) -> Swift:
        """The object store."""
        return Swift(self.session)

    @cached_property
    def mistral(self) -> Mistral:
        """The workflow service."""
        return Mistral(self.session)

    @cached_property
    def heat(self) -> Heat:
        """The orchestration service."""
        return Heat(self.session)

    @cached_property
    def zaqar(self) -> Zaqar:
        """The queues."""
        return Zaqar(self.session)


class TripleOAction(actions.Action):  # type: ignore[misc]  # mistral-lib ships no types
    """An action that calls services with the caller's token.

    Errors reach the workflow as ``{type, text, detail}`` and the engine as ERROR.
    """

    def run(self, context: Any) -> Any:
        """Do the work; called by Mistral.

        Returns:
            What :meth:`perform` returns, or a ``Result`` with an error.
        """
        try:
            return self.perform(Services.of(context))
        except TripleOWorkerError as error:
            LOG.warning("An action failed: %s", error, extra={"action": type(self).__name__})
            return actions.Result(error=as_error(error))
        except Exception as error:
            # The engine must hear of every end, and a traceback in its database helps nobody.
            LOG.exception("An action broke.", extra={"action": type(self).__name__})
            return actions.Result(error=as_error(error))

    @abc.abstractmethod
    def perform(self, services: Services) -> Any:
        """Fetch, call a plain function, return what JSON can hold."""
