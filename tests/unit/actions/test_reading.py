"""What users give: YAML, paths, templates, values."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tripleo_actions import messages, names, parameter_check, passwords, rendering, sample
from tripleo_actions.plan import read_map, with_passwords
from tripleo_actions.plan_environment import default
from tripleo_actions.stack_request import rendered_files, stack_request
from tripleo_worker.errors import InvalidInput

ROLES = "- name: Controller\n- name: Compute\n"


def render(files):
    return rendering.render({"roles_data.yaml": ROLES, **files})


def test_templates_render_once_or_once_a_role():
    assert render(
        {
            "all.j2.yaml": "{% for role in roles %}{{ role.name }} {% endfor %}",
            "nodes/role.role.j2.yaml": "{{ role }}",
        }
    ) == {
        "all.yaml": "Controller Compute ",
        "nodes/controller-role.yaml": "Controller",
        "nodes/compute-role.yaml": "Compute",
    }


@pytest.mark.parametrize(
    ("template", "word"),
    [
        ("one\n{% if %}\n", r"bad\.j2\.yaml:2"),
        ("{{ missing }}", "missing"),
        ("{{ ''.__class__.__mro__ }}", "unsafe"),
        ("{{ 'x' * 10000000 }}", "more than"),
        ("{% for a in range(9999999) %}{{ a }}{% endfor %}", "too big|more than"),
    ],
)
def test_a_template_that_is_faulty_or_hostile_is_refused(template, word):
    with pytest.raises(InvalidInput, match=word):
        render({"bad.j2.yaml": template})


@pytest.mark.parametrize("roles", ["- name: 5x\n", "- name: A\n- name: a\n", "a: b\n", "- x\n"])
def test_roles_that_cannot_be_are_refused(roles):
    with pytest.raises(InvalidInput, match="roles_data"):
        rendering.render({"roles_data.yaml": roles})


@pytest.mark.parametrize("path", ["/etc/passwd", "../x", "a/../../x", "", ".", "a\\b", "a\0b", 5])
def test_a_path_that_leads_out_of_the_plan_is_refused(path):
    with pytest.raises(InvalidInput):
        names.plan_path(path, "here")


def test_the_sample_renders_and_asks_for_all_its_files():
    files = rendered_files({path: body.decode() for path, body in sample.files().items()})
    environment = with_passwords(default("oc", read_map(files)), files)
    request = stack_request(environment, files)
    assert set(environment["passwords"]) == {"AdminPassword", "DatabasePassword"}
    assert {"nodes/controller-role.yaml", "nodes/compute-role.yaml"} <= set(request["files"])
    used = set(request["files"])
    rest = (
        {
            path
            for path in files
            if not path.endswith((".j2.yaml", "map.yaml", "data.yaml", "excludes.yaml"))
            and not path.startswith("environments/")
        }
        - used
        - {"overcloud.yaml", "overcloud-resource-registry.yaml", "plan-environment.yaml"}
    )
    assert rest == {"network/external.yaml", "network/internal_api.yaml", "network/storage.yaml"}


def test_passwords_are_made_for_hidden_texts_without_a_default_and_kept():
    template = {
        "parameters": {
            "AdminPassword": {"type": "string", "hidden": True},
            "OldPassword": {"type": "string", "hidden": True, "default": ""},
            "PasswordLength": {"type": "number"},
        }
    }
    assert passwords.wanted([template]) == ["AdminPassword"]
    held = {"AdminPassword": "kept"}
    assert passwords.completed(held, ["AdminPassword", "New"], lambda: "made") == {
        "AdminPassword": "kept",
        "New": "made",
    }
    assert len({passwords.generate() for _ in range(50)}) == 50


SPECS = {
    "Count": {"Type": "Number", "MinValue": "0", "MaxValue": 5},
    "On": {"Type": "Boolean"},
    "Kind": {"Type": "String", "AllowedValues": ["a", "b"], "MaxLength": 1},
    "Name": {"Type": "String", "AllowedPattern": "[a-z]+"},
    "Many": {"Type": "CommaDelimitedList", "MinLength": 1},
    "Tree": {"Type": "Json"},
    "AdminPassword": {"Type": "String", "NoEcho": "true", "MinLength": 8},
}


@pytest.mark.parametrize(
    ("name", "value"),
    [("Count", 3), ("Count", "3"), ("Count", 0), ("On", True), ("On", "yes"), ("Kind", "a"),
     ("Name", "abc"), ("Many", "a,b"), ("Many", ["a"]), ("Tree", {}), ("Tree", '{"a": 1}'),
     ("Unknown", object()), ("Count", None)],
)  # fmt: skip
def test_values_that_fit_pass(name, value):
    parameter_check.check({"Parameters": SPECS}, {name: value})


@pytest.mark.parametrize(
    ("name", "value"),
    [("Count", -1), ("Count", 6), ("Count", "x"), ("Count", True), ("On", "maybe"), ("On", 7),
     ("Kind", "c"), ("Kind", {}), ("Name", "A"), ("Name", "abc\n"), ("Many", {}), ("Many", ""),
     ("Tree", "no"), ("Tree", 5)],
)  # fmt: skip
def test_values_that_do_not_fit_are_named(name, value):
    with pytest.raises(InvalidInput, match=f"{name}: "):
        parameter_check.check({"Parameters": SPECS}, {name: value})


def test_a_hidden_value_is_not_repeated():
    with pytest.raises(InvalidInput) as told:
        parameter_check.check({"Parameters": SPECS}, {"AdminPassword": "canary"})
    assert "canary" not in str(told.value)


execution = {"id": "e", "input": {"container": "oc", "AdminPassword": "canary"}}


def test_a_message_has_both_ways_of_naming_its_execution_and_no_secret():
    payload = messages.build_payload(status="SUCCESS", message=None, execution=execution)
    assert payload["message"] == ""
    assert payload["execution_id"] == payload["root_execution_id"] == "e"
    assert payload["execution"]["id"] == "e"
    assert payload["plan_name"] == "oc"
    assert "canary" not in str(payload)


def test_an_error_becomes_its_text():
    error = {"type": "call-failed", "text": "Heat says no", "detail": {}}
    payload = messages.build_payload(status="FAILED", message=error, execution=execution)
    assert payload["message"] == "Heat says no"
    assert payload["error"] == error


@given(st.text(min_size=1), st.integers(1, 200_000))
def test_whatever_is_too_large_is_made_to_fit(text, times):
    large = (text * times)[:400_000]
    payload = messages.build_payload(
        status="FAILED", message=large, execution=execution, extra={"lines": [large]}
    )
    body = {"type": "t", "payload": payload}
    if not messages.fits(body):
        body["payload"] = messages.shrink(payload, "http://swift/x")
        assert body["payload"]["payload_url"]
    assert messages.fits(body)
    assert body["payload"]["status"] == "FAILED"
    assert body["payload"]["execution"]["id"] == "e"
