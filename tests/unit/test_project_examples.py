"""The listeners of the documentation, run as they stand against servers that lose contact."""

import asyncio
import json
import os
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
import websockets

EXAMPLES = Path(__file__).parents[2] / "doc" / "source" / "examples"
EVENTS = [
    {"specversion": "1.0", "id": str(n), "epoch": "e1", "sequence": f"{n:016d}"} for n in (1, 2, 3)
]


def listen(example, url):
    """Run a listener to its end: exit code, the events it printed, its errors."""
    ended = subprocess.run(
        [sys.executable, EXAMPLES / example, url, "earliest"],
        env={**os.environ, "OS_TOKEN": "a-token"},
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    return ended.returncode, [json.loads(line) for line in ended.stdout.splitlines()], ended.stderr


class Websocket:
    """Two events, then a shutdown; the rest, then a refusal."""

    def __init__(self):
        self.asked = []

    async def serve(self, socket):
        authenticate = json.loads(await socket.recv())
        assert authenticate == {"authenticate": {"token": "a-token"}}
        await socket.send(json.dumps({"authenticated": {"project_id": "p", "expires_at": "t"}}))
        since = json.loads(await socket.recv())["subscribe"]["since"]
        self.asked.append(since)
        first = len(self.asked) == 1
        position = "e1:0" if first else since
        await socket.send(json.dumps({"subscribed": {"recovered": True, "position": position}}))
        for event in EVENTS[:2] if first else EVENTS[2:]:
            await socket.send(json.dumps({"event": event}))
        if not first:
            await socket.send(json.dumps({"heartbeat": {"position": "e1:9"}}))
        await socket.close(4000 if first else 4503, "shutting down" if first else "not yours")


async def test_the_websocket_listener_resumes_and_stops_when_refused():
    script = Websocket()
    async with websockets.serve(script.serve, "127.0.0.1", 0) as server:
        url = f"ws://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1/stream"
        code, events, errors = await asyncio.to_thread(listen, "listen_websocket.py", url)
    assert events == EVENTS
    assert script.asked == ["earliest", "e1:2"]
    assert (code, errors) == (1, "refused: not yours\n")


class Stream(BaseHTTPRequestHandler):
    """The same as server-sent events; the third request is refused."""

    def do_GET(self):
        asked = self.server.asked
        asked.append(self.headers["Last-Event-ID"])
        if len(asked) == 3:
            self.send_response(403)
            self.end_headers()
            self.wfile.write(b'{"error":{"code":"not-authorised"}}')
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        self.wfile.write(b'event: subscribed\ndata: {"recovered":true,"position":"e1:0"}\n\n')
        for event in EVENTS[:2] if len(asked) == 1 else EVENTS[2:]:
            place = f"e1:{int(event['sequence'])}"
            self.wfile.write(f"id: {place}\ndata: {json.dumps(event)}\n\n".encode())
            self.wfile.write(f": heartbeat {place}\n\n".encode())

    def log_message(self, *arguments):
        """Say nothing on standard error."""


@pytest.fixture
def stream():
    with HTTPServer(("127.0.0.1", 0), Stream) as server:
        server.asked = []
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def test_the_sse_listener_resumes_and_stops_when_refused(stream):
    url = f"http://127.0.0.1:{stream.server_port}/v1/events/stream"
    code, events, errors = listen("listen_sse.py", url)
    assert events == EVENTS
    assert stream.asked == ["earliest", "e1:2", "e1:3"]
    assert (code, errors) == (1, '{"error":{"code":"not-authorised"}}\n')
