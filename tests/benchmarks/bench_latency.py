"""From ``tripleo.messaging.send`` to a listener: the worker's websocket beside Zaqar's own.

Both listeners are written with the plain ``websockets`` library and hear the same messages,
one at a time, so that each figure is the way of one message and not the length of a queue.
"""

from __future__ import annotations

import asyncio
import json
import time
import uuid
import warnings
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import websockets
from reporting import Report, percentile

#: Messages that are sent, and those of them that only warm up.
MESSAGES, WARM_UP = 110, 10
#: A type that no workflow has, so that no client in the field mistakes the messages.
TYPE = "tripleo.benchmark.v1.latency"

#: When each message came, in seconds of the monotonic clock.
Heard = Sequence[asyncio.Future[float]]


def run(report: Report) -> None:
    """Send, listen on both, and report the medians and tails."""
    cloud = connect(report.undercloud())
    sent, ours, peers = asyncio.run(measure(cloud))
    kept = range(WARM_UP, MESSAGES)
    mine = [1000 * (ours[n] - sent[n]) for n in kept]
    zaqars = [1000 * (peers[n] - sent[n]) for n in kept]
    past = [1000 * (ours[n] - peers[n]) for n in kept]
    for rank in (50, 95, 99):
        report.inform(
            f"call of the action to listener, p{rank}",
            percentile(mine, rank),
            unit="ms",
            peer="Zaqar's own websocket",
            peer_value=round(percentile(zaqars, rank), 1),
        )
    report.at_most("past Zaqar's own websocket, p50", percentile(past, 50), unit="ms", target=15)
    report.at_most("past Zaqar's own websocket, p95", percentile(past, 95), unit="ms", target=60)
    report.inform("past Zaqar's own websocket, p99", percentile(past, 99), unit="ms")
    report.note(
        f"{MESSAGES - WARM_UP} messages one at a time, each through Mistral's API, engine and "
        "executor to Zaqar; our events are on disk before a listener has them."
    )


def connect(folder: Path) -> Any:
    """The undercloud in a folder, as an SDK connection."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import openstack
        import openstack.config

        loader = openstack.config.OpenStackConfig(config_files=[str(folder / "clouds.yaml")])
        return openstack.connection.Connection(config=loader.get_one(cloud="undercloud"))


async def measure(cloud: Any) -> tuple[list[float], list[float], list[float]]:
    """When each message was sent, came to our listener, and to Zaqar's."""
    mark = uuid.uuid4().hex
    sent = []
    async with AsyncExitStack() as stack:
        ours = await stack.enter_async_context(listener(worker_frames(cloud), mark))
        peers = await stack.enter_async_context(listener(zaqar_frames(cloud), mark))
        for number in range(MESSAGES):
            sent.append(time.monotonic())
            await asyncio.to_thread(send, cloud, mark, number)
            async with asyncio.timeout(10):
                await asyncio.gather(ours[number], peers[number])
        return sent, [came.result() for came in ours], [came.result() for came in peers]


def send(cloud: Any, mark: str, number: int) -> None:
    """Call the action through Mistral, as any client can."""
    action = {
        "name": "tripleo.messaging.send",
        "input": {
            "type": TYPE,
            "status": "RUNNING",
            "message": "latency",
            "payload": {"mark": mark, "number": number},
        },
        "params": {"run_sync": True, "save_result": False},
    }
    cloud.workflow.post("/action_executions", json=action).raise_for_status()


@asynccontextmanager
async def listener(frames: AsyncIterator[Any], mark: str) -> AsyncIterator[Heard]:
    """Note when each of our messages comes; the first value of ``frames`` says it listens."""
    loop = asyncio.get_running_loop()
    heard = [loop.create_future() for _ in range(MESSAGES)]
    await anext(frames)

    async def listen() -> None:
        async for payload in frames:
            if payload.get("mark") == mark:
                heard[payload["number"]].set_result(time.monotonic())

    task = asyncio.create_task(listen())
    try:
        yield heard
    finally:
        task.cancel()


async def worker_frames(cloud: Any) -> AsyncIterator[Any]:
    """Payloads from the worker's websocket, once it has said that it listens."""
    url = endpoint(cloud, "tripleo-worker").replace("http", "ws", 1) + "/v1/stream"
    token = await asyncio.to_thread(cloud.session.get_token)
    async with websockets.connect(url) as socket:
        await socket.send(json.dumps({"authenticate": {"token": token}}))
        await socket.send(json.dumps({"subscribe": {"type": TYPE}}))
        async for text in socket:
            frame = json.loads(text)
            if "error" in frame:
                raise RuntimeError(f"the worker refuses: {frame['error']}")
            if "subscribed" in frame:
                yield {}
            if "event" in frame:
                yield frame["event"]["data"]["payload"]


async def zaqar_frames(cloud: Any) -> AsyncIterator[Any]:
    """Payloads from Zaqar's own websocket, once it has said that it listens."""
    token = await asyncio.to_thread(cloud.session.get_token)
    project = await asyncio.to_thread(cloud.session.get_project_id)
    headers = {"Client-ID": str(uuid.uuid4()), "X-Project-ID": project, "X-Auth-Token": token}

    def frame(action: str, **body: Any) -> str:
        return json.dumps({"action": action, "headers": headers, "body": body})

    async with websockets.connect(endpoint(cloud, "messaging-websocket")) as socket:
        for request in (
            frame("authenticate"),
            frame("subscription_create", queue_name="tripleo", ttl=600),
        ):
            await socket.send(request)
            reply = json.loads(await socket.recv())
            if reply["headers"]["status"] >= 300:
                raise RuntimeError(f"Zaqar refuses: {reply['body']}")
        yield {}
        async for text in socket:
            yield json.loads(text)["body"].get("payload", {})


def endpoint(cloud: Any, service: str) -> str:
    """The public address of a service in the catalog, without a slash at its end."""
    find: Callable[..., str] = cloud.session.get_endpoint
    return find(service_type=service, interface="public").rstrip("/")
