"""Folders uploaded into real containers, unpacked by Swift or sent side by side."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from keystoneauth1.session import Session

from tripleo_actions.services.swift import Swift
from tripleo_worker.client.folder import templates
from tripleo_worker.client.store import Store
from tripleo_worker.errors import InvalidInput, ServiceError


@pytest.fixture
def container(session: Session) -> Iterator[str]:
    name = f"upload-{uuid.uuid4().hex[:8]}"
    yield name
    Swift(session).delete_container(name)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("overcloud.yaml", "a/b/ä #%?.yaml", "a/empty", "Zürich/漢字.yaml"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("" if name == "a/empty" else f"# {name}\n")
    return tmp_path


@pytest.mark.parametrize("unpacked", [True, False])
def test_a_container_becomes_what_the_folder_is(
    session: Session,
    container: str,
    folder: Path,
    unpacked: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    store, swift = Store(session), Swift(session)
    assert store._unpacks()
    monkeypatch.setattr(store, "_unpacks", lambda: unpacked)
    assert not store.check_free(container)
    swift.create_container(container, {"usage-tripleo": "plan"})
    swift.put(container, "stale/left.yaml", b"x")
    assert store.check_free(container)
    found = templates(folder)
    store.upload(container, found)
    wanted = {one.path: one.file.read_bytes() for one in found}
    assert swift.get_many(container, [one.name for one in swift.objects(container)]) == wanted


def test_a_container_of_somebody_else_is_refused(session: Session, container: str) -> None:
    Swift(session).create_container(container, {})
    with pytest.raises(InvalidInput, match="is no plan's"):
        Store(session).check_free(container)


def test_a_refusal_is_told(session: Session, container: str, folder: Path) -> None:
    with pytest.raises(ServiceError, match=r"refused"):
        Store(session).upload(container, templates(folder))
