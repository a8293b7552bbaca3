"""How many resources will send events, by two previews and what is there."""

from hypothesis import given
from hypothesis import strategies as st

from tripleo_actions import stack_expected
from tripleo_actions.stack_expected import tree

ROOT = "http://heat/stacks/oc/1"
GROUP = "http://heat/stacks/oc-Servers-abcdefabcdef/2"


def node(index):
    return f"http://heat/stacks/oc-Servers-abcdefabcdef-{index}-ghijklghijkl/3{index}"


def leaf(name, above="", **properties):
    stack = f"p-{above}" if above else "p"
    return {
        "resource_name": name,
        "resource_type": "OS::X",
        "stack_name": stack,
        "properties": properties,
    }


def preview(nodes, identifier="1", extra=()):
    servers = [
        [leaf("Boot", f"Servers-{n}"), leaf("Run", f"Servers-{n}", value=identifier)]
        for n in range(nodes)
    ]
    return [leaf("Cookie"), leaf("Step", value=identifier), servers, *extra]


def listed(name, own, nested="", status="CREATE_COMPLETE"):
    links = [{"rel": "stack", "href": own}]
    links += [{"rel": "nested", "href": nested}] if nested else []
    return {"resource_name": name, "resource_status": status, "links": links}


def listing(nodes):
    found = [listed("Cookie", ROOT), listed("Step", ROOT), listed("Servers", ROOT, GROUP)]
    for n in range(nodes):
        found += [listed(str(n), GROUP, node(n))]
        found += [listed(name, node(n)) for name in ("Boot", "Run")]
    return found


def updated(wanted, deployed, here):
    return stack_expected.updated(tree(wanted, "p"), tree(deployed, "p"), here, "oc")


def test_nested_stacks_are_always_updated_and_leaves_only_if_they_change():
    assert updated(preview(2), preview(2), listing(2)) == 3
    assert updated(preview(2, "2"), preview(2), listing(2)) == 3 + 1 + 2


def test_nodes_that_come_and_go_count_with_all_that_is_in_them():
    assert updated(preview(3), preview(1), listing(1)) == (1 + 3) + 2 * 2
    assert updated(preview(1), preview(3), listing(3)) == (1 + 1) + 2 * (1 + 2)


def test_what_failed_or_never_came_to_be_is_made_again():
    here = [one for one in listing(2) if one["resource_name"] != "Cookie"]
    assert updated(preview(2), preview(2), here) == 3 + 1
    broken = listing(2)
    broken[1] = listed("Step", ROOT, status="CREATE_FAILED")
    broken[4] = listed("Boot", node(0), status="INIT_COMPLETE")
    assert updated(preview(2), preview(2), broken) == 3 + 2


@given(st.integers(0, 6), st.integers(0, 6), st.booleans())
def test_no_count_is_below_what_must_change(before, after, again):
    wanted = preview(after, "2" if again else "1")
    count = updated(wanted, preview(before), listing(before))
    steps = 1 + min(before, after) if again else 0
    assert count == 1 + after + steps + 2 * max(0, after - before) + 3 * max(0, before - after)


@given(st.recursive(st.just({}), lambda deeper: st.lists(deeper, max_size=4), max_leaves=30))
def test_a_new_stack_counts_every_resource_and_every_nest(shape):
    whole = shape if isinstance(shape, list) else [shape]
    text = repr(whole)
    assert stack_expected.created(whole) == text.count("{}") + text.count("[") - 1


def test_hidden_values_do_not_pass_for_changes():
    held = {
        "parameters": {},
        "parameter_defaults": {"Secret": "******", "Gone": "******", "Count": 1},
        "event_sinks": [{}],
    }
    wanted = {"parameter_defaults": {"Secret": "canary", "Count": 2}}
    assert stack_expected.unmasked(held, wanted) == {
        "parameters": {},
        "parameter_defaults": {"Secret": "canary", "Gone": "******", "Count": 1},
    }
