"""An undercloud of small programs in place of services."""

import sys

import pytest

from tripleo_worker.undercloud.layout import Layout
from tripleo_worker.undercloud.units import Kind, Unit


@pytest.fixture
def layout(tmp_path):
    made = Layout.at(tmp_path / "uc")
    for folder in (made.root, made.run, made.logs, made.data, made.done):
        folder.mkdir(parents=True, exist_ok=True)
    return made


def unit(name, script, **more):
    """A unit that runs a line of Python."""
    return Unit(name=name, command=(sys.executable, "-c", script), **more)


def step(name, script, **more):
    return unit(name, script, kind=Kind.ONCE, **more)


SLEEP = "import time; time.sleep(600)"
