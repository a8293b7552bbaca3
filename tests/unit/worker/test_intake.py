"""Between the sources and the journal: nothing secret passes, and what is stored is told."""

import asyncio
import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.journal.events_made import ALL, NOON, batch, event
from tests.unit.worker.test_correlate import announced, resource
from tripleo_worker.errors import JournalUnavailable
from tripleo_worker.events import EventData, Status
from tripleo_worker.intake import BODY_KEPT, Intake, cut, masked
from tripleo_worker.ports import Batch, DeadLetter
from tripleo_worker.redact import mask
from tripleo_worker.testing import MemoryJournal

CANARY = "canary-5f1d"


@pytest.fixture
def journal():
    return MemoryJournal()


async def test_what_the_journal_took_is_told_once(journal):
    told = []
    intake = Intake(journal, told.extend)
    for _ in range(2):
        await intake.submit(batch(event(1), event(2), marker="m"))
    assert [entry.event.id for entry in told] == ["1", "2"]
    assert await intake.marker("a") == "m"


async def test_what_the_journal_refuses_is_not_told_and_can_come_again(journal):
    told = []
    intake = Intake(journal, told.extend)
    journal.broken = True
    with pytest.raises(JournalUnavailable):
        await intake.submit(batch(event(1)))
    journal.broken = False
    await intake.submit(batch(event(1)))
    assert len(told) == 1


async def test_after_a_restart_the_stacks_of_open_deployments_are_known(journal):
    first = Intake(journal, lambda entries: None)
    await first.submit(batch(announced(stack="s1"), resource("s1", "overcloud", itself=True)))
    again = Intake(journal, lambda entries: None)
    await again.prepare()
    await again.submit(batch(resource("s1", "Cookie")))
    page = await journal.read(0, ALL, 10)
    assert page.entries[-1].event.rootexecutionid == "x"


async def test_open_operations_are_those_without_an_end(journal):
    intake = Intake(journal, lambda entries: None)
    await intake.submit(batch(event(1, root="x"), event(2, root="y", status=Status.SUCCESS)))
    assert [one.execution_id for one in await intake.open_operations()] == ["x"]


SECRETS = (
    {"AdminPassword": CANARY},
    {"nested": [{"pm_password": CANARY}]},
    {"text": f"mysql+pymysql://heat:{CANARY}@127.0.0.1/heat"},
    {"log": f"password={CANARY} tried"},
    {"log": json.dumps({"admin_token": CANARY})},
    {"ssh_private_key": CANARY},
    {"key": f"-----BEGIN RSA PRIVATE KEY-----\n{CANARY}\n-----END RSA PRIVATE KEY-----"},
    {"header": f"Authorization: Bearer {CANARY}{CANARY}"},
)


@pytest.mark.parametrize("payload", SECRETS, ids=lambda payload: next(iter(payload)))
async def test_no_secret_reaches_the_journal(journal, payload):
    intake = Intake(journal, lambda entries: None)
    text = json.dumps(payload)
    told = msgspec.structs.replace(
        event(1), data=EventData(message=str(next(iter(payload.values()))), payload=payload)
    )
    letter = DeadLetter(id="1", source="/a", reason=text, body=text, time=NOON)
    if isinstance(payload.get("AdminPassword") or payload.get("ssh_private_key"), str):
        told = msgspec.structs.replace(told, data=EventData(payload=payload))
    if "nested" in payload:
        told = msgspec.structs.replace(told, data=EventData(payload=payload))
    await intake.submit(Batch(source="a", events=(told,), dead=(letter,)))
    page = await journal.read(0, ALL, 10)
    assert CANARY.encode() not in page.entries[0].text
    assert CANARY not in journal.dead[0].body + journal.dead[0].reason


@pytest.mark.parametrize(
    "payload",
    [{"a": "half \ud83d of a pair"}, {"a": 2**70}, {"\ud800": 1}],
    ids=["text", "number", "key"],
)
async def test_what_json_cannot_hold_is_stored_as_text(journal, payload):
    intake = Intake(journal, lambda entries: None)
    told = msgspec.structs.replace(
        event(1, kind="t\ud800"), data=EventData(message="m \ud83d", payload=payload)
    )
    await intake.submit(batch(told, event(2)))
    page = await journal.read(0, ALL, 10)
    assert [entry.event.id for entry in page.entries] == ["1", "2"]
    assert page.entries[0].event.data.payload["unreadable"]


def test_a_letter_is_kept_up_to_a_limit():
    letter = DeadLetter(id="1", source="/a", reason="r", body="x" * 10**6, time=NOON)
    assert len(cut(letter).body) == BODY_KEPT


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.just("password"), inner),
    max_leaves=20,
)


@given(st.dictionaries(st.text(), values), st.text())
def test_masking_twice_changes_nothing_more(payload, message):
    once = masked(
        msgspec.structs.replace(event(1), data=EventData(message=message, payload=payload))
    )
    assert masked(once) == once


@given(values)
def test_masking_keeps_the_shape(value):
    def shape(one):
        match one:
            case dict():
                return {
                    key: shape(item) if "password" not in key else 0 for key, item in one.items()
                }
            case list():
                return [shape(item) for item in one]
        return type(one)

    known = shape(value)
    hidden = shape(mask(value))
    assert type(known) is type(hidden)
    if isinstance(known, dict):
        assert known.keys() == hidden.keys()


async def test_who_is_cancelled_while_it_stores_keeps_nothing_from_the_listeners():
    journal, told = MemoryJournal(), asyncio.Queue()
    store, begun, go_on = journal.append, asyncio.Event(), asyncio.Event()

    async def slowly(made):
        begun.set()
        await go_on.wait()
        return await store(made)

    journal.append = slowly
    task = asyncio.create_task(Intake(journal, told.put_nowait).submit(batch(event(1))))
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    go_on.set()
    async with asyncio.timeout(5):
        (entry,) = await told.get()
    assert entry.event.id == "1"
