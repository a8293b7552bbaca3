"""Makes the data folder of MariaDB anew with MariaDB's own tool."""

from __future__ import annotations

import os
import shutil

from tripleo_worker.undercloud.files import private_folder
from tripleo_worker.undercloud.steps.context import from_arguments


def main() -> None:
    """Remove what an interrupted run left and become ``mariadb-install-db``."""
    layout = from_arguments().layout
    folder = layout.data / "mariadb"
    shutil.rmtree(folder, ignore_errors=True)
    private_folder(folder)
    arguments = [
        "mariadb-install-db",
        f"--defaults-file={layout.etc}/mariadb/my.cnf",
        # Only the system user of the same name is let in as root, and only by the socket.
        "--auth-root-authentication-method=socket",
        "--skip-test-db",
        "--skip-name-resolve",
    ]
    os.execvp(arguments[0], arguments)  # noqa: S606


if __name__ == "__main__":
    main()
