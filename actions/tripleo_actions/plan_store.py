"""Where a plan lives: its environment in Mistral, its files and their mirror in Swift.

``plan-environment.yaml`` mirrors the Mistral Environment and is rewritten with every change.
Clients in the field write it too: what we wrote carries a mark with its digest, so a file
without one is a client's change and is taken up. A change that fails half-way is undone.
"""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any

from tripleo_actions import names, plan_environment, yaml_guard
from tripleo_actions.base import Services
from tripleo_actions.faults import CallFailed, NotThere
from tripleo_actions.locks import Lease
from tripleo_actions.plan_environment import FILE, PlanEnvironment
from tripleo_actions.services.swift import Stored, Swift
from tripleo_worker.errors import InvalidInput

#: Metadata of a plan's container, and of a mirror that we wrote.
CONTAINER_MARK = "usage-tripleo"
MIRROR_MARK = "tripleo-digest"

#: Folders of a plan's container that hold no part of the plan.
_NOT_THE_PLAN = ("messages/",)

#: Bytes of one file of a plan that is read, and of all files kept between actions.
_MAX_FILE = 8 * 1024 * 1024
_KEPT_BYTES = 32 * 1024 * 1024


@dataclass(frozen=True, kw_only=True)
class Plan:
    """A plan as it was read."""

    name: str
    environment: PlanEnvironment
    #: Plan path -> text; files that are not UTF-8 are left out.
    files: Mapping[str, str]
    #: Digests of all its files.
    etags: Mapping[str, str]
    #: The environment that Mistral holds; None if there is none yet.
    held: Mapping[str, Any] | None
    #: The mirror as it stands in Swift; None if there is none.
    mirror: bytes | None


class _Kept:
    """Contents of files between actions, by account, container, name and digest."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._bodies: OrderedDict[tuple[str, str, str, str], bytes] = OrderedDict()
        self._size = 0

    def get(self, key: tuple[str, str, str, str]) -> bytes | None:
        with self._lock:
            body = self._bodies.get(key)
            if body is not None:
                self._bodies.move_to_end(key)
            return body

    def put(self, key: tuple[str, str, str, str], body: bytes) -> None:
        with self._lock:
            self._size += len(body) - len(self._bodies.pop(key, b""))
            self._bodies[key] = body
            while self._size > _KEPT_BYTES:
                self._size -= len(self._bodies.popitem(last=False)[1])


_kept = _Kept()


def is_plan(variables: Mapping[str, Any]) -> bool:
    """Whether a Mistral Environment is a plan's."""
    return "template" in variables and isinstance(variables.get("environments"), list)


def read_environment(services: Services, name: str) -> dict[str, Any] | None:
    """The plan environment that Mistral holds, or None.

    Raises:
        InvalidInput: there is an environment of that name, but it is no plan's.
    """
    try:
        variables = services.mistral.environment(name)
    except NotThere:
        return None
    if not is_plan(variables):
        raise InvalidInput(f"{name} is a Mistral Environment, but no plan.")
    return variables


def read(services: Services, name: str, *, new: bool = False) -> Plan:
    """Read a plan, with what clients changed in its mirror.

    Args:
        services: The caller's.
        name: The plan.
        new: Whether it may lack its Mistral Environment.

    Raises:
        NotThere: there is no such plan.
        InvalidInput: its mirror is faulty.
    """
    names.plan_name(name)
    held = read_environment(services, name)
    if held is None and not new:
        raise NotThere("Mistral", 404, f"There is no plan {name}.", remedy="List the plans.")
    listing = _listing(services.swift, name)
    bodies = _bodies(services.swift, name, listing)
    environment, mirror = _environment(services.swift, name, held, FILE in bodies)
    return Plan(
        name=name,
        environment=environment,
        files=_texts(bodies),
        etags={stored.name: stored.etag for stored in listing},
        held=held,
        mirror=mirror,
    )


