"""A worker's gateway in this process, that does what a test's script says, and its cloud."""

from __future__ import annotations

import json
import threading
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from http import HTTPStatus
from socket import SHUT_RDWR
from types import TracebackType
from typing import Any, Self

import msgspec
from keystoneauth1 import exceptions
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response
from websockets.protocol import State
from websockets.sync.server import Server, ServerConnection, serve

from tests.unit.operations.scripts import ROOT, at
from tripleo_worker.client.cloud import Cloud
from tripleo_worker.client.waiting import ExecutionState
from tripleo_worker.errors import InvalidInput, ServiceError
from tripleo_worker.events import Event, Position, Status, encode
from tripleo_worker.operations import Operation, brief, fold

EPOCH = "e1"


class ScriptedWorker:
    """Serves a journal that a test appends to, on a websocket and by REST."""

    def __init__(self) -> None:
        self._journal: list[Event] = []
        self._changed = threading.Condition()
        self._sockets: set[ServerConnection] = set()
        self._server: Server | None = None
        self._port = 0
        self.tokens: list[str] = []
        self.subscriptions: list[dict[str, Any]] = []
        #: Status that handshakes are answered with instead, while it is set.
        self.handshake: HTTPStatus | None = None
        #: Positions below it can no longer be resumed from.
        self.floor = 0

    def __enter__(self) -> Self:
        self.up()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.down()

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self._port}"

    @property
    def head(self) -> str:
        """The newest position."""
        return str(Position(EPOCH, len(self._journal)))

    def up(self) -> None:
        """Start, or start again at the same address."""
        self._server = serve(self._serve, "127.0.0.1", self._port, process_request=self._answer)
        self._port = self._server.socket.getsockname()[1]
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def down(self) -> None:
        """Die: every socket is cut."""
        server, self._server = self._server, None
        self.cut()
        if server is not None:
            server.shutdown()

    def cut(self) -> None:
        """Cut every connection without a word."""
        for socket in list(self._sockets):
            self._sockets.discard(socket)
            with suppress(OSError):
                socket.socket.shutdown(SHUT_RDWR)
        with self._changed:
            self._changed.notify_all()

    def close(self, code: int, reason: str = "") -> None:
        """Close every stream with a code."""
        for socket in list(self._sockets):
            socket.close(code, reason)

    def append(self, *events: Event) -> None:
        """Store events, which goes out to all."""
        with self._changed:
            for event in events:
                self._journal.append(event.placed(Position(EPOCH, len(self._journal) + 1)))
            self._changed.notify_all()

    def _answer(self, connection: ServerConnection, request: Request) -> Response | None:
        path = request.path.partition("?")[0]
        if path == "/v1/position":
            return connection.respond(HTTPStatus.OK, json.dumps({"position": self.head}))
        if path == "/v1/operations":
            return connection.respond(HTTPStatus.OK, self._operations())
        if self.handshake is not None:
            return connection.respond(self.handshake, "")
        return None

    def _operations(self) -> str:
        known = [brief(one) for one in self._folded()]
        return msgspec.json.encode({"operations": known}).decode()

    def _folded(self) -> list[Operation]:
        known: dict[str, Operation | None] = {}
        for event in self._journal:
            root = event.rootexecutionid
            known[root] = fold(known.get(root), event)
        return [one for one in known.values() if one is not None]

    def _serve(self, socket: ServerConnection) -> None:
        self._sockets.add(socket)
        try:
            self._stream(socket)
        except (ConnectionClosed, OSError):
            return
        finally:
            self._sockets.discard(socket)

    def _stream(self, socket: ServerConnection) -> None:
        self.tokens.append(json.loads(socket.recv())["authenticate"]["token"])
        socket.send(json.dumps({"authenticated": {"project_id": "p1"}}))
        wanted = json.loads(socket.recv())["subscribe"]
        self.subscriptions.append(wanted)
        since = wanted.get("since", "latest")
        place = len(self._journal) if since == "latest" else 0
        if ":" in since:
            place = Position.parse(since).sequence
        recovered = place >= self.floor
        place = place if recovered else len(self._journal)
        answer = {
            "recovered": recovered,
            "position": str(Position(EPOCH, place)),
            "operations": [] if recovered else self._folded(),
        }
        socket.send(msgspec.json.encode({"subscribed": answer}).decode())
        self._follow(socket, place, wanted.get("execution", ""))

    def _follow(self, socket: ServerConnection, place: int, execution: str) -> None:
        while socket in self._sockets and socket.protocol.state is State.OPEN:
            with self._changed:
                if len(self._journal) <= place:
                    self._changed.wait(0.05)
                page = self._journal[place:]
            for event in page:
                if execution in ("", event.executionid, event.rootexecutionid):
                    socket.send('{"event":' + encode(event).decode() + "}")
            place += len(page)


