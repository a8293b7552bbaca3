"""The vocabulary: envelopes read back as written, positions order, one table of words."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tripleo_worker import events
from tripleo_worker.errors import InvalidEvent, InvalidPosition
from tripleo_worker.events import Event, EventData, Position, Status

_epochs = st.from_regex(r"[0-9a-f][0-9a-f-]{0,20}", fullmatch=True)
_positions = st.builds(Position, _epochs, st.integers(0, 10**16 - 1))
_events = st.builds(
    Event,
    id=st.text(min_size=1),
    source=st.text(min_size=1),
    type=st.text(min_size=1),
    time=st.datetimes(timezones=st.just(UTC)),
    subject=st.text(),
    plan=st.text(),
    final=st.booleans(),
    data=st.builds(
        EventData,
        status=st.none() | st.sampled_from(Status),
        message=st.text(),
        payload=st.dictionaries(st.text(), st.none() | st.booleans() | st.text()),
    ),
)


def _event() -> Event:
    return Event(id="1", source="/zaqar/tripleo", type="t", time=datetime(2026, 1, 2, tzinfo=UTC))


@given(_events, _positions)
def test_an_event_reads_back_as_written(event: Event, position: Position) -> None:
    placed = event.placed(position)
    assert events.decode(events.encode(placed)) == placed
    assert placed.position == position


@given(_positions)
def test_a_position_reads_back_as_written(position: Position) -> None:
    assert Position.parse(str(position)) == position


@given(st.integers(0, 10**16 - 1), st.integers(0, 10**16 - 1))
def test_sequences_order_as_text_as_they_do_as_numbers(one: int, other: int) -> None:
    texts = [_event().placed(Position("e", number)).sequence for number in (one, other)]
    assert (texts[0] < texts[1]) == (one < other)


@pytest.mark.parametrize("text", ["", ":", "e:", ":1", "e:-1", "e:1x", "e 1", "e:1\n", "é:1"])
def test_what_is_no_position_is_refused_with_the_remedy(text: str) -> None:
    with pytest.raises(InvalidPosition, match="EPOCH:SEQUENCE"):
        Position.parse(text)


def test_the_envelope_always_names_its_specification() -> None:
    envelope = json.loads(events.encode(_event()))
    assert envelope["specversion"] == "1.0"
    assert {"id", "source", "type", "time"} <= envelope.keys()
    assert all(name.isalnum() and name.islower() for name in envelope)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        (b"{", "truncated"),
        (b"[]", "object"),
        (b'{"specversion":"2.0"}', "specversion"),
        (b'{"specversion":"1.0","id":1}', "id"),
        (b"\xff", "Not an event"),
    ],
)
def test_what_is_no_event_is_refused_by_name(text: bytes, word: str) -> None:
    with pytest.raises(InvalidEvent, match=word):
        events.decode(text)


def test_an_event_without_a_journal_has_no_position() -> None:
    with pytest.raises(InvalidEvent, match="no place"):
        _ = _event().position


@pytest.mark.parametrize(
    ("word", "status"),
    [
        ("error", Status.FAILED),
        ("ERROR", Status.FAILED),
        (" FAILED ", Status.FAILED),
        ("CANCELLED", Status.CANCELLED),
        ("canceled", Status.CANCELLED),
        ("SUCCESS", Status.SUCCESS),
        ("COMPLETE", Status.SUCCESS),
        ("PAUSED", Status.PAUSED),
        ("IN_PROGRESS", Status.RUNNING),
        ("mystery", None),
        (None, None),
        (3, None),
    ],
)
def test_every_senders_word_has_one_meaning(word: object, status: Status | None) -> None:
    assert Status.of(word) is status


def test_only_ends_are_terminal() -> None:
    ends = {status for status in Status if status.terminal}
    assert ends == {Status.SUCCESS, Status.FAILED, Status.CANCELLED}
