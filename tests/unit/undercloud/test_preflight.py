"""Looks before the leap, locks, files: what stops a start, and in which words."""

import os
import shutil
import socket
import stat
import threading
from collections import namedtuple

import pytest

from tripleo_worker.cmd.main import main
from tripleo_worker.errors import (
    InvalidInput,
    NoSpace,
    PackageMissing,
    PortTaken,
    UndercloudBusy,
    UndercloudError,
)
from tripleo_worker.undercloud import credentials, preflight, rendering, settings
from tripleo_worker.undercloud.layout import Layout, port_map
from tripleo_worker.undercloud.locks import hold
from tripleo_worker.undercloud.services import declared
from tripleo_worker.undercloud.settings import Settings
from tripleo_worker.undercloud.units import Unit


def test_a_port_that_is_taken_is_told_with_its_holder():
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(
            PortTaken, match=rf"Port {port} \(heat\).*process {os.getpid()}"
        ) as told:
            preflight.check_ports({"heat": port})
    assert "--port-base" in told.value.remedy


def test_programs_that_are_missing_are_told_with_one_command():
    wanted = (("nowhere-server", "nowhere-package"), ("sh", "dash"))
    with pytest.raises(PackageMissing, match="nowhere-server") as told:
        preflight.check_programs([Unit(name="x", command=(), programs=wanted)])
    assert told.value.remedy.endswith("sudo apt-get install nowhere-package")


def test_every_program_of_a_distribution_has_its_package(layout):
    pairs = {pair for one in declared(layout, Settings(worker=True)) for pair in one.programs}
    assert {package for _, package in pairs} == {
        "redis-server",
        "rabbitmq-server",
        "erlang-base",
        "mariadb-server",
    }


def test_a_full_disk_stops_the_start(layout, monkeypatch):
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage(0, 0, 5 * 2**20))
    with pytest.raises(NoSpace, match="5 MiB free") as told:
        preflight.check_disk(layout)
    assert "--dir" in told.value.remedy


def test_two_holders_wait_for_one_another(tmp_path):
    order, path = [], tmp_path / "lock"
    begun = threading.Event()

    def first():
        with hold(path):
            begun.set()
            order.append("first in")
            threading.Event().wait(0.4)
            order.append("first out")

    thread = threading.Thread(target=first)
    thread.start()
    begun.wait()
    with hold(path, patience=10, waiting=lambda: order.append("waiting")):
        order.append("second in")
    thread.join()
    assert order == ["first in", "waiting", "first out", "second in"]


def test_who_has_no_patience_is_told(tmp_path):
    with hold(tmp_path / "lock"), pytest.raises(UndercloudBusy), hold(tmp_path / "lock"):
        pass


def test_every_file_that_is_written_is_its_owners_alone(layout):
    before = os.umask(0)
    try:
        secret = credentials.load_or_generate(layout.secrets)
        rendering.render(layout, Settings(worker=True), secret)
        settings.store(layout, Settings())
    finally:
        os.umask(before)
    files = [path for path in layout.root.rglob("*") if path.is_file()]
    assert layout.clouds in files
    assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o600}


def test_passwords_are_made_once_and_differ(layout):
    first = credentials.load_or_generate(layout.secrets)
    assert credentials.load_or_generate(layout.secrets) == first
    other = credentials.load_or_generate(layout.root / "other.json")
    assert first.admin != other.admin


def test_a_template_of_the_users_wins(layout):
    layout.overrides.mkdir()
    (layout.overrides / "heat").mkdir()
    (layout.overrides / "heat" / "heat.conf.j2").write_text(
        "[DEFAULT]\nmine = {{ port['heat'] }}\n"
    )
    secret = credentials.load_or_generate(layout.secrets)
    rendering.render(layout, Settings(port_base=30000), secret)
    text = (layout.etc / "heat" / "heat.conf").read_text()
    assert text == f"[DEFAULT]\nmine = {port_map(30000)['heat']}\n"


def test_a_template_that_is_faulty_is_told_with_its_line(layout):
    (layout.overrides / "heat").mkdir(parents=True)
    (layout.overrides / "heat" / "heat.conf.j2").write_text("one\n{% if %}\n")
    with pytest.raises(UndercloudError, match=r"heat\.conf\.j2, line 2"):
        rendering.render(layout, Settings(), credentials.load_or_generate(layout.secrets))


def test_only_what_changed_is_rendered_anew(layout):
    secret = credentials.load_or_generate(layout.secrets)
    assert rendering.render(layout, Settings(), secret)
    assert rendering.render(layout, Settings(), secret) == set()


def test_no_command_line_carries_a_secret(layout):
    secret = credentials.load_or_generate(layout.secrets)
    words = [word for one in declared(layout, Settings(worker=True)) for word in one.command]
    import msgspec

    for value in msgspec.structs.asdict(secret).values():
        assert not any(value in word for word in words)


def test_ports_of_two_bases_do_not_meet():
    assert set(port_map(21000).values()).isdisjoint(port_map(21100).values())
    with pytest.raises(InvalidInput, match="--port-base"):
        port_map(65500)


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("status",), 1),
        (("down",), 0),
        (("restart", "heat-api"), 1),
        (("logs", "heat-api"), 1),
        (("reset",), 1),
    ],
)
def test_commands_on_an_undercloud_that_is_not_there(tmp_path, words, code, capsys):
    assert main(["undercloud", *words, "--dir", str(tmp_path / "none")]) == code


def test_the_default_folder_is_the_users(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert Layout.at(None).root == tmp_path / "tripleo-worker" / "undercloud"
