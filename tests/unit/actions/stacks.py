"""A Heat that is told to create, update and delete, and a queue that remembers."""

from __future__ import annotations

from tests.unit.actions import twins
from tripleo_actions.faults import CallFailed


class Heat(twins.Heat):
    """One stack; ``fails`` maps a call to the error that it ends in once."""

    def __init__(self):
        super().__init__()
        self.fails = {}
        self.asked = []
        self.previews = []
        self.listing = []
        self.held = {}

    def _ask(self, call, request=None):
        self.asked.append((call, request))
        if call in self.fails:
            raise self.fails.pop(call)

    def calls(self):
        return [call for call, _ in self.asked]

    def preview(self, name, request):
        self._ask("preview", request)
        return self.previews.pop(0) if self.previews else [{"resource_name": "A"}]

    def deployed(self, name, ident):
        return self.held

    def resources(self, name, ident, status=""):
        self._ask("resources")
        return self.listing

    def create(self, name, request, minutes):
        self._ask("create", request)
        self.stack_found = stack("CREATE_IN_PROGRESS")
        return "new"

    def update(self, name, ident, request, minutes):
        self._ask("update", request)
        self.stack_found = stack("UPDATE_IN_PROGRESS", "t2")

    def delete_stack(self, name, ident):
        self._ask("delete")
        self.stack_found = stack("DELETE_IN_PROGRESS")


class Zaqar:
    """Queues; ``refusals`` are raised first, one a post."""

    def __init__(self):
        self.posted = []
        self.refusals = []

    def post(self, queue, body, ttl):
        if self.refusals:
            raise self.refusals.pop(0)
        self.posted.append((queue, body))
        return f"id{len(self.posted)}"

    def payloads(self, queue):
        return [body["payload"] for where, body in self.posted if where == queue]


class Services(twins.Services):
    """What an action is given."""

    def __init__(self, execution_id="e1"):
        super().__init__(execution_id)
        self.heat, self.zaqar = Heat(), Zaqar()
        self.mistral.states[execution_id] = "RUNNING"
        self.swift.object_url = lambda container, name: f"memory/{container}/{name}"


def stack(word, updated="t1", **more):
    """A stack as Heat shows it."""
    return {"id": "s1", "stack_status": word, "updated_time": updated, **more}


def lost(status=None):
    """The error of a service whose reply did not arrive."""
    return CallFailed("Heat", status, "no answer")
