"""The demo: what it runs, in which order, and what it says."""

import io

import pytest

from tripleo_worker.cmd.demo import Ran, Show, exports, farewell, plans

EXPORT = "export OS_CLIENT_CONFIG_FILE='/tmp/a cloud/clouds.yaml' OS_CLOUD=undercloud\n"


class Recorder:
    """Stands for the shell: answers by the first words of a command."""

    def __init__(self, **answers):
        self.answers = answers
        self.commands = []
        self.variables = []

    def __call__(self, command, variables, keep):
        self.commands.append(" ".join(command))
        self.variables.append(dict(variables))
        return self.answers.get("_".join(command[:4]).replace("-", "_"), Ran(code=0))


def show(recorder, where=()):
    words = io.StringIO()
    return Show(recorder, words, where, "overcloud"), words


def answers(listed="[]"):
    return {
        "tripleo_worker_undercloud_up___worker": Ran(code=0, output=EXPORT),
        "openstack_overcloud_plan_list": Ran(code=0, output=listed),
    }


def test_the_first_run_creates_the_plan_and_deploys_it():
    recorder = Recorder(**answers())
    demo, words = show(recorder, ["--dir", "d"])
    assert demo.play(["--parameter", "ComputeCount=2"]) == 0
    assert recorder.commands[:4] == [
        "tripleo-worker undercloud up --worker --dir d",
        "openstack overcloud plan list -f json",
        "openstack overcloud plan create overcloud",
        "openstack overcloud deploy --plan overcloud --parameter ComputeCount=2 --wait",
    ]
    for command in recorder.commands:
        assert f"$ {command}\n" in words.getvalue().replace("'", "")


def test_a_second_run_deploys_the_plan_that_exists():
    recorder = Recorder(**answers('[{"Name": "overcloud"}]'))
    demo, words = show(recorder)
    assert demo.play() == 0
    assert not any("create" in command for command in recorder.commands)
    assert "deployed again" in words.getvalue()


def test_each_command_after_the_first_runs_against_the_undercloud():
    recorder = Recorder(**answers())
    demo, _ = show(recorder)
    demo.play()
    assert recorder.variables[0] == {}
    assert {row["OS_CLOUD"] for row in recorder.variables[1:]} == {"undercloud"}
    assert recorder.variables[-1]["OS_CLIENT_CONFIG_FILE"] == "/tmp/a cloud/clouds.yaml"


@pytest.mark.parametrize("failing", [0, 1, 2, 3, 4])
def test_a_command_that_fails_ends_the_demo_with_its_code(failing):
    class Failing(Recorder):
        def __call__(self, command, variables, keep):
            answer = super().__call__(command, variables, keep)
            return Ran(code=3) if len(self.commands) == failing + 1 else answer

    recorder = Failing(**answers())
    demo, _ = show(recorder)
    assert demo.play() == 3
    assert len(recorder.commands) == failing + 1


def test_only_export_lines_are_read():
    text = f"some words\n{EXPORT}export -p\nexported X=1\n"
    assert exports(text) == {
        "OS_CLIENT_CONFIG_FILE": "/tmp/a cloud/clouds.yaml",
        "OS_CLOUD": "undercloud",
    }


def test_a_list_of_plans_that_cannot_be_read_names_none():
    assert plans('[{"Name": "a"}, {"Name": "b"}]') == {"a", "b"}
    assert plans("[]") == plans("no JSON") == set()


def test_the_farewell_can_be_pasted_into_a_shell():
    text = farewell({"OS_CLIENT_CONFIG_FILE": "/a b/c"}, "prod", "tripleo-worker undercloud down")
    assert "export OS_CLIENT_CONFIG_FILE='/a b/c'" in text
    assert "deploy --plan prod" in text
    assert "`tripleo-worker undercloud down`" in text
