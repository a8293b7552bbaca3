"""Exit codes: one meaning each, the same for every command that waits."""

from __future__ import annotations

from tripleo_worker.errors import (
    ContactLost,
    InvalidInput,
    OperationCancelled,
    OperationTimedOut,
    TripleOWorkerError,
)
from tripleo_worker.events import Status

SUCCESS = 0
FAILED = 1
USAGE = 2
#: A limit passed while the operation was still running.
TIMED_OUT = 3
#: Neither the worker nor Mistral answers any more.
CONTACT_LOST = 4
CANCELLED = 5
INTERRUPTED = 130

_BY_STATUS = {
    Status.SUCCESS: SUCCESS,
    Status.FAILED: FAILED,
    Status.CANCELLED: CANCELLED,
}
_BY_ERROR: tuple[tuple[type[TripleOWorkerError], int], ...] = (
    (InvalidInput, USAGE),
    (OperationTimedOut, TIMED_OUT),
    (ContactLost, CONTACT_LOST),
    (OperationCancelled, CANCELLED),
)


def of_status(status: Status) -> int:
    """The code for the outcome of an operation; one that has none counts as failed."""
    return _BY_STATUS.get(status, FAILED)


def of_error(error: TripleOWorkerError) -> int:
    """The code for an error that ended a command."""
    return next((code for kind, code in _BY_ERROR if isinstance(error, kind)), FAILED)
