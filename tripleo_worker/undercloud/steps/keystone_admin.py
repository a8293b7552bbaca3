"""Makes Keystone's first user, project, role and endpoint with Keystone's own tool."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from tripleo_worker.undercloud.steps.context import from_arguments


def main() -> None:
    """Become ``keystone-manage bootstrap``; the password is told by the environment."""
    context = from_arguments()
    url = context.url("keystone", "/v3")
    environment = os.environ | {
        "OS_BOOTSTRAP_USERNAME": "admin",
        "OS_BOOTSTRAP_PASSWORD": context.secret.admin,
        "OS_BOOTSTRAP_PROJECT_NAME": "admin",
        "OS_BOOTSTRAP_ROLE_NAME": "admin",
        "OS_BOOTSTRAP_SERVICE_NAME": "keystone",
        "OS_BOOTSTRAP_REGION_ID": "regionOne",
        "OS_BOOTSTRAP_ADMIN_URL": url,
        "OS_BOOTSTRAP_PUBLIC_URL": url,
        "OS_BOOTSTRAP_INTERNAL_URL": url,
    }
    program = str(Path(sys.executable).parent / "keystone-manage")
    config = str(context.layout.etc / "keystone" / "keystone.conf")
    os.execve(program, [program, "--config-file", config, "bootstrap"], environment)  # noqa: S606


if __name__ == "__main__":
    main()
