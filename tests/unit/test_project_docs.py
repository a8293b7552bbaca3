"""The documents: examples that run, samples that are current, links that lead somewhere."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "doc" / "source"
EXAMPLES = SOURCES / "examples"
PAGES = [*SOURCES.rglob("*.rst"), ROOT / "README.rst", ROOT / "CONTRIBUTING.rst"]
#: Files that a document may name before they are built or made.
MADE = ("doc/build/", ".bench/", ".undercloud/", "tests/benchmarks/bench_NAME")


def standard(module):
    return module in sys.stdlib_module_names


@pytest.mark.parametrize(
    ("name", "allowed"), [("listen_websocket.py", {"websockets"}), ("listen_sse.py", set())]
)
def test_the_listeners_use_plain_libraries(name, allowed):
    imported = {
        alias.name.split(".")[0]
        for node in ast.walk(ast.parse((EXAMPLES / name).read_text()))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    assert {module for module in imported if not standard(module)} == allowed


@pytest.mark.parametrize(
    ("sample", "command"),
    [
        (
            "tripleo-worker.conf.sample",
            ["oslo-config-generator", "--namespace", "tripleo_worker", "--wrap-width", "79"],
        ),
        (
            "policy.yaml.sample",
            ["oslopolicy-sample-generator", "--namespace", "tripleo_worker"],
        ),
    ],
)
def test_the_samples_are_those_of_the_code(sample, command, tmp_path):
    program = Path(sys.executable).with_name(command[0])
    made = tmp_path / sample
    subprocess.run([program, *command[1:], "--output-file", made], check=True, capture_output=True)
    assert (ROOT / "etc" / sample).read_text() == made.read_text(), "run `make samples`"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_files_that_a_page_names_exist(page):
    named = re.findall(r"``((?:[\w.-]+/)+[\w.-]*)``", page.read_text())
    inside = [
        name for name in named if (ROOT / name.split("/")[0]).is_dir() and not name.startswith(MADE)
    ]
    assert [name for name in inside if not (ROOT / name).exists()] == []


@pytest.mark.parametrize("page", [ROOT / "README.rst"], ids=["README.rst"])
def test_the_pictures_that_the_readme_shows_exist(page):
    pictures = re.findall(r"image:: (\S+)", page.read_text())
    assert pictures
    assert [name for name in pictures if not (ROOT / name).is_file()] == []


def test_the_readme_gives_its_commands_on_the_first_screen():
    screen = (ROOT / "README.rst").read_text().splitlines()[:35]
    commands = [line.split("#")[0].strip() for line in screen if line.startswith("    make ")]
    assert commands == ["make demo", "make test"]


def test_every_target_that_a_page_names_is_in_the_makefile():
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = {
        target
        for page in PAGES
        for target in re.findall(r"(?:``|^ +(?:\$ )?)make ([a-z][a-z-]+)", page.read_text(), re.M)
    }
    assert named - targets == set()


def test_every_error_has_a_code_of_its_own():
    from tripleo_worker import errors

    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type)]
    codes = [kind.code for kind in kinds]
    assert len(set(codes)) == len(codes)
