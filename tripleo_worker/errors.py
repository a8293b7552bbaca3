"""The one tree of errors; each has a stable code that messages and exit paths name.

::

    TripleOWorkerError
    ├── InvalidInput            bad data from a user: names the place and the remedy
    │   ├── InvalidEvent        an envelope or message that cannot be read
    │   ├── InvalidPosition     a resume position that is not ``EPOCH:SEQUENCE``
    │   └── InvalidDefinition   a workbook or workflow that cannot be loaded
    ├── ServiceError            a service that the worker needs did not do its part
    │   ├── JournalUnavailable  the durable log cannot be written or read
    │   ├── IdentityUnavailable Keystone cannot say whether a token is good
    │   ├── NoWorker            no worker is known, or it does not answer
    │   └── ContactLost         neither the worker nor Mistral answers any more
    ├── NotAuthenticated        no token, or one that Keystone refuses
    ├── NotAuthorised           a good token without the right
    ├── StreamClosed            the stream ended; ``reconnect`` says whether to come back
    ├── UndercloudError         the embedded undercloud cannot do what was asked
    │   ├── PortTaken           another process listens on a port it needs
    │   ├── PackageMissing      a program of the distribution is not installed
    │   ├── NoSpace             the disk is too full to start safely
    │   ├── UndercloudBusy      another command is at work on the same undercloud
    │   └── StartFailed         a service died, or was not ready in time
    └── OperationError          an operation did not end well
        ├── OperationFailed     it ended, and not with success
        ├── OperationCancelled  it was cancelled
        └── OperationTimedOut   the wait ended before the operation did
"""

from __future__ import annotations


class TripleOWorkerError(Exception):
    """Something that tripleo-worker does went wrong."""

    code = "error"

    def __init__(self, message: str = "", *, remedy: str = "") -> None:
        self.message = message or (type(self).__doc__ or "").split("\n")[0]
        self.remedy = remedy
        super().__init__(f"{self.message} {remedy}".strip())


class InvalidInput(TripleOWorkerError):
    """The input is not valid."""

    code = "invalid-input"


class InvalidEvent(InvalidInput):
    """The event cannot be read."""

    code = "invalid-event"


class InvalidPosition(InvalidInput):
    """The position is not of the form EPOCH:SEQUENCE."""

    code = "invalid-position"


class InvalidDefinition(InvalidInput):
    """The workbook or workflow definition is not valid."""

    code = "invalid-definition"


class ServiceError(TripleOWorkerError):
    """A service did not answer as it should."""

    code = "service-error"


class JournalUnavailable(ServiceError):
    """The journal cannot be used at the moment."""

    code = "journal-unavailable"


class IdentityUnavailable(ServiceError):
    """Keystone cannot be asked about a token at the moment."""

    code = "identity-unavailable"


class NoWorker(ServiceError):
    """No worker answers."""

    code = "no-worker"


class ContactLost(ServiceError):
    """Neither the worker nor Mistral answers."""

    code = "contact-lost"


class NotAuthenticated(TripleOWorkerError):
    """A valid token is needed."""

    code = "not-authenticated"


class NotAuthorised(TripleOWorkerError):
    """The token does not give the right to do this."""

    code = "not-authorised"


class StreamClosed(TripleOWorkerError):
    """The stream was closed by the worker."""

    code = "stream-closed"

    def __init__(self, message: str = "", *, remedy: str = "", reconnect: bool = True) -> None:
        super().__init__(message, remedy=remedy)
        self.reconnect = reconnect


class UndercloudError(TripleOWorkerError):
    """The embedded undercloud cannot do what was asked."""

    code = "undercloud-error"


class PortTaken(UndercloudError):
    """Another process listens on a port that the undercloud needs."""

    code = "port-taken"


class PackageMissing(UndercloudError):
    """A program that the undercloud runs is not installed."""

    code = "package-missing"


class NoSpace(UndercloudError):
    """The disk is too full to start the undercloud safely."""

    code = "no-space"


class UndercloudBusy(UndercloudError):
    """Another command is at work on the same undercloud."""

    code = "undercloud-busy"


class StartFailed(UndercloudError):
    """A service of the undercloud died, or was not ready in time."""

    code = "start-failed"


class OperationError(TripleOWorkerError):
    """The operation did not end well."""

    code = "operation-error"


class OperationFailed(OperationError):
    """The operation failed."""

    code = "operation-failed"


class OperationCancelled(OperationError):
    """The operation was cancelled."""

    code = "operation-cancelled"


class OperationTimedOut(OperationError):
    """The wait ended before the operation did."""

    code = "operation-timed-out"
