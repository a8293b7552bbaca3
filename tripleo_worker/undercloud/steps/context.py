"""What a step finds of its undercloud, by the folder named on its command line."""

from __future__ import annotations

import sys
from dataclasses import dataclass

from tripleo_worker.errors import UndercloudError
from tripleo_worker.undercloud import credentials, settings
from tripleo_worker.undercloud.layout import Layout, port_map


@dataclass(frozen=True, kw_only=True)
class Context:
    """The undercloud that a step works for."""

    layout: Layout
    port: dict[str, int]
    secret: credentials.Credentials

    def url(self, listener: str, path: str = "", scheme: str = "http") -> str:
        """The address of a service."""
        return f"{scheme}://127.0.0.1:{self.port[listener]}{path}"


def from_arguments() -> Context:
    """The context of ``python -m STEP FOLDER``."""
    layout = Layout.at(sys.argv[1])
    kept = settings.load(layout)
    if kept is None:
        raise UndercloudError(
            f"There is no undercloud in {layout.root}.",
            remedy="Run `tripleo-worker undercloud up` first.",
        )
    return Context(
        layout=layout,
        port=port_map(kept.port_base),
        secret=credentials.load_or_generate(layout.secrets),
    )
