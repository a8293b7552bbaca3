"""Laws of the protocol: whatever sockets do, each event comes once, in order."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.operations.scripts import message, placed, resource
from tripleo_worker.client.core import LONGEST_PAUSE, Back, Lost, Protocol, pauses
from tripleo_worker.client.frames import Heartbeat, Subscribed, Subscription
from tripleo_worker.errors import (
    InvalidEvent,
    NotAuthenticated,
    NotAuthorised,
    ServiceError,
    StreamClosed,
)
from tripleo_worker.events import Event, Position, encode

TODAY = datetime(2026, 1, 1, tzinfo=UTC)
#: What becomes of the next frame.
_fates = st.sampled_from(
    ["deliver", "deliver", "deliver", "lose", "cut", "garble", "repeat", "expire", "refuse"]
)


def _journal(size: int) -> list[Event]:
    return list(placed(resource(f"r{number}", "COMPLETE") for number in range(size)))


def _frame(**fields: object) -> str:
    return msgspec.json.encode(fields).decode()


def _event(event: Event) -> str:
    return '{"event":' + encode(event).decode() + "}"


class _Server:
    """A worker that keeps its word: after a position it sends everything later, in order."""

    def __init__(self, journal: list[Event], mine: list[bool], epoch: str = "e1") -> None:
        self._journal, self._mine, self._epoch = journal, mine, epoch

    def frames(self, opening: tuple[str, str]) -> Iterator[str]:
        """What it sends on one socket."""
        since = msgspec.json.decode(opening[1])["subscribe"].get("since", "latest")
        place = len(self._journal) if since == "latest" else 0
        place = Position.parse(since).sequence if ":" in since else place
        yield _frame(authenticated={"project_id": "p"})
        yield _frame(subscribed={"recovered": True, "position": f"{self._epoch}:{place}"})
        for event, mine in list(zip(self._journal, self._mine, strict=True))[place:]:
            yield _event(event) if mine else _frame(heartbeat={"position": str(event.position)})
        yield _frame(heartbeat={"position": f"{self._epoch}:{len(self._journal)}"})


def _followed(protocol: Protocol, server: _Server, fates: list[str]) -> list[object]:
    """Play a script of losses, then let everything through."""
    seen: list[object] = []
    script = iter(fates)
    now = 0.0
    while True:
        frames, last = server.frames(protocol.opening("token", now)), ""
        for frame in frames:
            now += 1
            fate = next(script, "deliver")
            if fate in ("lose", "cut"):
                seen += protocol.lost("gone", now)
                break
            if fate in ("expire", "refuse"):
                seen += protocol.closed(4002 if fate == "expire" else 4000, "", now)
                break
            if fate == "garble":
                with pytest.raises(InvalidEvent):
                    protocol.receive(frame[: len(frame) // 2], now, TODAY)
                seen += protocol.lost("garbled", now)
                break
            for text in [last, frame] if fate == "repeat" and last else [frame]:
                if '"subscribed"' not in text or text is not last:
                    seen += protocol.receive(text, now, TODAY)
            last = frame
        else:
            return seen


@given(st.lists(st.booleans(), max_size=12), st.lists(_fates, max_size=40), st.data())
def test_each_event_comes_once_in_order_under_any_loss(
    mine: list[bool], fates: list[str], data: st.DataObject
) -> None:
    journal = _journal(len(mine))
    start = data.draw(st.sampled_from(["earliest", *(f"e1:{n}" for n in range(len(mine) + 1))]))
    protocol = Protocol(Subscription(since=start), lambda: 0.5)
    seen = _followed(protocol, _Server(journal, mine), fates)
    skipped = 0 if start == "earliest" else Position.parse(start).sequence
    wanted = [event for event, own in zip(journal, mine, strict=True) if own]
    assert [one for one in seen if isinstance(one, Event)] == [
        event for event in wanted if event.position.sequence > skipped
    ]
    assert protocol.position in (None, Position("e1", len(mine)))


@given(st.lists(_fates, max_size=40))
def test_an_outage_is_told_once_and_its_end_once(fates: list[str]) -> None:
    protocol = Protocol(Subscription(since="earliest"), lambda: 0.5)
    seen = _followed(protocol, _Server(_journal(3), [True] * 3), fates)
    turns = [type(one) for one in seen if isinstance(one, Lost | Back)]
    assert turns == [Lost, Back] * (len(turns) // 2)


@given(st.lists(st.floats(0, 1), min_size=1))
def test_pauses_grow_and_stay_bounded(jitter: list[float]) -> None:
    values = iter([*jitter, *[0.0] * 40])
    made = pauses(lambda: next(values))
    spans = [next(made) for _ in range(30)]
    assert spans[0] <= 0.05
    assert all(0.1 <= span <= LONGEST_PAUSE for span in spans[1:])


def test_what_cannot_be_recovered_is_said_with_the_state_instead() -> None:
    protocol = Protocol(Subscription(since="e1:3"), lambda: 0.5)
    protocol.opening("t", 0)
    protocol.lost("gone", 1)
    opening = protocol.opening("t", 2)
    assert msgspec.json.decode(opening[1])["subscribe"]["since"] == "e1:3"
    back, answer = protocol.receive(
        _frame(subscribed={"recovered": False, "position": "e2:7", "operations": []}), 3, TODAY
    )
    assert back == Back(recovered=False)
    assert isinstance(answer, Subscribed)
    assert protocol.position == Position("e2", 7)
    later = message("RUNNING").placed(Position("e2", 8))
    assert protocol.receive(_event(later), 4, TODAY) == (later,)


def test_a_token_is_renewed_before_its_end_and_once() -> None:
    protocol = Protocol(Subscription(), lambda: 0.5)
    protocol.opening("t", 0)
    ends = TODAY + timedelta(hours=1)
    protocol.receive(_frame(authenticated={"expires_at": ends}), 0, TODAY)
    assert not protocol.renewal_due(ends - timedelta(seconds=61))
    assert protocol.renewal_due(ends - timedelta(seconds=60))
    assert not protocol.renewal_due(ends)


def test_an_expired_token_is_no_outage() -> None:
    protocol = Protocol(Subscription(), lambda: 0.5)
    protocol.opening("t", 0)
    assert protocol.closed(4002, "token expired", 1) == ()
    assert protocol.fresh_token


def test_a_refused_token_is_tried_once_anew() -> None:
    protocol = Protocol(Subscription(), lambda: 0.5)
    assert protocol.refused(401, 5) == ()
    assert (protocol.fresh_token, protocol.retry_at) == (True, 5)
    with pytest.raises(NotAuthenticated):
        protocol.refused(401, 6)


@pytest.mark.parametrize(
    ("code", "error"), [(4500, StreamClosed), (4503, NotAuthorised), (4999, StreamClosed)]
)
def test_what_cannot_be_cured_is_raised(code: int, error: type[Exception]) -> None:
    with pytest.raises(error):
        Protocol(Subscription(), lambda: 0.5).closed(code, "", 1)


@pytest.mark.parametrize("code", [None, 1001, 1006, 4000, 4001, 4003, 4499])
def test_what_passes_is_come_back_from(code: int | None) -> None:
    assert len(Protocol(Subscription(), lambda: 0.5).closed(code, "", 1)) == 1


@pytest.mark.parametrize(("status", "kind"), [(403, NotAuthorised), (404, ServiceError)])
def test_a_handshake_that_never_will_succeed(status: int, kind: type[Exception]) -> None:
    with pytest.raises(kind):
        Protocol(Subscription(), lambda: 0.5).refused(status, 1)


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503])
def test_a_handshake_that_may_succeed_later(status: int) -> None:
    assert len(Protocol(Subscription(), lambda: 0.5).refused(status, 1)) == 1


def test_three_heartbeats_that_do_not_come_are_a_dead_socket() -> None:
    protocol = Protocol(Subscription(heartbeat=2), lambda: 0.5)
    protocol.opening("t", 0)
    protocol.receive(_frame(heartbeat={"position": "e1:1"}), 10, TODAY)
    assert not protocol.silent(16)
    assert protocol.silent(16.1)


@given(st.binary(max_size=40) | st.text(max_size=40))
def test_no_frame_kills_the_reader(text: bytes | str) -> None:
    protocol = Protocol(Subscription(), lambda: 0.5)
    try:
        assert all(isinstance(one, Heartbeat) for one in protocol.receive(text, 0, TODAY))
    except InvalidEvent:
        pass


@pytest.mark.parametrize(
    "text",
    [
        '{"heartbeat":{"position":"x"}}',
        '{"subscribed":{"recovered":true,"position":""}}',
        _event(message("RUNNING")),
        "[]",
        "",
        '{"event":{}}',
    ],
)
def test_a_broken_frame_is_an_error_of_ours(text: str) -> None:
    from tripleo_worker.errors import InvalidInput

    with pytest.raises(InvalidInput):
        Protocol(Subscription(), lambda: 0.5).receive(text, 0, TODAY)


def test_frames_of_a_newer_worker_are_passed_over() -> None:
    assert Protocol(Subscription(), lambda: 0.5).receive('{"news":{"x":1}}', 0, TODAY) == ()
