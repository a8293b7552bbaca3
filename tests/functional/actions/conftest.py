"""Plans of the module's own, and what is stored of one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from keystoneauth1.session import Session

from tests.functional.samples import Plans


@dataclass(frozen=True)
class Kept:
    """All that the services store of a plan."""

    files: dict[str, bytes]
    environment: dict[str, Any]


def kept(plans: Plans, plan: str) -> Kept:
    """Read it, byte for byte."""
    names = [one.name for one in plans.swift.objects(plan)]
    return Kept(plans.swift.get_many(plan, names), plans.mistral.environment(plan))


@pytest.fixture(scope="module")
def plans(session: Session) -> Iterator[Plans]:
    made = Plans(session)
    yield made
    made.remove()


@pytest.fixture(scope="module")
def plan(plans: Plans) -> str:
    """One sample plan for a module's tests."""
    return plans.create()
