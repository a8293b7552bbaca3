"""Bringing the workbooks in Mistral up to date: all of them, or none.

Mistral changes one workbook at a time. So every definition is validated there first, and when
a change fails nevertheless, what was changed before it is put back.
"""

from __future__ import annotations

import enum
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol
from urllib.parse import quote

from keystoneauth1.session import Session

from tripleo_actions.faults import CallFailed, NotThere
from tripleo_actions.services.rest import Service
from tripleo_worker.errors import InvalidDefinition

LOG = logging.getLogger(__name__)

#: Workbooks of this prefix are ours to remove.
PREFIX = "tripleo."
#: Items asked for at once.
PAGE = 100
_TEXT = {"Content-Type": "text/plain; charset=utf-8"}


class Change(enum.StrEnum):
    """What a workbook or workflow needs."""

    CREATE = "create"
    UPDATE = "update"
    KEEP = "unchanged"
    REMOVE = "remove"


@dataclass(frozen=True)
class Step:
    """One change in Mistral."""

    change: Change
    #: ``workbooks`` or ``workflows``.
    kind: str
    name: str
    #: What Mistral shall have; empty for a removal.
    definition: str = ""
    #: What Mistral has; None where it has nothing.
    before: str | None = None
    #: Workflows that it makes and that Mistral does not have.
    added: tuple[str, ...] = ()


class Store(Protocol):
    """Definitions as Mistral holds them."""

    def names(self, kind: str) -> Sequence[str]:
        """The names of all workbooks or workflows."""

    def definition(self, kind: str, name: str) -> str | None:
        """One definition; None if there is none of that name."""

    def validate(self, definition: str) -> str:
        """What Mistral finds wrong with a workbook; empty if nothing."""

    def create(self, definition: str) -> None:
        """Make a workbook."""

    def update(self, definition: str) -> None:
        """Replace a workbook."""

    def remove(self, kind: str, name: str) -> None:
        """Remove a workbook or workflow; one that is gone is no error."""


class MistralStore(Service):
    """The workbooks and workflows of the caller's project."""

    def __init__(self, session: Session) -> None:
        super().__init__(session, "workflow", "Mistral", "/v2")

    def names(self, kind: str) -> list[str]:
        """The names of all workbooks or workflows."""
        found: list[str] = []
        marker: dict[str, str] = {}
        while True:
            params = {"limit": str(PAGE), "fields": "id,name", **marker}
            page = self.call("GET", f"/{kind}", params=params).json()[kind]
            found += [item["name"] for item in page]
            if len(page) < PAGE:
                return found
            marker = {"marker": page[-1]["id"]}

    def definition(self, kind: str, name: str) -> str | None:
        """One definition; None if there is none of that name."""
        try:
            found: dict[str, Any] = self.call("GET", _path(kind, name)).json()
        except NotThere:
            return None
        return str(found.get("definition") or "")

    def validate(self, definition: str) -> str:
        """What Mistral finds wrong with a workbook; empty if nothing."""
        reply = self.call("POST", "/workbooks/validate", data=definition.encode(), headers=_TEXT)
        said = reply.json()
        return "" if said.get("valid") else str(said.get("error") or "no reason given")

    def create(self, definition: str) -> None:
        """Make a workbook."""
        self.call("POST", "/workbooks", data=definition.encode(), headers=_TEXT)

    def update(self, definition: str) -> None:
        """Replace a workbook."""
        self.call("PUT", "/workbooks", data=definition.encode(), headers=_TEXT)

    def remove(self, kind: str, name: str) -> None:
        """Remove a workbook or workflow; one that is gone is no error."""
        try:
            self.call("DELETE", _path(kind, name))
        except NotThere:
            LOG.debug("%s was gone already.", name)


def _path(kind: str, name: str) -> str:
    return f"/{kind}/{quote(name, safe='')}"


def plan(store: Store, workbooks: Mapping[str, str], workflows: Iterable[str]) -> list[Step]:
    """What has to change so that Mistral has the workbooks as they are given.

    Args:
        store: Mistral.
        workbooks: Definitions by name.
        workflows: Full names of the workflows in them: one that Mistral has without its
            workbook's knowledge is made again with the workbook.

    Raises:
        CallFailed: Mistral cannot be read.
    """
    lacking = set(workflows) - set(store.names("workflows"))
    steps = []
    for name, definition in workbooks.items():
        before = store.definition("workbooks", name)
        added = tuple(sorted(one for one in lacking if one.rpartition(".")[0] == name))
        if before is None:
            change = Change.CREATE
        else:
            change = Change.KEEP if before == definition and not added else Change.UPDATE
        steps.append(Step(change, "workbooks", name, definition, before, added))
    return steps


def prune(
    store: Store, workbooks: Iterable[str], workflows: Iterable[str], prefix: str = PREFIX
) -> list[Step]:
    """What of ours Mistral has that is shipped no more.

    Deleting a workbook leaves its workflows in Mistral, and updating one leaves those that
    it no longer has; so both kinds are removed by name.
    """
    steps = []
    for kind, kept in (("workbooks", set(workbooks)), ("workflows", set(workflows))):
        for name in sorted(store.names(kind)):
            if name.startswith(prefix) and name not in kept:
                before = store.definition(kind, name)
                steps.append(Step(Change.REMOVE, kind, name, before=before))
    return steps


def apply(store: Store, steps: Sequence[Step]) -> None:
    """Make the changes; if one fails, put back what was changed before it.

    Removals come last, as a removed workflow cannot be put back with its workbook.

    Raises:
        InvalidDefinition: Mistral refuses a definition; nothing was changed.
        CallFailed: Mistral could not make a change; it has what it had before, or the error
            names what it has not.
    """
    changes = [step for step in steps if step.change in _DO]
    _validate(store, changes)
    done: list[Step] = []
    for step in changes:
        try:
            _DO[step.change](store, step)
        except CallFailed as error:
            # The failed one too: Mistral may have made the change and not said so.
            left = _undo(store, [*done, step])
            raise CallFailed(
                "Mistral", error.status, f"{step.kind[:-1]} {step.name}: {error.message}",
                remedy=left or "Everything is as it was before.",
            ) from error  # fmt: skip
        done.append(step)
    for step in steps:
        if step.change is Change.REMOVE:
            store.remove(step.kind, step.name)


_DO: Mapping[Change, Callable[[Store, Step], None]] = {
    Change.CREATE: lambda store, step: store.create(step.definition),
    Change.UPDATE: lambda store, step: store.update(step.definition),
}


def _validate(store: Store, steps: Iterable[Step]) -> None:
    wrong = [f"{step.name}: {why}" for step in steps if (why := store.validate(step.definition))]
    if wrong:
        raise InvalidDefinition(
            "Mistral refuses " + "; ".join(wrong), remedy="Nothing was changed; correct it."
        )


def _undo(store: Store, steps: Sequence[Step]) -> str:
    """Put back the former definitions, last first; what could not be put back, in words."""
    left = []
    for step in reversed(steps):
        try:
            if step.before is None:
                store.remove(step.kind, step.name)
            else:
                store.update(step.before)
            for name in step.added:
                store.remove("workflows", name)
        except CallFailed as error:
            left.append(f"{step.name} ({error.message})")
    return f"Not put back: {', '.join(left)}; run the command again." if left else ""
