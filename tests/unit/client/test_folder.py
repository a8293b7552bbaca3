"""Which files of a folder are uploaded, and which folders are refused."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tripleo_worker.client import folder
from tripleo_worker.client.folder import templates
from tripleo_worker.errors import InvalidInput


def _write(root: Path, *names: str) -> None:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(name)


def test_files_are_found_by_their_path(tmp_path: Path) -> None:
    _write(tmp_path, "b.yaml", "a/c.yaml", ".git/config", ".hidden", "__pycache__/x.pyc", "é.yaml")
    (tmp_path / "link.yaml").symlink_to("a/c.yaml")
    found = templates(tmp_path)
    assert [one.path for one in found] == ["a/c.yaml", "b.yaml", "link.yaml", "é.yaml"]
    assert found[1].size == 6


def test_all_faults_are_told_at_once(tmp_path: Path) -> None:
    inside, outside = tmp_path / "in", tmp_path / "out"
    _write(inside, "good.yaml")
    _write(outside, "secret")
    (inside / "out.yaml").symlink_to(outside / "secret")
    (inside / "up.yaml").symlink_to("../out/secret")
    (inside / "dead.yaml").symlink_to("nowhere")
    (inside / "loop.yaml").symlink_to("loop.yaml")
    (inside / "dir").symlink_to(outside)
    (inside / "near").symlink_to(".")
    os.mkfifo(inside / "pipe")
    _write(inside, "bad\x1bname")
    with pytest.raises(InvalidInput) as raised:
        templates(inside)
    told = str(raised.value)
    for name in ("out.yaml: it is a symbolic link out", "up.yaml: it is a symbolic link out"):
        assert name in told
    assert "dir: it is a symbolic link out of the folder" in told
    assert "near: it is a symbolic link to a folder" in told
    assert "dead.yaml: it leads nowhere" in told
    assert "loop.yaml: it leads nowhere" in told
    assert "pipe: it is no regular file" in told
    assert "bad\\x1bname: its name" in told
    assert "good.yaml" not in told
    assert "nothing was uploaded" in told


@pytest.mark.parametrize("name", ["missing", "file"])
def test_what_is_no_folder(tmp_path: Path, name: str) -> None:
    _write(tmp_path, "file")
    with pytest.raises(InvalidInput, match="no such folder"):
        templates(tmp_path / name)


def test_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InvalidInput, match="no templates"):
        templates(tmp_path)
    _write(tmp_path, "a", "b", "c")
    monkeypatch.setattr(folder, "MOST_FILES", 3)
    assert len(templates(tmp_path)) == 3
    monkeypatch.setattr(folder, "MOST_FILES", 2)
    with pytest.raises(InvalidInput, match="3 files"):
        templates(tmp_path)
    monkeypatch.setattr(folder, "LARGEST_FILE", 0)
    with pytest.raises(InvalidInput, match="larger than"):
        templates(tmp_path)
