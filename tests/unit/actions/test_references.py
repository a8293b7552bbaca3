"""References of templates: followed, rewritten from the plan's root, never out of the plan."""

import json

import pytest

from tripleo_actions import yaml_guard
from tripleo_actions.references import Resolver, heat_environment, merge
from tripleo_worker.errors import InvalidInput

HEAD = "heat_template_version: 2018-08-31\n"
FILES = {
    "overcloud.yaml": HEAD
    + "resources:\n"
    + "  A: {type: nodes/a.yaml}\n"
    + "  B: {type: OS::Heat::Value}\n"
    + "  C: {type: 'http://elsewhere/c.yaml'}\n",
    "nodes/a.yaml": HEAD + "resources:\n  X: {properties: {config: {get_file: ../run.sh}}}\n",
    "nodes/plain.yaml": HEAD,
    "nodes/self.yaml": HEAD + "resources:\n  Me: {type: self.yaml}\n",
    "nodes/lost.yaml": HEAD + "resources:\n  L: {type: nowhere.yaml}\n",
    "nodes/out.yaml": HEAD + "resources:\n  O: {get_file: ../../etc/passwd}\n",
    "notes.yaml": "a: b\n",
    "run.sh": "true\n",
}


@pytest.fixture
def resolver():
    return Resolver(FILES)


def test_all_that_is_referred_to_is_sent_by_its_path_from_the_root(resolver):
    template = resolver.template("overcloud.yaml", "here")
    assert template["resources"]["A"] == {"type": "nodes/a.yaml"}
    assert template["resources"]["C"] == {"type": "http://elsewhere/c.yaml"}
    assert set(resolver.sent) == {"nodes/a.yaml", "run.sh"}
    nested = json.loads(resolver.sent["nodes/a.yaml"])
    assert nested["resources"]["X"]["properties"]["config"] == {"get_file": "run.sh"}


def test_a_template_without_references_is_sent_as_it_is(resolver):
    resolver.nested("nodes/plain.yaml", "here")
    assert resolver.sent == {"nodes/plain.yaml": HEAD}


def test_a_template_that_refers_to_itself_ends(resolver):
    resolver.nested("nodes/self.yaml", "here")
    assert set(resolver.sent) == {"nodes/self.yaml"}


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("nodes/lost.yaml", r"nodes/lost\.yaml: refers to nodes/nowhere\.yaml"),
        ("nodes/out.yaml", "leads out of the plan"),
        ("notes.yaml", "has no heat_template_version"),
        ("none.yaml", r"here: refers to none\.yaml"),
    ],
)
def test_what_is_faulty_is_named_with_the_file_that_refers(resolver, path, words):
    with pytest.raises(InvalidInput, match=words):
        resolver.template(path, "here")


def test_environments_are_joined_and_later_ones_win(resolver):
    joined = heat_environment(
        [
            ("env/one.yaml", {
                "parameter_defaults": {"A": 1, "Map": {"x": 1, "y": 1}},
                "resource_registry": {"OS::My::A": "../nodes/a.yaml", "OS::My::B": "OS::None"},
            }),
            ("env/two.yaml", {
                "parameter_defaults": {"A": 2, "Map": {"y": 2}},
                "resource_registry": {"resources": {"R": {"OS::My::C": "../nodes/plain.yaml"}}},
            }),
        ],
        resolver,
    )  # fmt: skip
    assert joined == {
        "parameter_defaults": {"A": 2, "Map": {"x": 1, "y": 2}},
        "resource_registry": {
            "OS::My::A": "nodes/a.yaml",
            "OS::My::B": "OS::None",
            "resources": {"R": {"OS::My::C": "nodes/plain.yaml"}},
        },
    }
    assert {"nodes/a.yaml", "nodes/plain.yaml"} <= set(resolver.sent)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ({"parameter_default": {}}, r"e\.yaml: Heat knows no section parameter_default"),
        ({"parameter_defaults": None}, r"e\.yaml: the section parameter_defaults is null"),
        ({"resource_registry": []}, r"e\.yaml: the section resource_registry is a list"),
        ({"resource_registry": {"A": "../../x.yaml"}}, "leads out of the plan"),
    ],
)
def test_an_environment_of_the_wrong_shape_is_refused(resolver, content, words):
    with pytest.raises(InvalidInput, match=words):
        heat_environment([("e.yaml", content)], resolver)


def test_merging_changes_neither_side():
    base, top = {"a": {"b": 1}}, {"a": {"c": 2}}
    assert merge(base, top) == {"a": {"b": 1, "c": 2}}
    assert (base, top) == ({"a": {"b": 1}}, {"a": {"c": 2}})


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a: 1\nb:\n  c: 1\n  c: 2\n", r"f\.yaml:4: the key 'c' stands twice"),
        ("- a: 1\n  a: 2\n", r"f\.yaml:2: the key 'a'"),
        ("a: [1\n", r"f\.yaml:2: "),
        ("a: &x\n  b: *x\n", "an alias to itself"),
        ("[" * 100 + "]" * 100, "nested deeper than 64"),
        ("a: !!python/object:os.system {}\n", r"f\.yaml:1: "),
        ("a: 1\n---\nb: 2\n", r"f\.yaml:2: "),
        ("- 1\n", r"f\.yaml: a mapping is expected, not a list"),
        ("1: a\n", r"the key 1 is no text"),
        (b"\xff\xfe\xfa", r"f\.yaml: cannot be read"),
        ("a: '" + "x" * (4 * 1024 * 1024) + "'", r"f\.yaml: larger than"),
    ],
)
def test_hostile_yaml_is_refused_with_file_and_line(text, words):
    with pytest.raises(InvalidInput, match=words):
        yaml_guard.load_mapping(text, "f.yaml")


def test_a_bomb_of_aliases_is_refused_before_it_is_written_out():
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    with pytest.raises(InvalidInput, match="more than 500000 nodes"):
        yaml_guard.load("\n".join(lines), "f.yaml")


def test_times_stay_texts_and_merges_work():
    text = "heat_template_version: 2018-08-31\nbase: &b {x: 1}\nmore: {<<: *b, y: 2}\n"
    found = yaml_guard.load_mapping(text, "f.yaml")
    assert found["heat_template_version"] == "2018-08-31"
    assert found["more"] == {"x": 1, "y": 2}
    assert yaml_guard.load_mapping("# nothing\n", "f.yaml") == {}
