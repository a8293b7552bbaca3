"""Print every event of the worker, with nothing but the ``websockets`` library.

Usage: listen_websocket.py URL [SINCE]
The token is read from the environment: OS_TOKEN=$(openstack token issue -f value -c id)
"""

import asyncio
import json
import os
import sys

import websockets


async def listen(url, since):
    """Print event after event; start again where the last connection was lost."""
    async for socket in websockets.connect(url):  # connects again, waiting longer each time
        try:
            await socket.send(json.dumps({"authenticate": {"token": os.environ["OS_TOKEN"]}}))
            await socket.send(json.dumps({"subscribe": {"since": since}}))
            async for frame in socket:
                message = json.loads(frame)
                if "event" in message:
                    event = message["event"]
                    since = f"{event['epoch']}:{int(event['sequence'])}"
                    print(json.dumps(event), flush=True)
                elif "heartbeat" in message:
                    since = message["heartbeat"]["position"]
                elif "subscribed" in message:
                    since = message["subscribed"]["position"]
                elif "error" in message:
                    print(message["error"], file=sys.stderr)
        except websockets.ConnectionClosed as closed:
            if closed.rcvd and 4500 <= closed.rcvd.code < 5000:
                raise SystemExit(f"refused: {closed.rcvd.reason}") from None


if __name__ == "__main__":
    asyncio.run(listen(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "latest"))