def write(
    services: Services,
    lease: Lease,
    plan: Plan,
    environment: PlanEnvironment,
    outputs: Mapping[str, str] | None = None,
) -> Plan:
    """Store a changed plan, whole or not at all.

    Args:
        services: The caller's.
        lease: The lock that is held on the plan.
        plan: As it was read.
        environment: Its new environment.
        outputs: Rendered files; those that changed are written.

    Returns:
        The plan as it stands now.

    Raises:
        PlanLocked: the lock was lost; nothing was written.
        CallFailed: a service refused; what was written is undone.
    """
    lease.confirm()
    swift, name = services.swift, plan.name
    changed = {p: t.encode() for p, t in (outputs or {}).items() if plan.etags.get(p) != _md5(t)}
    mirror = yaml_guard.dump(environment)
    with ExitStack() as undo:
        _write_environment(services, plan, environment, undo)
        for path in changed:
            undo.callback(_quietly, _restoring(swift, plan, path))
        swift.put_many(name, changed)
        undo.callback(_quietly, lambda: _restore_mirror(swift, plan))
        swift.put(name, FILE, mirror, {f"X-Object-Meta-{MIRROR_MARK}": _digest(mirror)})
        undo.pop_all()
    return replace(
        plan,
        environment=environment,
        held=environment,
        mirror=mirror,
        files={**plan.files, **(outputs or {}), FILE: mirror.decode()},
    )


def _write_environment(
    services: Services, plan: Plan, environment: PlanEnvironment, undo: ExitStack
) -> None:
    mistral, name = services.mistral, plan.name
    description = environment["description"]
    held = plan.held
    if held is None:
        mistral.create_environment(name, environment, description)
        undo.callback(_quietly, lambda: mistral.delete_environment(name))
    elif held != environment:
        undo.callback(_quietly, lambda: mistral.update_environment(name, dict(held), description))
        mistral.update_environment(name, environment, description)


def _restoring(swift: Swift, plan: Plan, path: str) -> Callable[[], None]:
    text = plan.files.get(path)
    if text is None:
        return lambda: swift.delete(plan.name, path)
    return lambda: swift.put(plan.name, path, text.encode())


def _restore_mirror(swift: Swift, plan: Plan) -> None:
    if plan.mirror is None:
        swift.delete(plan.name, FILE)
    else:
        ours = plan.held is not None and plan.environment == plan.held
        mark = {f"X-Object-Meta-{MIRROR_MARK}": _digest(plan.mirror)} if ours else {}
        swift.put(plan.name, FILE, plan.mirror, mark)


def _quietly(step: Callable[[], None]) -> None:
    # The first error is the one to report.
    try:
        step()
    except CallFailed:
        return


def _environment(
    swift: Swift, name: str, held: Mapping[str, Any] | None, mirrored: bool
) -> tuple[PlanEnvironment, bytes | None]:
    fetched = swift.get(name, FILE) if mirrored else None
    body = fetched.body if fetched else None
    if fetched and fetched.metadata.get(MIRROR_MARK) != _digest(fetched.body):
        found = plan_environment.parse(fetched.body, name)
        return plan_environment.taken_up(found, held), body
    if held is not None:
        return plan_environment.checked(held, name), body
    if fetched:
        return plan_environment.parse(fetched.body, name), body
    return {}, None


def _listing(swift: Swift, name: str) -> list[Stored]:
    try:
        found = swift.objects(name)
    except NotThere as error:
        remedy = "Create the container and upload the plan's templates first."
        raise NotThere("Swift", 404, f"There is no container {name}.", remedy=remedy) from error
    plan_files = [stored for stored in found if not stored.name.startswith(_NOT_THE_PLAN)]
    for stored in plan_files:
        names.plan_path(stored.name, f"container {name}")
    return plan_files


def _bodies(swift: Swift, name: str, listing: list[Stored]) -> dict[str, bytes]:
    account = swift.url
    readable = [s for s in listing if s.size <= _MAX_FILE and not s.name.endswith("/")]
    keys = {stored.name: (account, name, stored.name, stored.etag) for stored in readable}
    found = {path: body for path, key in keys.items() if (body := _kept.get(key)) is not None}
    fetched = swift.get_many(name, [path for path in keys if path not in found])
    for path, body in fetched.items():
        if _digest_md5(body) == keys[path][3]:
            _kept.put(keys[path], body)
    return {path: body for path in keys if (body := found.get(path, fetched.get(path))) is not None}


def _texts(bodies: Mapping[str, bytes]) -> dict[str, str]:
    texts: dict[str, str] = {}
    for path, body in bodies.items():
        try:
            texts[path] = body.decode()
        except UnicodeDecodeError:
            continue
    return texts


def _digest(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()


def _md5(text: str) -> str:
    return _digest_md5(text.encode())


def _digest_md5(body: bytes) -> str:
    # Swift's ETag, compared only to see whether a file changed.
    return hashlib.md5(body, usedforsecurity=False).hexdigest()
