"""Files that hold secrets or state: written whole or not at all, for the owner's eyes only."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def private_folder(path: Path) -> None:
    """Make a folder (and its parents) that only its owner can enter, whatever the umask."""
    path.mkdir(parents=True, exist_ok=True)
    path.chmod(0o700)


def write_private(path: Path, text: str) -> bool:
    """Replace a file atomically, mode 0600; False if it held that text already."""
    if path.is_file() and path.read_text() == text:
        path.chmod(0o600)
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w") as file:
            file.write(text)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    return True
