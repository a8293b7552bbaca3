"""Mistral's state changes on the bus, as notifications like those of Heat and Ironic.

Installed as the notification publisher ``tripleo``; Mistral's ``[notifier] notify`` names it::

    [notifier]
    notify = [{"type": "tripleo"}]

The engine only hands an event over; a thread masks and sends it to the exchange ``mistral``,
topic ``notifications``, at the broker of ``[oslo_messaging_notifications] transport_url``.
The form on the wire is messagingv2.

Sources: ``mistral.notifiers.default_notifier``, ``mistral.engine.tasks`` and ``workflows``
(what a publisher is called with), ``oslo_messaging.notify.notifier`` (the form).
"""

from __future__ import annotations

import logging
import uuid
from collections import OrderedDict
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

import msgspec
from mistral.notifiers import base

from tripleo_actions.outbox import Outbox
from tripleo_worker.redact import mask

LOG = logging.getLogger(__name__)

EXCHANGE = "mistral"
PUBLISHER_ID = "mistral"
#: Workflow executions whose root is remembered.
ROOTS_KEPT = 10_000


class Notice(msgspec.Struct, frozen=True, kw_only=True):
    """One event as Mistral handed it over."""

    #: Stays the same however often it is sent, so that a reader stores it once.
    message_id: str
    #: Of the task execution or workflow execution.
    subject_id: str
    #: Mistral's name, e.g. ``WORKFLOW_SUCCEEDED``; None for a state without an event.
    event: str | None
    data: dict[str, Any]
    #: When it was handed over, right after the change; ISO 8601 with an offset.
    timestamp: str
    #: The caller's security context.
    context: Any = None

    @property
    def about_task(self) -> bool:
        """Whether a task changed, and not a workflow."""
        return "workflow_execution_id" in self.data

    @property
    def execution_id(self) -> str:
        """The workflow execution that it belongs to."""
        return str(self.data.get("workflow_execution_id") or self.subject_id)


def event_type(notice: Notice) -> str:
    """The event type on the bus: ``mistral.workflow.succeeded``, ``mistral.task.launched``.

    States without an event of Mistral's own go by their name: ``mistral.task.delayed``.
    """
    if notice.event:
        return "mistral." + notice.event.lower().replace("_", ".", 1)
    kind = "task" if notice.about_task else "workflow"
    return f"mistral.{kind}.{str(notice.data.get('state') or 'unknown').lower()}"


def payload(notice: Notice, root_execution_id: str) -> dict[str, Any]:
    """Mistral's data, masked, with the ids under the names that all our messages use."""
    masked: dict[str, Any] = mask(notice.data)
    return masked | {
        "execution_id": notice.execution_id,
        "root_execution_id": root_execution_id,
        "event": notice.event,
        "timestamp": notice.timestamp,
    }


def message(notice: Notice, root_execution_id: str) -> dict[str, Any]:
    """The notification, as ``oslo_messaging.Notifier`` forms it."""
    return {
        "message_id": notice.message_id,
        "publisher_id": PUBLISHER_ID,
        "event_type": event_type(notice),
        "priority": "INFO",
        "payload": payload(notice, root_execution_id),
        # Readers of notifications expect no offset.
        "timestamp": str(datetime.now(UTC).replace(tzinfo=None)),
    }


class Roots:
    """The root of each workflow execution: heard from its events, else looked up.

    Args:
        look_up: Finds the root of an execution (id, security context) in Mistral's database.
        limit: Executions that are remembered.
    """

    def __init__(self, look_up: Callable[[str, Any], str], limit: int = ROOTS_KEPT) -> None:
        self._look_up = look_up
        self._limit = limit
        self._known: OrderedDict[str, str] = OrderedDict()

    def of(self, notice: Notice) -> str:
        """The root; empty if it cannot be found: an event without it is better than none."""
        if not notice.about_task:
            # Mistral names the root of a child only.
            root = str(notice.data.get("root_execution_id") or notice.subject_id)
        elif notice.execution_id in self._known:
            root = self._known[notice.execution_id]
        else:
            root = self._found(notice)
        return self._remember(notice.execution_id, root) if root else ""

    def _found(self, notice: Notice) -> str:
        try:
            return self._look_up(notice.execution_id, notice.context)
        except Exception as error:
            LOG.warning("No root of execution %s: %s", notice.execution_id, error)
            return ""

    def _remember(self, execution: str, root: str) -> str:
        self._known[execution] = root
        self._known.move_to_end(execution)
        if len(self._known) > self._limit:
            self._known.popitem(last=False)
        return root


