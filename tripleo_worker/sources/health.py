"""How a source fares, noted where it happens."""

from __future__ import annotations

import logging
from datetime import UTC, datetime

from tripleo_worker.ports import Health

LOG = logging.getLogger(__name__)


class Pulse:
    """Health of one source; each outage is logged once when it begins and once when it ends."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._contact: datetime | None = None
        self._trouble = "No contact yet."
        self._since = datetime.now(UTC)

    @property
    def well(self) -> bool:
        """Whether the last that happened was contact."""
        return not self._trouble

    def beat(self) -> None:
        """The service was heard."""
        if self._trouble:
            LOG.info("%s: contact", self._name, extra={"action": "source_contact"})
        self._contact, self._trouble = datetime.now(UTC), ""

    def fault(self, trouble: object) -> None:
        """Something went wrong; it will be tried again."""
        if not self._trouble or self._contact is None:
            self._since = datetime.now(UTC)
            LOG.warning("%s: %s", self._name, trouble, extra={"action": "source_lost"})
        self._trouble = str(trouble) or type(trouble).__name__

    def health(self) -> Health:
        """As :meth:`tripleo_worker.ports.Source.health` gives it."""
        detail = f"{self._trouble} Since {self._since:%H:%M:%S} UTC." if self._trouble else ""
        return Health(ok=not self._trouble, detail=detail, last_contact=self._contact)
