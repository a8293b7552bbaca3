"""The check of workbooks: each fault is found at its line, and nothing else is said.

In ``bad/`` a line's comment names what is found there: ``#! RULE: PART OF THE TEXT``.
"""

from __future__ import annotations

import copy
import re
from pathlib import Path

import pytest

from tripleo_worker.definitions import found
from tripleo_worker.definitions.lint import check
from tripleo_worker.definitions.source import Finding
from tripleo_worker.errors import InvalidInput

HERE = Path(__file__).parent
GOOD = sorted((HERE / "good").glob("*.yaml"))
BAD = sorted((HERE / "bad").glob("*.yaml"))

_MARK = re.compile(r"#! (\w+): ?([^#]*)")


def marks(file: Path) -> list[tuple[int, str, str]]:
    return [
        (number, mark[1], mark[2].strip())
        for number, line in enumerate(file.read_text().splitlines(), 1)
        for mark in _MARK.finditer(line)
    ]


def test_what_is_good_passes() -> None:
    checked = check(GOOD)
    assert [str(finding) for finding in checked.findings] == []
    assert set(checked.workbooks) == {"tripleo.example.v1", "tripleo.messaging.v1"}
    assert "tripleo.example.v1._child" in checked.workflows


@pytest.mark.parametrize("file", [*GOOD, *found.files([])], ids=lambda file: file.stem)
def test_mistral_itself_takes_what_is_good(file: Path) -> None:
    parser = pytest.importorskip("mistral.lang.parser")
    spec = parser.get_workbook_spec_from_yaml(file.read_text(), validate=True)
    assert spec.get_name().startswith("tripleo.")


@pytest.mark.parametrize("file", BAD, ids=lambda file: file.stem)
def test_each_fault_is_found_at_its_line(file: Path) -> None:
    expected = marks(file)
    assert expected, "an example names what is found in it"
    left = list(check([file]).findings)
    for line, rule, text in expected:
        hit = next(
            (one for one in left if (one.line, one.rule) == (line, rule) and text in one.text),
            None,
        )
        assert hit, f"line {line}, {rule}: {text!r} is not among {[str(one) for one in left]}"
        left.remove(hit)
    assert not left, [str(one) for one in left]


def test_a_finding_reads_as_compilers_say_it() -> None:
    finding = Finding("workbooks/a.yaml", 7, "ending", "the workflow ends.")
    assert str(finding) == "workbooks/a.yaml:7: ending: the workflow ends."


def test_two_workbooks_of_one_name(tmp_path: Path) -> None:
    text = copy.copy(GOOD[0].read_text())
    for name in ("a.yaml", "b.yaml"):
        (tmp_path / name).write_text(text)
    (finding,) = check(found.files([tmp_path])).findings
    assert finding.file == str(tmp_path / "b.yaml")
    assert "a.yaml has the name tripleo.messaging.v1 too" in finding.text


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    file = tmp_path / "latin.yaml"
    file.write_bytes("name: Überblick".encode("latin-1"))
    (finding,) = check([file]).findings
    assert (finding.rule, finding.line) == ("yaml", 1)


def test_a_bomb_is_refused_before_it_goes_off(tmp_path: Path) -> None:
    file = tmp_path / "bomb.yaml"
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
    file.write_text("\n".join(lines))
    (finding,) = check([file]).findings
    assert finding.rule == "yaml"


def test_paths(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"holds no \*\.yaml"):
        found.files([tmp_path])
    with pytest.raises(InvalidInput, match="is no file"):
        found.files([tmp_path / "none.yaml"])
    one, other = tmp_path / "b.yaml", tmp_path / "a.yaml"
    one.touch()
    other.touch()
    assert found.files([one, tmp_path]) == [one, other]
    assert all(file.suffix == ".yaml" for file in found.files([]))


def test_the_shipped_workbooks_have_no_fault() -> None:
    assert [str(finding) for finding in check(found.files([])).findings] == []
