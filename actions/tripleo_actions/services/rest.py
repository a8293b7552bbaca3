"""One way to call a service: a path below its endpoint, a timeout, errors in one form."""

from __future__ import annotations

import json
import re
from typing import Any

import requests
from keystoneauth1 import adapter
from keystoneauth1 import exceptions as ksa
from keystoneauth1.session import Session

from tripleo_actions.faults import CallFailed, NotThere

#: A connection that is refused is tried again so often, with growing pauses.
CONNECT_RETRIES = 3

_TAGS = re.compile(r"<[^>]+>")


class Service:
    """A service of the caller's cloud.

    Args:
        session: A session with the caller's token.
        service_type: The official type; the catalog may use an alias.
        name: What people call it, for errors.
        suffix: A version that the endpoint's path must end in.
    """

    def __init__(self, session: Session, service_type: str, name: str, suffix: str = "") -> None:
        self.name = name
        self._suffix = suffix
        self._adapter = adapter.Adapter(
            session, service_type=service_type, connect_retries=CONNECT_RETRIES, raise_exc=False
        )

    @property
    def url(self) -> str:
        """The service's endpoint with its version, without a slash at the end.

        Raises:
            CallFailed: the catalog does not name the service.
        """
        try:
            found = self._adapter.get_endpoint()
        except ksa.ClientException as error:
            raise CallFailed(self.name, None, f"Keystone cannot be reached: {error}") from error
        if not found:
            raise CallFailed(self.name, None, f"The catalog has no endpoint for {self.name}.")
        url = str(found).rstrip("/")
        return url if not self._suffix or url.endswith(self._suffix) else url + self._suffix

    def call(
        self, method: str, path: str, *, also: tuple[int, ...] = (), **options: Any
    ) -> requests.Response:
        """Call the service.

        Args:
            method: HTTP method.
            path: Below the endpoint, with its leading slash, quoted.
            also: Statuses beyond 2xx that are an answer and no error.
            options: As keystoneauth's ``request`` takes them: ``json``, ``params``, ``timeout``.

        Raises:
            NotThere: HTTP 404.
            CallFailed: any other refusal, or no answer.
        """
        try:
            reply: requests.Response = self._adapter.request(self.url + path, method, **options)
        except ksa.ClientException as error:
            raise CallFailed(self.name, None, f"{self.name} did not answer: {error}") from error
        if reply.status_code < 300 or reply.status_code in also:
            return reply
        kind = NotThere if reply.status_code == 404 else CallFailed
        raise kind(self.name, reply.status_code, refusal(self.name, reply))


def refusal(name: str, reply: requests.Response) -> str:
    """A service's own words for why it refused, with its name and the HTTP status."""
    words = _words(reply.text)
    return f"{name} answered {reply.status_code}: {words or reply.reason or 'no reason given'}"


def _words(body: str) -> str:
    try:
        data = json.loads(body)
    except ValueError:
        return " ".join(_TAGS.sub(" ", body).split())
    match data:
        case {"error": {"message": str(text)}} | {"faultstring": str(text)}:
            return text
        case {"error_message": {"faultstring": str(text)}} | {"error_message": str(text)}:
            return text
        case {"title": str(title), "description": str(text)}:
            return f"{title}: {text}"
    return body
