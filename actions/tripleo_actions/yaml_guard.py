"""Reading YAML that users wrote: one guard for every parser of the product.

Duplicate keys, alias bombs, depth, size, null sections and wrong shapes end in one error that
names file and line, before anything is stored. Dates and times stay texts, as Heat's own
reader has it: ``heat_template_version: 2018-08-31`` is no date.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import yaml

from tripleo_worker.errors import InvalidInput

#: Bytes of one file; the largest template in the field has a tenth of it.
MAX_BYTES = 4 * 1024 * 1024
#: Nodes of a document with its aliases written out.
MAX_NODES = 500_000
#: Nesting of mappings and lists.
MAX_DEPTH = 64

_TIMESTAMP = "tag:yaml.org,2002:timestamp"
_MERGE = "tag:yaml.org,2002:merge"


class _Loader(yaml.CSafeLoader):
    """The safe loader without times."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != _TIMESTAMP]
    for first, resolvers in yaml.CSafeLoader.yaml_implicit_resolvers.items()
}


def load(text: str | bytes, name: str) -> Any:
    """Read one YAML document.

    Args:
        text: The document; bytes are UTF-8.
        name: The file, for errors.

    Returns:
        What it holds; None if it is empty.

    Raises:
        InvalidInput: it is no YAML, or the guard refuses it; the error names file and line.
    """
    if len(text) > MAX_BYTES:
        raise InvalidInput(f"{name}: larger than {MAX_BYTES} bytes.", remedy="Split the file.")
    try:
        loader = _Loader(text.decode() if isinstance(text, bytes) else text)
        try:
            node = loader.get_single_node()
            if node is None:
                return None
            _inspect(node, name)
            return loader.construct_document(node)
        finally:
            loader.dispose()
    except yaml.YAMLError as error:
        raise InvalidInput(_reason(error, name), remedy="Correct the YAML there.") from error
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"{name}: cannot be read: {error}.") from error


def load_mapping(text: str | bytes, name: str) -> dict[str, Any]:
    """Read a document that must be a mapping with texts for keys; an empty one is {}.

    Raises:
        InvalidInput: as :func:`load`, or the document has another shape.
    """
    data = load(text, name)
    if data is None:
        return {}
    return mapping(data, name)


def load_list(text: str | bytes, name: str) -> list[dict[str, Any]]:
    """Read a document that must be a list of mappings.

    Raises:
        InvalidInput: as :func:`load`, or the document has another shape.
    """
    data = load(text, name)
    if not isinstance(data, list):
        raise InvalidInput(f"{name}: a list is expected, not {_kind(data)}.")
    return [mapping(item, f"{name}, entry {number}") for number, item in enumerate(data, 1)]


def mapping(data: Any, where: str) -> dict[str, Any]:
    """The data, which must be a mapping with texts for keys.

    Raises:
        InvalidInput: it is not.
    """
    if not isinstance(data, Mapping):
        raise InvalidInput(f"{where}: a mapping is expected, not {_kind(data)}.")
    odd = next((key for key in data if not isinstance(key, str)), None)
    if odd is not None:
        raise InvalidInput(f"{where}: the key {odd!r} is no text.", remedy="Put it in quotes.")
    return dict(data)


def section(data: Mapping[str, Any], key: str, where: str, kind: type[Any] = dict) -> Any:
    """A section of a mapping, empty if it is absent.

    Raises:
        InvalidInput: the section is null or has another shape.
    """
    value = data.get(key, kind()) if key in data else kind()
    if value is None:
        raise InvalidInput(
            f"{where}: the section {key} is null.", remedy="Fill it or remove its key."
        )
    if not isinstance(value, kind):
        raise InvalidInput(
            f"{where}: the section {key} is {_kind(value)}; {_NAMES[kind]} is expected."
        )
    return value


def dump(data: Any) -> bytes:
    """Write YAML as plan files have it: block style, keys in their order, UTF-8."""
    text: str = yaml.dump(
        data,
        Dumper=yaml.CSafeDumper,
        default_flow_style=False,
        sort_keys=False,
        allow_unicode=True,
    )
    return text.encode()


_NAMES: Mapping[type[Any], str] = {
    dict: "a mapping",
    list: "a list",
    str: "a text",
    bool: "true or false",
    int: "a number",
    float: "a number",
    type(None): "nothing",
}


def _kind(data: object) -> str:
    return _NAMES.get(type(data), type(data).__name__)


def _inspect(root: yaml.Node, name: str) -> None:
    _Census(name).weigh(root, 0)


class _Census:
    """Counts the nodes of a document as if its aliases were written out."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._weights: dict[int, int] = {}

    def weigh(self, node: yaml.Node, depth: int) -> int:
        """Nodes at and below a node."""
        if id(node) in self._weights:
            return self._weights[id(node)]
        if depth > MAX_DEPTH:
            raise self._refusal(node, f"nested deeper than {MAX_DEPTH}, or an alias to itself")
        if isinstance(node, yaml.MappingNode):
            self._check_keys(node)
        weight = 1 + sum(self.weigh(child, depth + 1) for child in _children(node))
        if weight > MAX_NODES:
            raise self._refusal(node, f"more than {MAX_NODES} nodes once aliases are written out")
        self._weights[id(node)] = weight
        return weight

    def _check_keys(self, node: yaml.MappingNode) -> None:
        seen: set[tuple[str, str]] = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode) or key.tag == _MERGE:
                continue
            if (key.tag, key.value) in seen:
                raise self._refusal(key, f"the key {key.value!r} stands twice")
            seen.add((key.tag, key.value))

    def _refusal(self, node: yaml.Node, why: str) -> InvalidInput:
        return InvalidInput(f"{self._name}:{node.start_mark.line + 1}: {why}.")


def _children(node: yaml.Node) -> Iterator[yaml.Node]:
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            yield key
            yield value
    elif isinstance(node, yaml.SequenceNode):
        yield from node.value


def _reason(error: yaml.YAMLError, name: str) -> str:
    mark = getattr(error, "problem_mark", None)
    line = f":{mark.line + 1}" if mark else ""
    problem = getattr(error, "problem", None) or str(error).split("\n")[0]
    return f"{name}{line}: {problem}."
