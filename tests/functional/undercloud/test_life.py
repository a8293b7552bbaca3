"""The life of an undercloud: its commands, crashes, and what it lets others see."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import psutil

from tests.functional.undercloud.test_services import until
from tripleo_worker.undercloud import processes

WORKER = Path(sys.executable).with_name("tripleo-worker")


def command(undercloud: Any, *words: str, **options: Any) -> subprocess.CompletedProcess[str]:
    line = [WORKER, "undercloud", *words, "--dir", undercloud.layout.root]
    return subprocess.run(line, capture_output=True, text=True, check=False, **options)


def status(undercloud: Any) -> dict[str, dict[str, Any]]:
    done = command(undercloud, "status", "-f", "json")
    return {row["service"]: row for row in json.loads(done.stdout)}


def test_a_second_up_changes_nothing_and_is_quick(undercloud: Any) -> None:
    before = {name: row["pid"] for name, row in status(undercloud).items()}
    done = command(undercloud, "up", timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("export OS_CLIENT_CONFIG_FILE=")
    assert {name: row["pid"] for name, row in status(undercloud).items()} == before


def test_two_ups_at_once_both_end_well(undercloud: Any) -> None:
    line = [WORKER, "undercloud", "up", "--dir", undercloud.layout.root]
    both = [subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in "12"]
    told = [one.communicate(timeout=120)[1].decode() for one in both]
    assert [one.returncode for one in both] == [0, 0], told


def test_a_service_that_is_killed_comes_back_and_is_counted(undercloud: Any) -> None:
    before = status(undercloud)["swift-object"]
    os.kill(before["pid"], signal.SIGKILL)

    def back() -> bool:
        row = status(undercloud)["swift-object"]
        return bool(row["state"] == "running" and row["pid"] != before["pid"])

    until(back)
    assert status(undercloud)["swift-object"]["restarts"] == before["restarts"] + 1


def test_another_undercloud_on_the_same_ports_is_refused_at_once(
    undercloud: Any, tmp_path: Path
) -> None:
    base = undercloud.port["keystone"]
    done = subprocess.run(
        [WORKER, "undercloud", "up", "--dir", tmp_path, "--port-base", str(base)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 1
    assert "is taken by" in done.stderr
    assert "--port-base" in done.stderr


def test_logs_end_with_the_last_lines(undercloud: Any) -> None:
    done = command(undercloud, "logs", "heat-api", "-n", "3")
    assert done.returncode == 0
    assert len(done.stdout.splitlines()) == 3
    wrong = command(undercloud, "logs", "../secrets")
    assert wrong.returncode == 1
    assert "heat-api" in wrong.stderr


def test_reset_asks_and_does_nothing_without_an_answer(undercloud: Any) -> None:
    done = command(undercloud, "reset", stdin=subprocess.DEVNULL)
    assert done.returncode == 1
    assert "--yes" in done.stderr
    assert undercloud.layout.data.is_dir()


def test_everything_listens_on_loopback_alone(undercloud: Any) -> None:
    ours = {found.process.pid for found in processes.find(undercloud.layout.mark)}
    listening = {
        connection.laddr.ip
        for connection in psutil.net_connections("inet")
        if connection.status == psutil.CONN_LISTEN and connection.pid in ours
    }
    assert listening <= {"127.0.0.1", "::1", "::ffff:127.0.0.1"}


def test_nobody_else_can_read_a_file_or_sees_a_secret(undercloud: Any) -> None:
    secrets = msgspec.structs.asdict(undercloud.secret).values()
    for found in processes.find(undercloud.layout.mark):
        words = " ".join(found.process.cmdline())
        assert not any(secret in words for secret in secrets), found.unit
    mode = stat.S_IMODE(undercloud.layout.root.stat().st_mode)
    assert mode & 0o077 == 0
    files = [undercloud.layout.clouds, *undercloud.layout.etc.rglob("*.conf")]
    assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o600}


def test_the_well_known_ports_stay_free(undercloud: Any) -> None:
    used = set(undercloud.port.values())
    assert used.isdisjoint({3306, 5672, 6379, 5000, 8004, 8080, 8888, 8989, 6385, 4369})
