"""Words for calls that did not arrive."""

from __future__ import annotations


def reason(error: Exception) -> str:
    """Why a service was not reached, without the inner workings of the HTTP libraries."""
    said, cut, inner = str(error).partition(": HTTPConnectionPool(")
    if cut and "refused" in inner:
        return f"{said}: connection refused."
    return f"{said.rstrip('.')}."
