"""The way to a resource, read from the names of nested stacks."""

from __future__ import annotations

import pytest

from tests.unit.operations.scripts import announced, placed, resource
from tripleo_worker.operations import fold_all
from tripleo_worker.places import labelled, way

NESTED = "my-cloud-ComputeServers-lwtf2gi6z4tm-0-u6w46dknolna"


@pytest.mark.parametrize(
    ("stack", "root", "shown"),
    [
        ("my-cloud", "my-cloud", ""),
        (NESTED, "my-cloud", "ComputeServers.0"),
        ("my-cloud-Own-Net-flzw5nofbgyk", "my-cloud", "Own-Net"),
        (NESTED, "", "my-cloud-ComputeServers.0"),
        ("odd", "my-cloud", "odd"),
    ],
)
def test_ways(stack: str, root: str, shown: str) -> None:
    assert way(stack, root) == shown


def test_labels() -> None:
    assert labelled("ComputeServers.0", "NodeConfig") == "ComputeServers.0.NodeConfig"
    assert labelled("", "Cookie") == "Cookie"


def test_the_fold_knows_the_way_to_what_goes_on_and_to_what_failed() -> None:
    own = resource(
        NESTED.replace("my-cloud", "overcloud"),
        "IN_PROGRESS",
        stack="s2",
        kind="OS::Heat::Stack",
        physical="s2",
    )
    events = [
        announced(3),
        own,
        resource("NodeConfig", "IN_PROGRESS", stack="s2", seconds=1),
        resource("Cookie", "IN_PROGRESS", seconds=2),
        resource("Check", "FAILED", stack="s2", reason="bad", seconds=3),
    ]
    operation = fold_all(None, placed(events))
    assert operation is not None
    assert [one.label for one in operation.active] == ["Cookie", "ComputeServers.0.NodeConfig"]
    assert [one.label for one in operation.failures] == ["ComputeServers.0.Check"]
