"""Another project with a user and workflows of its own."""

from __future__ import annotations

import uuid
from collections.abc import Iterator

import pytest
from keystoneauth1.identity import V3Password
from keystoneauth1.session import Session

from tests.functional.conftest import Undercloud
from tests.functional.samples import Plans


@pytest.fixture
def plans(session: Session) -> Iterator[Plans]:
    made = Plans(session)
    yield made
    made.remove()


@pytest.fixture(scope="session")
def stranger(undercloud: Undercloud, session: Session) -> Iterator[Session]:
    """A session of a user who has nothing to do with the project ``admin``."""
    name, url = f"stranger-{uuid.uuid4().hex[:8]}", undercloud.auth_url
    admin = undercloud.session(system_scope="all")

    def make(kind: str, **body: str) -> str:
        answer = admin.post(f"{url}/{kind}s", json={kind: {"domain_id": "default", **body}})
        return str(answer.json()[kind]["id"])

    project, user = make("project", name=name), make("user", name=name, password=name)
    roles = admin.get(f"{url}/roles", params={"name": "member"}).json()["roles"]
    admin.put(f"{url}/projects/{project}/users/{user}/roles/{roles[0]['id']}")
    auth = V3Password(
        auth_url=url, user_id=user, password=name, project_id=project, include_catalog=True
    )
    yield Session(auth=auth, timeout=60)
    admin.delete(f"{url}/users/{user}")
    admin.delete(f"{url}/projects/{project}")
