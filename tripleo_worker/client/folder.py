"""A folder of templates as it may be uploaded: what belongs to it, and what is refused."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import msgspec

from tripleo_worker.errors import InvalidInput

#: Bytes of one file; the plan's actions read none that is larger.
LARGEST_FILE = 8 * 1024 * 1024
#: Files of one folder; Swift unpacks no more from one archive.
MOST_FILES = 10_000
#: Faults that are told at once.
FAULTS_TOLD = 10
_REMEDY = "Mend the folder; nothing was uploaded."


class Template(msgspec.Struct, frozen=True):
    """A file of the folder."""

    #: Its path in the plan, with ``/`` between the parts.
    path: str
    file: Path
    #: Bytes.
    size: int


def templates(folder: Path) -> list[Template]:
    """The files that a plan is made of, by their path.

    Names that begin with a dot, and ``__pycache__``, are left out. A symbolic link counts as
    the file that it points to, which must lie in the folder.

    Raises:
        InvalidInput: the folder cannot be used; the error tells all faults.
    """
    if not folder.is_dir():
        raise InvalidInput(
            f"--templates {folder}: there is no such folder.",
            remedy="Give the folder that holds the plan's templates.",
        )
    found: list[Template] = []
    faults: list[str] = []
    for path in _walk(folder, faults):
        fault = _fault(path, folder)
        if fault:
            faults.append(f"{_shown(path, folder)}: {fault}")
        else:
            name = path.relative_to(folder).as_posix()
            found.append(Template(name, path, path.stat().st_size))
    if not found and not faults:
        faults.append("it holds no templates")
    if len(found) > MOST_FILES:
        faults.append(f"it holds {len(found)} files, more than {MOST_FILES}")
    if faults:
        more = len(faults) - FAULTS_TOLD
        told = "\n  ".join([*faults[:FAULTS_TOLD], *([f"and {more} more"] if more > 0 else [])])
        raise InvalidInput(f"--templates {folder}:\n  {told}\n", remedy=_REMEDY)
    return sorted(found, key=lambda one: one.path)


def _walk(folder: Path, faults: list[str]) -> Iterator[Path]:
    def unreadable(error: OSError) -> None:
        faults.append(f"{error.filename}: {error.strerror}")

    for where, folders, files in os.walk(folder, onerror=unreadable):
        kept = [name for name in folders if name[0] != "." and name != "__pycache__"]
        # The walk does not follow links to folders; they are told, not silently left out.
        linked = [name for name in kept if Path(where, name).is_symlink()]
        folders[:] = sorted(set(kept) - set(linked))
        for name in sorted([*linked, *files]):
            if name[0] != ".":
                yield Path(where, name)


def _fault(path: Path, folder: Path) -> str:
    """Why a file cannot be uploaded; empty if it can."""
    name = path.relative_to(folder).as_posix()
    if not name.isprintable() or "\\" in name:
        return "its name has characters that a path in a plan cannot have"
    try:
        real = path.resolve(strict=True)
        known = real.stat()
    except (OSError, RuntimeError) as error:
        return f"it leads nowhere ({getattr(error, 'strerror', None) or error})"
    if not real.is_relative_to(folder.resolve()):
        return "it is a symbolic link out of the folder"
    if stat.S_ISDIR(known.st_mode):
        return "it is a symbolic link to a folder; put a copy there"
    if not stat.S_ISREG(known.st_mode):
        return "it is no regular file"
    if known.st_size > LARGEST_FILE:
        return f"it is larger than {LARGEST_FILE} bytes"
    return "" if os.access(real, os.R_OK) else "it may not be read"


def _shown(path: Path, folder: Path) -> str:
    return path.relative_to(folder).as_posix().encode("unicode_escape", "replace").decode()
