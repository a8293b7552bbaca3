"""The stream over a websocket; one JSON object with one key a frame, in both directions."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
from aiohttp import WSCloseCode, WSMsgType, web

from tripleo_worker.errors import (
    InvalidEvent,
    InvalidInput,
    NotAuthenticated,
    NotAuthorised,
    ServiceError,
    TripleOWorkerError,
)
from tripleo_worker.gateway import answers, asking, policies
from tripleo_worker.gateway.access import expired
from tripleo_worker.gateway.asking import Asked
from tripleo_worker.gateway.house import HOUSE, TOKEN_HEADER, House, TooManyStreams
from tripleo_worker.identity import Caller
from tripleo_worker.ports import Subscription

#: Bytes of a frame that a listener may send.
LARGEST_FRAME = 64 * 1024
#: Seconds that a closing socket may take.
CLOSING = 0.3
#: Seconds between two looks at the token's life.
LOOK = 1.0

SHUTDOWN, SLOW, EXPIRED, NO_JOURNAL, TOO_MANY = 4000, 4001, 4002, 4003, 4004
BAD_FRAME, NOT_AUTHENTICATED, NOT_AUTHORISED = 4500, 4501, 4503

_CODES: tuple[tuple[type[TripleOWorkerError], int], ...] = (
    (NotAuthenticated, NOT_AUTHENTICATED),
    (NotAuthorised, NOT_AUTHORISED),
    (TooManyStreams, TOO_MANY),
    (InvalidInput, BAD_FRAME),
    (ServiceError, NO_JOURNAL),
)


class Token(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The frame ``authenticate``."""

    token: str


