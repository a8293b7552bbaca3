"""The configuration file: read whole, and refused with its place."""

import pytest

from tripleo_worker import conf as options
from tripleo_worker.cmd.serve import identify
from tripleo_worker.errors import InvalidInput


def load(tmp_path, text):
    path = tmp_path / "worker.conf"
    path.write_text(text)
    return options.load([str(path)])


def test_without_a_file_the_defaults_hold():
    conf = options.load([])
    assert conf.zaqar.queues == ["tripleo", "tripleo-progress"]
    assert conf.gateway.port == 8785


def test_later_files_win(tmp_path):
    for name, port in (("a", 1111), ("b", 2222)):
        (tmp_path / name).write_text(f"[gateway]\nport = {port}\nstall = 7\n")
    conf = options.load([str(tmp_path / "a"), str(tmp_path / "b")])
    assert (conf.gateway.port, conf.gateway.stall) == (2222, 7.0)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("[gateway]\nport = high\n", "port"),
        ("[gateway]\nport = 70000\n", "port"),
        ("[gateway]\nheartbeat = 0\n", "heartbeat"),
        ("[gateway\nport = 1\n", "worker.conf"),
        ("nonsense\n", "worker.conf"),
    ],
)
def test_a_fault_is_told_with_its_place(tmp_path, text, named):
    with pytest.raises(InvalidInput, match=named):
        load(tmp_path, text)


def test_a_file_that_is_missing_is_told():
    with pytest.raises(InvalidInput, match="nowhere"):
        options.load(["/nowhere.conf"])


@pytest.mark.parametrize("text", ["", "[keystone]\nauth_type = nonsense\n"])
def test_a_worker_without_a_user_is_told_which_options_it_needs(tmp_path, text):
    with pytest.raises(InvalidInput, match="auth_type"):
        identify(load(tmp_path, text))


def test_every_option_is_in_the_sample_with_a_word():
    listed = {group.name: list(found) for group, found in options.list_opts()}
    assert {"journal", "gateway", "keystone", "zaqar", "notifications"} <= set(listed)
    assert all(option.help for found in listed.values() for option in found)


def test_secrets_are_marked_as_such():
    listed = {o.name: o for _, found in options.list_opts() for o in found}
    for name in ("connection", "transport_url", "password"):
        assert listed[name].secret
