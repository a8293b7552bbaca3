"""The unit of systemd starts the command as it is."""

import shlex
from pathlib import Path

from tripleo_worker.cmd.main import WorkerApp
from tripleo_worker.cmd.serve import Serve

UNIT = Path(__file__).parents[3] / "systemd" / "tripleo-worker.service"


def test_the_unit_gives_the_command_options_that_it_has():
    (line,) = [line for line in UNIT.read_text().splitlines() if line.startswith("ExecStart=")]
    program, name, *options = shlex.split(line.partition("=")[2])
    assert (Path(program).name, name) == ("tripleo-worker", "serve")
    parsed = Serve(WorkerApp(), None).get_parser("serve").parse_args(options)
    assert parsed.config_file == ["/etc/tripleo-worker/tripleo-worker.conf"]


def test_the_unit_expects_signs_of_life():
    text = UNIT.read_text()
    assert "Type=notify" in text
    assert "WatchdogSec=" in text