class ClientFrame(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a listener sends; exactly one field is set."""

    authenticate: Token | None = None
    subscribe: Asked | None = None


class Closed(Exception):
    """The socket is to be closed with a code; the error is told before, if there is one."""

    def __init__(self, code: int, error: TripleOWorkerError | None = None) -> None:
        super().__init__(code)
        self.code = code
        self.error = error


_decoder = msgspec.json.Decoder(ClientFrame)


def read(text: str | bytes) -> ClientFrame:
    """Read a frame.

    Raises:
        InvalidEvent: it is none.
    """
    try:
        frame = _decoder.decode(text)
    except (msgspec.DecodeError, UnicodeError) as error:
        raise InvalidEvent(
            f"The frame cannot be read: {error}.",
            remedy="Send authenticate or subscribe, as the protocol says.",
        ) from None
    if (frame.authenticate is None) == (frame.subscribe is None):
        raise InvalidEvent("A frame has exactly one key.", remedy="Send authenticate or subscribe.")
    return frame


async def stream(request: web.Request) -> web.StreamResponse:
    """``GET /v1/stream``."""
    socket = web.WebSocketResponse(max_msg_size=LARGEST_FRAME, timeout=CLOSING, compress=False)
    await socket.prepare(request)
    house = request.app[HOUSE]
    with house.serving():
        try:
            await _Listener(house, socket).serve(request.headers.get(TOKEN_HEADER))
        except Closed as closed:
            await _close(request, socket, closed)
        except ConnectionError:
            _abort(request)
    return socket


class _Listener:
    def __init__(self, house: House, socket: web.WebSocketResponse) -> None:
        self._house = house
        self._socket = socket
        self._caller: Caller | None = None

    async def serve(self, token: str | None) -> None:
        try:
            async with asyncio.timeout(self._house.pace.introduction):
                caller, asked = await self._introduced(token)
            project = self._house.access.scope(caller, policies.STREAM)
            with self._house.stream(caller, "websocket"):
                subscription = await self._house.feed.subscribe(asked.since, asked.where(project))
                try:
                    await self._follow(asked, subscription)
                finally:
                    subscription.close()
        except TripleOWorkerError as error:
            raise Closed(_code(error), error) from error
        except TimeoutError:
            late = InvalidEvent(
                "No subscription came in time.", remedy="Authenticate and subscribe at once."
            )
            raise Closed(BAD_FRAME, late) from None

    async def _introduced(self, token: str | None) -> tuple[Caller, Asked]:
        if token:
            self._caller = await self._house.access.caller(token)
        while True:
            frame = await self._receive()
            if frame.authenticate is not None:
                await self._authenticate(frame.authenticate)
            elif self._caller is None:
                raise NotAuthenticated(
                    "No token came before the subscription.", remedy="Send authenticate first."
                )
            elif frame.subscribe is not None:
                return self._caller, asking.frame(frame.subscribe)

    async def _authenticate(self, given: Token) -> None:
        caller = await self._house.access.caller(given.token)
        before = self._caller
        if before is not None and (before.user_id, before.project_id, before.roles) != (
            caller.user_id,
            caller.project_id,
            caller.roles,
        ):
            raise NotAuthorised(
                "The new token is another user's, or has other rights.",
                remedy="Open a stream of its own for it.",
            )
        self._caller = caller
        told = {"project_id": caller.project_id, "expires_at": caller.expires_at}
        await self._send(msgspec.json.encode({"authenticated": told}))

    async def _follow(self, asked: Asked, subscription: Subscription) -> None:
        """Read and write at once, until one of both ends or the worker shuts down."""
        await self._send(_subscribed(subscription))
        tasks = {
            asyncio.create_task(self._hear()),
            asyncio.create_task(self._write(asked, subscription)),
            asyncio.create_task(self._house.closing.wait()),
        }
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        for task in done:
            await task
        raise Closed(SHUTDOWN)

    async def _hear(self) -> None:
        while True:
            frame = await self._receive()
            if frame.authenticate is None:
                raise InvalidEvent(
                    "A stream has one subscription.", remedy="Open another stream for another."
                )
            await self._authenticate(frame.authenticate)

    async def _write(self, asked: Asked, subscription: Subscription) -> None:
        loop = asyncio.get_running_loop()
        every = asked.heartbeat or self._house.pace.heartbeat
        silent = loop.time()
        delivered = self._house.metrics.delivered.labels("websocket")
        while self._caller is not None:
            if expired(self._caller):
                raise Closed(EXPIRED)
            patience = min(LOOK, max(silent + every - loop.time(), 0.0))
            entries = await subscription.next(patience)
            for entry in entries:
                await self._send(b'{"event":' + entry.text + b"}")
            if entries:
                delivered.inc(len(entries))
                silent = loop.time()
            elif loop.time() >= silent + every:
                told = {"heartbeat": {"position": str(subscription.position)}}
                await self._send(msgspec.json.encode(told))
                silent = loop.time()

    async def _receive(self) -> ClientFrame:
        message = await self._socket.receive()
        if message.type in (WSMsgType.TEXT, WSMsgType.BINARY):
            return read(message.data)
        if message.type is WSMsgType.ERROR:
            error = InvalidEvent("The frame is no frame of a websocket, or too large.")
            raise Closed(BAD_FRAME, error)
        raise Closed(WSCloseCode.OK)

    async def _send(self, text: bytes) -> None:
        try:
            async with asyncio.timeout(self._house.pace.stall):
                await self._socket.send_frame(text, WSMsgType.TEXT)
        except TimeoutError:
            self._house.metrics.slow.inc()
            raise Closed(SLOW) from None


def _subscribed(subscription: Subscription) -> bytes:
    told: dict[str, Any] = {
        "recovered": subscription.recovered,
        "position": str(subscription.position),
    }
    if not subscription.recovered:
        told["operations"] = subscription.operations
    return msgspec.json.encode({"subscribed": told})


def _code(error: TripleOWorkerError) -> int:
    return next((code for kind, code in _CODES if isinstance(error, kind)), BAD_FRAME)


async def _close(request: web.Request, socket: web.WebSocketResponse, closed: Closed) -> None:
    """Say why, and close; a peer that does not take even that is dropped."""
    try:
        async with asyncio.timeout(CLOSING):
            if closed.error is not None and not socket.closed:
                await socket.send_frame(
                    msgspec.json.encode(answers.told_of(closed.error)), WSMsgType.TEXT
                )
            await socket.close(code=closed.code, message=_reason(closed))
    except (TimeoutError, ConnectionError):
        _abort(request)


def _reason(closed: Closed) -> bytes:
    """A close frame holds 123 bytes of reason."""
    text = closed.error.code if closed.error is not None else ""
    return text.encode()[:123]


def _abort(request: web.Request) -> None:
    if request.transport is not None:
        request.transport.abort()
