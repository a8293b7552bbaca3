"""What holds for every committed file, and for the package as a whole."""

import ast
import importlib
import re
import subprocess
import tomllib
from importlib import metadata
from itertools import chain
from pathlib import Path

import pytest

import tripleo_worker

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
SCRATCH = {".venv", ".undercloud", ".bench", "build", "dist", "__pycache__"}
#: What may stand at the top, so that the tree stays easy to read.
TOP = {
    *("tripleo_worker", "actions", "workbooks", "etc", "systemd", "tests", "doc", "releasenotes"),
    *("pyproject.toml", "constraints.txt", "Makefile", ".ci", ".gitignore"),
    *("README.rst", "CONTRIBUTING.rst", "LICENSE"),
}


def committed():
    """Every file of the project: those git knows, or all in an archive of the sources."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False, text=True
    )
    if listed.returncode == 0:
        paths = [ROOT / name for name in listed.stdout.split("\0") if name]
    else:
        paths = [path for path in ROOT.rglob("*") if not SCRATCH & set(path.parts)]
    return [path for path in paths if path.is_file()]


def texts():
    """Path and text of every committed text."""
    for path in committed():
        try:
            yield path.relative_to(ROOT), path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue


def modules():
    return [
        path
        for path in committed()
        if path.suffix == ".py" and path.relative_to(ROOT).parts[0] in {"tripleo_worker", "actions"}
    ]


def test_the_top_level_is_the_agreed_one():
    assert {path.relative_to(ROOT).parts[0] for path in committed()} <= TOP


def test_no_text_names_a_path_of_the_machine_it_was_written_on():
    own = re.compile(r"(?<![\w.])/(work|root|home/\w+)/\w")
    found = [f"{path}: {line}" for path, text in texts() for line in text.splitlines()
             if own.search(line)]  # fmt: skip
    assert found == []


def test_no_text_is_left_unfinished():
    marks = re.compile(r"\b(TO" r"DO|FIX" r"ME|X" r"XX)\b")
    assert [str(path) for path, text in texts() if marks.search(text)] == []


def test_every_module_says_what_it_owns():
    bare = [p for p in modules() if not ast.get_docstring(ast.parse(p.read_text()))]
    assert [str(path.relative_to(ROOT)) for path in bare] == []


def test_no_module_is_longer_than_400_lines():
    tests = [path for path in committed() if path.suffix == ".py" and "tests" in path.parts]
    lengths = {path: len(path.read_text().splitlines()) for path in modules() + tests}
    assert {str(path.relative_to(ROOT)): n for path, n in lengths.items() if n > 400} == {}


def entry_points():
    groups = {"console_scripts": PROJECT["scripts"], **PROJECT["entry-points"]}
    return [
        pytest.param(value, id=f"{group}:{name}")
        for group, points in groups.items()
        for name, value in points.items()
    ]


@pytest.mark.parametrize("value", entry_points())
def test_every_entry_point_leads_somewhere(value):
    module, _, attribute = value.partition(":")
    target = importlib.import_module(module)
    assert not attribute or callable(getattr(target, attribute))


def test_the_installed_entry_points_are_those_of_the_project():
    installed = metadata.distribution("tripleo-worker").entry_points
    names = {(point.group, point.name) for point in installed}
    groups = {"console_scripts": PROJECT["scripts"], **PROJECT["entry-points"]}
    assert names == {(group, name) for group, points in groups.items() for name in points}


def test_the_licence_is_the_one_that_is_declared():
    assert PROJECT["license"] == "Apache-2.0"
    text = (ROOT / "LICENSE").read_text()
    assert "Apache License" in text
    assert "Version 2.0, January 2004" in text


def test_the_version_is_named_once():
    assert metadata.version("tripleo-worker") == PROJECT["version"]
    assert not hasattr(tripleo_worker, "__version__") or (
        tripleo_worker.__version__ == PROJECT["version"]
    )


def test_every_requirement_is_pinned():
    pins = {
        re.split(r"[=;\s]", line)[0].lower().replace(".", "-").replace("_", "-")
        for line in (ROOT / "constraints.txt").read_text().splitlines()
        if line and not line.startswith("#")
    }
    extras = chain.from_iterable(PROJECT["optional-dependencies"].values())
    wanted = [*PROJECT["dependencies"], *extras]
    names = {re.split(r"[\[<>=;~! ]", line)[0] for line in wanted} - {"tripleo-worker"}
    assert {name for name in names if re.sub(r"[._]", "-", name.lower()) not in pins} == set()