def root_in_database(execution_id: str, context: Any) -> str:
    """Read the root of an execution from Mistral's database."""
    from mistral import context as contexts
    from mistral.db.v2 import api

    before = contexts.ctx() if contexts.has_ctx() else None
    contexts.set_ctx(context)
    try:
        with api.transaction(read_only=True):
            found = api.load_workflow_execution(execution_id)
            return str(found.root_execution_id or found.id) if found else ""
    finally:
        contexts.set_ctx(before)


class Bus:
    """The broker of Mistral's own configuration; connected with the first message.

    Args:
        conf: An ``oslo.config`` object; by default Mistral's own.
    """

    def __init__(self, conf: Any = None) -> None:
        self._conf = conf
        self._transport: Any = None

    def send(self, text: Mapping[str, Any]) -> None:
        """Send one notification and wait until the broker has it.

        Raises:
            MessagingException: it was not taken; nothing of it is kept here.
        """
        import oslo_messaging

        if self._transport is None:
            self._transport = oslo_messaging.get_notification_transport(self._settings())
        for topic in self._transport.conf.oslo_messaging_notifications.topics:
            target = oslo_messaging.Target(exchange=EXCHANGE, topic=f"{topic}.info")
            # What the messagingv2 driver does; that one logs an error where it must be known
            # that nothing was sent, makes a new id for each try, and takes no exchange.
            self._transport._send_notification(target, {}, dict(text), version=2.0, retry=1)

    def _settings(self) -> Any:
        if self._conf is None:
            from oslo_config import cfg

            self._conf = cfg.CONF
        return self._conf


class BusPublisher(base.NotificationPublisher):  # type: ignore[misc]  # Mistral ships no types
    """Hands Mistral's events to a thread that sends them; never blocks the engine.

    Args:
        send: Sends a notification; by default to Mistral's own broker.
        look_up: Finds an execution's root; by default in Mistral's own database.
    """

    def __init__(
        self,
        send: Callable[[Mapping[str, Any]], None] | None = None,
        look_up: Callable[[str, Any], str] = root_in_database,
    ) -> None:
        self._bus_send = send or Bus().send
        self._roots = Roots(look_up)
        self._outbox: Outbox[Notice] = Outbox(self._deliver)

    def publish(
        self, ctx: Any, ex_id: str, data: Mapping[str, Any], event: str | None, timestamp: Any,
        **kwargs: Any,
    ) -> None:  # fmt: skip
        """Take an event over; called by Mistral after the change is in its database.

        Args:
            ctx: The caller's security context.
            ex_id: Id of the workflow execution or task execution.
            data: Mistral's description of it.
            event: Mistral's name of the change.
            timestamp: When Mistral's database says that it was changed; not used.
            kwargs: Further settings in ``[notifier] notify``; none are known.
        """
        self._outbox.put(
            Notice(
                message_id=str(uuid.uuid4()),
                subject_id=ex_id,
                event=event,
                data=dict(data),
                # Mistral's own time has whole seconds, and is the former one at a pause.
                timestamp=datetime.now(UTC).isoformat(),
                context=ctx,
            )
        )

    def close(self, patience: float = 2.0) -> bool:
        """Send what is left; whether all was sent within so many seconds."""
        return self._outbox.close(patience)

    def _deliver(self, notice: Notice) -> None:
        self._bus_send(message(notice, self._roots.of(notice)))
