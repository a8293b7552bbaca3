"""The upload of a plan's templates into its Swift container.

One archive that Swift unpacks where it can, else the files side by side.
"""

from __future__ import annotations

import io
import tarfile
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import IO, Any
from urllib.parse import quote, urlsplit

from tripleo_worker.client.calls import reason
from tripleo_worker.client.folder import Template
from tripleo_worker.errors import InvalidInput, ServiceError

#: Metadata of a plan's container, which the actions set when they make it.
CONTAINER_MARK = "X-Container-Meta-Usage-Tripleo"
#: Files sent side by side.
CONNECTIONS = 8
#: Seconds for one call; an archive is unpacked within it.
CALL_LIMIT = 300.0
#: Bytes of an archive that are kept in memory; a larger one goes to a temporary file.
_IN_MEMORY = 16 * 1024 * 1024
_PAGE = 10_000


class Store:
    """The Swift account of one project."""

    def __init__(self, session: Any, *, region: str | None = None, interface: str = "public"):
        self._session, self._region, self._interface = session, region, interface
        self._url = ""

    def check_free(self, container: str) -> bool:
        """Make sure that a container can take a plan's templates.

        Returns:
            Whether there is such a container: one that an earlier try left behind.

        Raises:
            InvalidInput: the container holds something else.
        """
        head = self._call("HEAD", _path(container), also=(404,))
        if head.status_code == 404:
            return False
        if CONTAINER_MARK not in head.headers:
            raise InvalidInput(
                f"The Swift container {container} exists and is no plan's.",
                remedy="Choose another name for the plan.",
            )
        return True

    def upload(self, container: str, templates: Sequence[Template]) -> None:
        """Make a container's content that of a folder.

        Raises:
            ServiceError: Swift cannot be reached, or refused a file.
        """
        wanted = {template.path for template in templates}
        stale = [name for name in self._names(container) if name not in wanted]
        self._side_by_side([("DELETE", _path(container, name), None) for name in stale])
        if self._unpacks():
            self._archive(container, templates)
        else:
            self._side_by_side([("PUT", _path(container, one.path), one) for one in templates])

    def _archive(self, container: str, templates: Sequence[Template]) -> None:
        with tempfile.SpooledTemporaryFile(_IN_MEMORY) as file:
            _pack(file, templates)
            reply = self._call(
                "PUT",
                f"{_path(container)}?extract-archive=tar.gz",
                data=file,
                headers={"Accept": "application/json", "Content-Type": "application/gzip"},
            )
        said = reply.json()
        if said.get("Errors") or said.get("Number Files Created") != len(templates):
            first = next((f"{name}: {why}" for name, why in said.get("Errors", [])), "")
            text = first or said.get("Response Body") or said.get("Response Status")
            raise ServiceError(f"Swift did not take all templates: {text}.")

    def _side_by_side(self, calls: Sequence[tuple[str, str, Template | None]]) -> None:
        def send(call: tuple[str, str, Template | None]) -> None:
            method, path, template = call
            body = None if template is None else template.file.read_bytes()
            self._call(method, path, data=body, also=(404,) if method == "DELETE" else ())

        with ThreadPoolExecutor(CONNECTIONS) as pool:
            list(pool.map(send, calls))

    def _names(self, container: str) -> list[str]:
        found: list[str] = []
        while True:
            marker = quote(found[-1], safe="") if found else ""
            query = f"?format=json&limit={_PAGE}&marker={marker}"
            reply = self._call("GET", _path(container) + query)
            page = [entry["name"] for entry in reply.json()] if reply.status_code != 204 else []
            found += page
            if len(page) < _PAGE:
                return found

    def _unpacks(self) -> bool:
        """Whether Swift says that it unpacks archives."""
        parts = urlsplit(self._account())
        path = parts.path.rsplit("/v1/", 1)[0] if "/v1/" in parts.path else ""
        reply = self._call("GET", "", url=f"{parts.scheme}://{parts.netloc}{path}/info", also=None)
        try:
            return bool(reply.status_code == 200 and "bulk_upload" in reply.json())
        except ValueError:
            return False

    def _account(self) -> str:
        if not self._url:
            url = self._session.get_endpoint(
                service_type="object-store", interface=self._interface, region_name=self._region
            )
            if not url:
                raise ServiceError(
                    "The service catalog has no Swift (object-store).",
                    remedy="Choose the undercloud with OS_CLOUD or --os-cloud.",
                )
            self._url = str(url).rstrip("/")
        return self._url

    def _call(
        self,
        method: str,
        path: str,
        *,
        url: str = "",
        also: tuple[int, ...] | None = (),
        **arguments: Any,
    ) -> Any:
        """Call Swift; ``also`` gives statuses that are no errors, None means all."""
        from keystoneauth1 import exceptions

        try:
            reply = self._session.request(
                url or self._account() + path,
                method,
                raise_exc=False,
                timeout=CALL_LIMIT,
                **arguments,
            )
        except exceptions.ClientException as error:
            raise ServiceError(
                f"Swift could not be reached: {reason(error)}", remedy="Check that Swift runs."
            ) from error
        if also is not None and reply.status_code >= 400 and reply.status_code not in also:
            said = (reply.text or "").strip()[:300] or f"HTTP {reply.status_code}"
            raise ServiceError(f"Swift refused {method} {path.partition('?')[0]}: {said}")
        return reply


def _pack(file: IO[bytes], templates: Sequence[Template]) -> None:
    with tarfile.open(fileobj=file, mode="w:gz", compresslevel=3) as archive:
        for template in templates:
            body = template.file.read_bytes()
            entry = tarfile.TarInfo(template.path)
            entry.size = len(body)
            archive.addfile(entry, io.BytesIO(body))
    file.seek(0)


def _path(container: str, name: str | None = None) -> str:
    path = "/" + quote(container, safe="")
    return path if name is None else f"{path}/{quote(name)}"
