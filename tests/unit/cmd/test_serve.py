"""``tripleo-worker serve`` refuses what it cannot run with, in words, before it begins."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(sys.executable).with_name("tripleo-worker")


def serve(path):
    return subprocess.run(
        [PROGRAM, "serve", "--config-file", path],
        capture_output=True,
        text=True,
        timeout=60,
        env={name: value for name, value in os.environ.items() if name[:3] != "OS_"},
    )


KEYSTONE = """
[keystone]
auth_type = password
auth_url = http://127.0.0.1:9/v3
username = worker
password = canary-secret
project_name = admin
user_domain_id = default
project_domain_id = default
"""


@pytest.mark.parametrize(
    ("text", "named", "code"),
    [
        ("[gateway]\nport = high\n", "port", 2),
        ("", "auth_type", 2),
        (f"[journal]\nconnection = nowhere\n{KEYSTONE}", "[journal] connection", 2),
        (f"[journal]\nconnection = sqlite:////proc/none/j.sqlite\n{KEYSTONE}", "/proc/none", 1),
    ],
)
def test_a_configuration_that_does_not_do_is_told(tmp_path, text, named, code):
    path = tmp_path / "worker.conf"
    path.write_text(text)
    done = serve(path)
    assert done.returncode == code, done.stderr
    assert named in done.stderr
    assert "Traceback" not in done.stderr
    assert "canary-secret" not in done.stderr + done.stdout


def test_a_missing_file_is_told(tmp_path):
    done = serve(tmp_path / "none.conf")
    assert done.returncode == 2
    assert "none.conf" in done.stderr
    assert "--config-file" in done.stderr
