"""The plan that ships: whole, without orphans, and deployable on Heat alone."""

import pytest
import yaml

from tripleo_actions import plan_environment, rendering, sample, stack_request
from tripleo_actions.plan import read_map
from tripleo_actions.stack_request import rendered_files

FILES = {path: body.decode() for path, body in sample.files().items()}
RENDERED = rendered_files(FILES)
MAP = read_map(RENDERED)
GROUPS = [group for topic in MAP["topics"] for group in topic["environment_groups"]]
OFFERED = {one["file"] for group in GROUPS for one in group["environments"]}


def load(path):
    return yaml.safe_load(RENDERED[path])


def environment(*paths):
    base = plan_environment.parse(FILES["plan-environment.yaml"], "oc")
    return plan_environment.with_environments(base, paths, ())


def test_every_role_has_its_parameters_and_its_nodes():
    assert [role["name"] for role in rendering.read_roles(FILES)] == ["Controller", "Compute"]
    root = load("overcloud.yaml")
    for role in ("Controller", "Compute"):
        count = root["parameters"][f"{role}Count"]
        assert count["constraints"] == [{"range": {"min": 0, "max": 500}}]
        assert root["resources"][f"{role}Servers"]["type"] == "OS::Heat::ResourceGroup"
        assert role in load(f"nodes/{role.lower()}-role.yaml")["resources"]
    assert root["parameters"]["FailRole"]["constraints"] == [
        {"allowed_values": ["", "Controller", "Compute"]}
    ]


def test_every_parameter_is_described_and_used():
    root = load("overcloud.yaml")
    text = RENDERED["overcloud.yaml"]
    for name, parameter in root["parameters"].items():
        assert parameter["description"], name
        assert f"get_param: {name}}}" in text, name


@pytest.mark.parametrize("path", sorted(OFFERED))
def test_each_environment_on_offer_can_be_switched_on(path):
    request = stack_request.stack_request(environment(path), RENDERED)
    known = load("overcloud.yaml")["parameters"]
    given = yaml.safe_load(RENDERED[path])
    assert given, path
    assert set(given.get("parameter_defaults") or {}) <= set(known)
    for name, value in (given.get("parameter_defaults") or {}).items():
        assert request["environment"]["parameter_defaults"][name] == value


def test_all_environments_are_on_offer_and_all_offers_exist():
    held = {path for path in RENDERED if path.startswith("environments/")}
    assert held == OFFERED
    required = {
        file
        for group in GROUPS
        for one in group["environments"]
        for file in one.get("requires", ())
    }
    assert required <= OFFERED
    assert all(topic["title"] and topic["description"] for topic in MAP["topics"])


def test_no_file_is_left_over():
    asked = set(stack_request.stack_request(environment(), RENDERED)["files"])
    known = {"overcloud.yaml", "plan-environment.yaml", "overcloud-resource-registry.yaml"}
    data = {"roles_data.yaml", "network_data.yaml", "j2_excludes.yaml", "capabilities-map.yaml"}
    sources = {path for path in RENDERED if rendering.is_template(path)}
    assert set(RENDERED) == asked | known | data | sources | OFFERED


def test_it_asks_for_nothing_but_heat():
    templates = [
        yaml.safe_load(text)
        for path, text in RENDERED.items()
        if "heat_template_version" in text and not rendering.is_template(path)
    ]
    kinds = {
        resource["type"]
        for template in templates
        for resource in (template.get("resources") or {}).values()
    }
    assert all(kind.startswith(("OS::Heat::", "OS::TripleO::")) for kind in kinds), kinds


def test_it_renders_for_any_roles():
    roles = "- {name: Storage, networks: [Storage], HostnameFormatDefault: s-%index%, "
    roles += "ServicesDefault: []}\n"
    rendered = rendered_files({**FILES, "roles_data.yaml": roles})
    assert "nodes/storage-role.yaml" in rendered
    root = yaml.safe_load(rendered["overcloud.yaml"])
    assert root["parameters"]["StorageCount"]["default"] == 0
    assert "ControllerCount" not in root["parameters"]
