"""Laws that hold for whatever comes in: messages, errors, names, capabilities, YAML."""

import json
import posixpath

from hypothesis import given, settings
from hypothesis import strategies as st

from tripleo_actions import capabilities, faults, messages, names, yaml_guard
from tripleo_worker.errors import InvalidInput
from tripleo_worker.redact import mask

CANARY = "Canary-4711-secret"
#: Any character, halves of surrogate pairs too: senders wrote such.
CHARACTERS = st.characters()
WIDE = st.text(CHARACTERS, max_size=50)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | WIDE,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(WIDE, inner, max_size=4),
    max_leaves=12,
)
SECRET_KEYS = st.sampled_from(
    ["password", "AdminPassword", "pm_password", "auth_token", "private_key", "secret", "Token"]
)
EXECUTION = {"id": "e", "root_execution_id": "r", "input": {"container": "oc"}, "params": {}}


@given(st.text(CHARACTERS, max_size=300), st.integers(0, 400))
def test_a_cut_text_is_a_beginning_within_its_limit(text, limit):
    found = faults.cut(text, limit)
    if found == text:
        return
    raw = text.encode("utf-8", "replace")
    assert len(raw) > limit
    assert len(found.encode()) <= max(limit, len(" […]".encode()))
    assert found.endswith(" […]")
    assert raw.decode().startswith(found.removesuffix(" […]"))


@given(JSON, st.dictionaries(WIDE, JSON, max_size=3))
def test_building_a_message_cannot_fail(message, extra):
    payload = messages.build_payload(
        status="FAILED", message=message, execution=EXECUTION, extra=extra
    )
    assert (payload["status"], payload["execution_id"]) == ("FAILED", "e")
    assert payload["root_execution_id"] == payload["execution"]["root_execution_id"] == "r"
    assert "message" in payload
    body = {"type": "t", "payload": payload}
    assert messages.encoded_size(body) == len(json.dumps(body).encode())


@settings(max_examples=30)
@given(CHARACTERS, st.sampled_from(["message", "extra", "input"]), st.integers(1, 300_000))
def test_a_message_fits_whatever_makes_it_large(character, where, times):
    large = character * times
    execution = EXECUTION | {"input": {"container": "oc", "large": large * (where == "input")}}
    payload = messages.build_payload(
        status="SUCCESS",
        message=large if where == "message" else "done",
        execution=execution,
        extra={"lines": [large]} if where == "extra" else {},
    )
    small = messages.shrink(payload, "http://swift/x")
    assert messages.fits({"type": "t", "payload": small})
    assert small["plan_name"] == "oc"
    assert small["execution"]["input"] == {"container": "oc"}
    assert small["message"] in ("", "done") or large.encode("utf-8", "replace").startswith(
        small["message"].removesuffix(" […]").encode("utf-8", "replace")
    )


@given(SECRET_KEYS, st.lists(st.sampled_from(["list", "map"]), max_size=6), WIDE)
def test_no_canary_leaves_whatever_it_is_wrapped_in(key, wraps, beside):
    value = {key: CANARY, "beside": beside}
    for wrap in wraps:
        value = [value] if wrap == "list" else {"inner": value}
    execution = EXECUTION | {"input": {"container": "oc", "deep": value}}
    payload = messages.build_payload(
        status="FAILED",
        message={"type": "x", "text": f"{key}={CANARY}", "detail": value},
        execution=execution,
        extra={"report": value},
    )
    assert CANARY not in json.dumps(payload)
    assert mask(payload) == payload


@given(st.text(st.sampled_from("ab./\\\0~"), max_size=12))
def test_a_path_that_is_taken_stays_in_the_plan(path):
    try:
        found = names.plan_path(path, "here")
    except InvalidInput:
        return
    assert found == posixpath.normpath(found)
    assert not found.startswith(("/", ".."))
    assert posixpath.join("/plan", found).startswith("/plan/")
    assert names.plan_path(found, "here") == found


@given(st.text(CHARACTERS, max_size=100))
def test_a_name_that_is_taken_is_safe_everywhere(name):
    try:
        assert names.plan_name(name) == name
    except InvalidInput:
        return
    assert name.isascii()
    assert 0 < len(name) <= 80
    assert not set(name) & set("/\\ \n\0?#%")


FILES = [f"environments/{letter}.yaml" for letter in "abcdef"]


@st.composite
def maps(draw):
    """A map over six files; what a file requires stands before it, so that there is no ring."""
    exclusive = draw(st.lists(st.booleans(), min_size=3, max_size=3))
    needs = [
        draw(st.sets(st.sampled_from(FILES[:n]), max_size=1)) if n else set() for n in range(6)
    ]
    groups = [
        {
            "title": f"g{n}",
            "mutually_exclusive": exclusive[n],
            "environments": [
                {"file": FILES[i], "requires": sorted(needs[i])} for i in (2 * n, 2 * n + 1)
            ],
        }
        for n in range(3)
    ]
    text = json.dumps({"topics": [{"title": "t", "environment_groups": groups}]})
    return capabilities.parse(text)


@given(
    maps(),
    st.dictionaries(st.sampled_from(FILES), st.booleans()),
    st.lists(st.sampled_from(FILES), unique=True),
    st.booleans(),
)
def test_a_selection_contradicts_nothing(offered, wanted, enabled, purge):
    try:
        on, off = capabilities.selection(offered, wanted, enabled, purge=purge)
    except InvalidInput:
        return
    assert not set(on) & set(off)
    assert {file for file, yes in wanted.items() if yes} <= set(on)
    assert {file for file, yes in wanted.items() if not yes} <= set(off)
    after = (set(enabled) - set(off)) | set(on)
    for group in offered["topics"][0]["environment_groups"]:
        files = [one["file"] for one in group["environments"]]
        if group["mutually_exclusive"] and set(files) & set(on):
            assert len(set(files) & after) == 1
        for one in group["environments"]:
            if one["file"] in on:
                required = one["requires"]
                assert all(on.index(need) < on.index(one["file"]) for need in required)
    if purge:
        assert after == set(on)


PRINTABLE = st.text(st.characters(exclude_categories=("Cs", "Cc")), max_size=20)
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | PRINTABLE,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(PRINTABLE, inner, max_size=3),
    max_leaves=10,
)


@given(st.dictionaries(PRINTABLE, PLAIN, max_size=4))
def test_what_is_written_is_read_back(data):
    assert yaml_guard.load_mapping(yaml_guard.dump(data), "f") == data
