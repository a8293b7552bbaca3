"""A workbook file as text, as data, and with the line of every part of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from typing import Any

import yaml

from tripleo_actions import yaml_guard
from tripleo_worker.errors import InvalidInput

#: Keys and list positions from the root of a document to a part of it.
Path = tuple[str | int, ...]


@dataclass(frozen=True, order=True)
class Finding:
    """One thing that is wrong."""

    file: str
    line: int
    #: Short stable name of the rule, e.g. ``ending``.
    rule: str
    text: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.rule}: {self.text}"


@dataclass(frozen=True)
class Source:
    """A file that could be read."""

    file: str
    text: str
    data: dict[str, Any]
    lines: Mapping[Path, int] = field(repr=False)

    def line(self, path: Path) -> int:
        """The line of a part, or of the nearest part around it."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path, 1)

    def finding(self, path: Path, rule: str, text: str) -> Finding:
        """Something that is wrong with a part."""
        return Finding(self.file, self.line(path), rule, text)

    def at(self, path: Path) -> Any:
        """The data of a part; None if it is not there."""
        part: Any = self.data
        for step in path:
            try:
                part = part[step]
            except (KeyError, IndexError, TypeError):
                return None
        return part


def read(file: FilePath) -> Source | Finding:
    """Read a file under the guard for YAML; what the guard refuses is the finding."""
    name = str(file)
    try:
        text = file.read_text(encoding="utf-8")
        data = yaml_guard.load_mapping(text, name)
    except OSError as error:
        return Finding(name, 1, "yaml", f"cannot be read: {error.strerror}.")
    except UnicodeDecodeError as error:
        return Finding(name, 1, "yaml", f"is not UTF-8: {error.reason}.")
    except InvalidInput as error:
        return _refused(name, str(error))
    marker = next((one for one in yaml.scan(text) if isinstance(one, _ALIASES)), None)
    if marker is not None:
        return Finding(
            name, marker.start_mark.line + 1, "yaml",
            "Mistral reads anchors and aliases as plain texts; write the part out.",
        )  # fmt: skip
    lines: dict[Path, int] = {}
    root = yaml.compose(text, Loader=yaml.CSafeLoader)
    if root is not None:
        _index(root, (), root.start_mark.line, lines)
    return Source(name, text, data, lines)


_ALIASES = (yaml.AnchorToken, yaml.AliasToken)


def _refused(name: str, error: str) -> Finding:
    # The guard says ``FILE:LINE: why`` or ``FILE: why``.
    rest = error.removeprefix(name)
    number, colon, why = rest.removeprefix(":").partition(":")
    if rest.startswith(":") and colon and number.isdigit():
        return Finding(name, int(number), "yaml", why.strip())
    return Finding(name, 1, "yaml", rest.lstrip(":, "))


def _index(node: yaml.Node, path: Path, line: int, lines: dict[Path, int]) -> None:
    # A part begins where its key stands, not where its value does.
    lines[path] = line + 1
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            _index(value, (*path, key.value), key.start_mark.line, lines)
    elif isinstance(node, yaml.SequenceNode):
        for number, item in enumerate(node.value):
            _index(item, (*path, number), item.start_mark.line, lines)
