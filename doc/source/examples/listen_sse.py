"""Print every event of the worker, with Python's standard library alone.

Usage: listen_sse.py URL [SINCE]
The token is read from the environment: OS_TOKEN=$(openstack token issue -f value -c id)
"""

import os
import sys
import time
import urllib.request


def listen(url, since):
    """Print event after event; start again where the last connection was lost."""
    while True:
        headers = {"X-Auth-Token": os.environ["OS_TOKEN"], "Last-Event-ID": since}
        try:
            with urllib.request.urlopen(urllib.request.Request(url, headers=headers)) as lines:
                kind = "message"
                for line in lines:
                    field, _, value = line.decode().rstrip("\n").partition(": ")
                    if field == "event":
                        kind = value
                    elif field == "id":
                        since = value
                    elif field == "data" and kind == "message":
                        print(value, flush=True)
                    elif not field:
                        kind = "message"
        except urllib.error.HTTPError as refused:
            if refused.code < 500:
                raise SystemExit(refused.read().decode()) from None
        except OSError:
            pass
        time.sleep(1)


if __name__ == "__main__":
    listen(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "latest")