class ScriptedSession:
    """As much of a keystoneauth session as the client uses."""

    timeout = 5

    def __init__(self, worker: ScriptedWorker | None) -> None:
        self._worker = worker
        self._tokens = 1

    def get_token(self) -> str:
        """A token, another one after each :meth:`invalidate`."""
        return f"token-{self._tokens}"

    def invalidate(self) -> None:
        """Forget the token."""
        self._tokens += 1

    def get_endpoint(self, service_type: str = "", **_: Any) -> str | None:
        """The worker's address."""
        return self._worker.url if self._worker and service_type == "tripleo-worker" else None

    def get(self, url: str, params: Mapping[str, str], **_: Any) -> Any:
        """Read a page."""
        query = urllib.parse.urlencode(params)
        try:
            with urllib.request.urlopen(f"{url}?{query}", timeout=5) as reply:  # noqa: S310
                text = reply.read()
        except OSError as error:
            raise exceptions.ConnectFailure(str(error)) from error
        return _Reply(text)


class _Reply:
    def __init__(self, text: bytes) -> None:
        self._text = text

    def json(self) -> Any:
        """The page."""
        return json.loads(self._text)


class ScriptedEngine:
    """A Mistral whose executions stand as a test says."""

    def __init__(self, on_start: Callable[[str], None] = lambda _: None) -> None:
        self._on_start = on_start
        #: The status of the execution; None: Mistral does not answer.
        self.status: Status | None = Status.RUNNING
        self.message = ""
        self.started: list[tuple[str, Mapping[str, Any]]] = []
        self.actions: list[tuple[str, Mapping[str, Any]]] = []
        self.results: dict[str, Any] = {}
        self.asked = 0

    def start(self, workflow: str, inputs: Mapping[str, Any]) -> str:
        """Start the one execution there is."""
        self.started.append((workflow, inputs))
        self._on_start(workflow)
        return ROOT

    def run_action(self, action: str, inputs: Mapping[str, Any]) -> Any:
        """Run an action: its result is given, or raised."""
        self.actions.append((action, inputs))
        result = self.results.get(action)
        if isinstance(result, Exception):
            raise result
        return result

    def state(self, execution: str) -> ExecutionState:
        """How the execution stands."""
        self.asked += 1
        if execution != ROOT:
            raise InvalidInput("Mistral did not read the execution: not found")
        if self.status is None:
            raise ServiceError("Mistral could not be reached.")
        return ExecutionState(
            id=ROOT,
            workflow="tripleo.deployment.v1.deploy_plan",
            status=self.status,
            message=self.message,
            created=at(0),
            updated=at(5),
        )

    def latest(self) -> str | None:
        """The one execution there is."""
        return ROOT if self.started else None


def cloud(worker: ScriptedWorker | None, engine: ScriptedEngine) -> Cloud:
    """A cloud of scripted services."""
    made = Cloud(ScriptedSession(worker))
    made.engine = engine  # type: ignore[assignment] # as much of it as is used
    return made


def story(*parts: Event | Iterable[Event]) -> list[Event]:
    """Events in a row."""
    return [event for part in parts for event in ([part] if isinstance(part, Event) else part)]
