"""The client for plain threads: the same files as in ``aio``, over the same core."""
