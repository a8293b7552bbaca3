"""Parameters as users write them, and what is wrong with them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tripleo_worker.cli.values import collected, pair, unknown
from tripleo_worker.errors import InvalidInput


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("A=3", 3),
        ("A=3.5", 3.5),
        ("A=true", True),
        ('A="3"', "3"),
        ("A=", ""),
        ("A=a=b", "a=b"),
        ("A=[1, two]", [1, "two"]),
        ("A={k: v}", {"k": "v"}),
        ("A=2018-08-31", "2018-08-31"),
        ("A=null", None),
        ("A=Zürich", "Zürich"),
    ],
)
def test_values_are_yaml(text: str, value: Any) -> None:
    assert pair(text) == ("A", value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("A", "NAME=VALUE"),
        ("=1", "NAME=VALUE"),
        ("1A=1", "NAME=VALUE"),
        ("A=[1", "--parameter A"),
        ("A={a: 1, a: 2}", "stands twice"),
        ("A=a: b: c", "quotes"),
    ],
)
def test_what_is_wrong_with_a_pair_is_said(text: str, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        pair(text)


def test_files_come_in_order_and_the_command_line_last(tmp_path: Path) -> None:
    one, two = tmp_path / "1.yaml", tmp_path / "2.yaml"
    one.write_text("parameter_defaults: {A: 1, B: 1, C: 1}")
    two.write_text("parameter_defaults: {B: 2, C: 2}")
    assert collected([str(one), str(two)], ["C=3"]) == {"A": 1, "B": 2, "C": 3}


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("parameter_defaults:", "null"),
        ("parameter_defaults: 3", "mapping"),
        ("- 1", "mapping"),
        ("resource_registry: {}", "resource_registry"),
        ("a: [", ":"),
    ],
)
def test_what_is_wrong_with_a_file_names_it(tmp_path: Path, content: str, words: str) -> None:
    file = tmp_path / "own.yaml"
    file.write_text(content)
    with pytest.raises(InvalidInput, match=words) as raised:
        collected([str(file)], [])
    assert str(file) in str(raised.value)


def test_a_parameter_that_nothing_reads_is_warned_of() -> None:
    answer = {"heat_resource_tree": {"parameters": {"ControllerCount": {}, "Debug": {}}}}
    given = {"ControlerCount": 1, "Debug": True, "Zzz": 1}
    assert unknown(given, answer) == [
        "Nothing in the plan reads the parameter ControlerCount; is ControllerCount meant?",
        "Nothing in the plan reads the parameter Zzz.",
    ]
    for odd in (None, {}, {"heat_resource_tree": None}):
        assert unknown(given, odd) == []
