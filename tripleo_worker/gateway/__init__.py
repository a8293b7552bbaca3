"""HTTP, websocket and SSE: how the stream leaves the worker, and who may have it."""
