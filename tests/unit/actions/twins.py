"""Swift, Mistral and Heat in memory, as far as plans and locks need them."""

from __future__ import annotations

import copy
import hashlib

from tripleo_actions.faults import CallFailed, NotThere
from tripleo_actions.services.swift import Fetched, Stored


class Swift:
    """Containers of objects; ``refuse`` names a path whose next write fails."""

    url = "memory"

    def __init__(self):
        self.held = {}
        self.marks = {}
        self.refuse = None

    def create_container(self, container, metadata):
        self.held.setdefault(container, {})
        self.marks.setdefault(container, {}).update(metadata)

    def container_metadata(self, container):
        self._container(container)
        return self.marks[container]

    def objects(self, container, prefix=""):
        return [
            Stored(name=name, etag=_md5(body), size=len(body))
            for name, (body, _) in sorted(self._container(container).items())
            if name.startswith(prefix)
        ]

    def get(self, container, name):
        try:
            body, metadata = self._container(container)[name]
        except KeyError:
            raise NotThere("Swift", 404, f"There is no {name}.") from None
        return Fetched(body=body, etag=_md5(body), metadata=metadata)

    def get_many(self, container, names):
        held = self._container(container)
        return {name: held[name][0] for name in names if name in held}

    def put(self, container, name, body, headers=None):
        if name == self.refuse:
            self.refuse = None
            raise CallFailed("Swift", 503, "no room")
        kept = {
            key.lower().removeprefix("x-object-meta-"): value
            for key, value in (headers or {}).items()
        }
        self._container(container)[name] = (body, kept)

    def put_many(self, container, bodies):
        for name, body in bodies.items():
            self.put(container, name, body)

    def create(self, container, name, body, *, seconds):
        if name in self._container(container):
            return False
        self.put(container, name, body)
        return True

    def delete(self, container, name):
        self._container(container).pop(name, None)

    def delete_container(self, container):
        self.held.pop(container, None)

    def _container(self, container):
        if container not in self.held:
            raise NotThere("Swift", 404, f"There is no container {container}.")
        return self.held[container]


class Mistral:
    """Environments and the states of executions."""

    def __init__(self):
        self.held = {}
        self.states = {}

    def environment(self, name):
        if name not in self.held:
            raise NotThere("Mistral", 404, f"There is no environment {name}.")
        return copy.deepcopy(self.held[name])

    def environments(self):
        return [{"id": name, "name": name, "variables": v} for name, v in self.held.items()]

    def create_environment(self, name, variables, description):
        self.held[name] = copy.deepcopy(variables)

    update_environment = create_environment

    def delete_environment(self, name):
        self.held.pop(name, None)

    def execution(self, ident):
        if ident not in self.states:
            raise NotThere("Mistral", 404, "none")
        return {"id": ident, "state": self.states[ident]}


class Heat:
    """A stack, and what a validation answers."""

    def __init__(self):
        self.stack_found = None
        self.tree = {"Parameters": {}}
        self.refuses = ""

    def stack(self, name):
        return self.stack_found

    def validate(self, request):
        if self.refuses:
            raise CallFailed("Heat", 400, self.refuses)
        return self.tree


class Services:
    """What an action is given."""

    def __init__(self, execution_id="e1"):
        self.swift, self.mistral, self.heat = Swift(), Mistral(), Heat()
        self.execution_id = execution_id
        self.owner = f"execution {execution_id}"


def _md5(body):
    return hashlib.md5(body, usedforsecurity=False).hexdigest()
