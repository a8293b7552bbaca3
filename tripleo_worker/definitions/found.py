"""Where the workbooks are: the shipped ones, or those of the files and folders that are named."""

from __future__ import annotations

import importlib.resources
from collections.abc import Sequence
from pathlib import Path

from tripleo_worker.errors import InvalidInput


def shipped() -> Path:
    """The folder of the shipped workbooks: of the checkout, or of the installed package."""
    checkout = Path(__file__).parents[2]
    if (checkout / "pyproject.toml").is_file():
        return checkout / "workbooks"
    return Path(str(importlib.resources.files("tripleo_actions"))) / "workbooks"


def files(paths: Sequence[Path]) -> list[Path]:
    """The workbook files of some paths, in the order of their names within a folder.

    Args:
        paths: Files, and folders with ``*.yaml``; none: the shipped workbooks.

    Raises:
        InvalidInput: a path does not exist, or a folder has no workbook.
    """
    if not paths:
        return sorted(shipped().glob("*.yaml"))
    found: list[Path] = []
    for path in paths:
        inside = sorted(path.glob("*.yaml")) if path.is_dir() else [path]
        if not inside or not inside[0].is_file():
            what = "holds no *.yaml" if path.is_dir() else "is no file"
            raise InvalidInput(f"{path} {what}.", remedy="Name workbook files or their folders.")
        found += inside
    return list(dict.fromkeys(found))
