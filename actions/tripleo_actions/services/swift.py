"""Swift: the containers that hold plans' templates, and the objects that serve as locks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from keystoneauth1.session import Session

from tripleo_actions.faults import NotThere
from tripleo_actions.services.rest import Service

#: Names asked for at once; Swift's own default limit.
PAGE = 10_000

#: Objects read or written side by side.
CONNECTIONS = 8


@dataclass(frozen=True, kw_only=True)
class Stored:
    """An object as a listing shows it."""

    name: str
    #: MD5 of the content, in hex.
    etag: str
    #: Bytes.
    size: int


@dataclass(frozen=True, kw_only=True)
class Fetched:
    """An object's content with its own metadata, names in lower case without their prefix."""

    body: bytes
    etag: str
    metadata: Mapping[str, str]


class Swift(Service):
    """The object store of the caller's project."""

    def __init__(self, session: Session) -> None:
        super().__init__(session, "object-store", "Swift")

    def containers(self) -> list[str]:
        """The names of all containers."""
        return [entry["name"] for entry in self._list("")]

    def create_container(self, container: str, metadata: Mapping[str, str]) -> None:
        """Make a container; one that exists takes the metadata on."""
        headers = {f"X-Container-Meta-{key}": value for key, value in metadata.items()}
        self.call("PUT", _path(container), headers=headers)

    def container_metadata(self, container: str) -> dict[str, str]:
        """A container's own metadata, names in lower case without their prefix.

        Raises:
            NotThere: there is no such container.
        """
        return _metadata(self.call("HEAD", _path(container)).headers, "x-container-meta-")

    def objects(self, container: str, prefix: str = "") -> list[Stored]:
        """Every object of a container.

        Raises:
            NotThere: there is no such container.
        """
        return [
            Stored(name=entry["name"], etag=entry["hash"], size=entry["bytes"])
            for entry in self._list(_path(container), prefix)
        ]

    def get(self, container: str, name: str) -> Fetched:
        """Read one object.

        Raises:
            NotThere: there is no such object.
        """
        reply = self.call("GET", _path(container, name))
        metadata = _metadata(reply.headers, "x-object-meta-")
        return Fetched(
            body=reply.content, etag=reply.headers.get("ETag", "").strip('"'), metadata=metadata
        )

    def get_many(self, container: str, names: Iterable[str]) -> dict[str, bytes]:
        """Read several objects side by side; those that vanished meanwhile are left out."""
        wanted = list(names)
        with ThreadPoolExecutor(CONNECTIONS) as pool:
            bodies = pool.map(lambda name: self._body(container, name), wanted)
            return {n: b for n, b in zip(wanted, bodies, strict=True) if b is not None}

    def put(
        self, container: str, name: str, body: bytes, headers: Mapping[str, str] | None = None
    ) -> None:
        """Write one object."""
        self.call("PUT", _path(container, name), data=body, headers=dict(headers or {}))

    def put_many(self, container: str, bodies: Mapping[str, bytes]) -> None:
        """Write several objects side by side; the first refusal is raised."""
        with ThreadPoolExecutor(CONNECTIONS) as pool:
            list(pool.map(lambda item: self.put(container, *item), bodies.items()))

    def create(self, container: str, name: str, body: bytes, *, seconds: int) -> bool:
        """Write an object only if there is none, to vanish by itself after ``seconds``.

        Returns:
            False if the object exists.

        Raises:
            NotThere: there is no such container.
        """
        headers = {"If-None-Match": "*", "X-Delete-After": str(seconds)}
        reply = self.call(
            "PUT", _path(container, name), data=body, headers=headers, also=(409, 412)
        )
        return bool(reply.status_code < 300)

    def delete(self, container: str, name: str) -> None:
        """Remove one object; one that is gone is no error."""
        self.call("DELETE", _path(container, name), also=(404,))

    def delete_container(self, container: str) -> None:
        """Remove a container with all that it holds; one that is gone is no error."""
        try:
            names = [stored.name for stored in self.objects(container)]
        except NotThere:
            return
        with ThreadPoolExecutor(CONNECTIONS) as pool:
            list(pool.map(lambda name: self.delete(container, name), names))
        self.call("DELETE", _path(container), also=(404,))

    def object_url(self, container: str, name: str) -> str:
        """Where an object can be read with a token."""
        return self.url + _path(container, name)

    def _body(self, container: str, name: str) -> bytes | None:
        try:
            return self.get(container, name).body
        except NotThere:
            return None

    def _list(self, path: str, prefix: str = "") -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        while True:
            marker = found[-1]["name"] if found else ""
            params = {"format": "json", "limit": str(PAGE), "marker": marker, "prefix": prefix}
            reply = self.call("GET", path, params=params)
            page = reply.json() if reply.status_code != 204 else []
            found += page
            if len(page) < PAGE:
                return found


def _path(container: str, name: str | None = None) -> str:
    path = "/" + quote(container, safe="")
    return path if name is None else f"{path}/{quote(name)}"


def _metadata(headers: Mapping[str, str], prefix: str) -> dict[str, str]:
    lowered = {key.lower(): value for key, value in headers.items()}
    return {k.removeprefix(prefix): v for k, v in lowered.items() if k.startswith(prefix)}
