"""Plain HTTP: pages, positions, operations, health."""

import json

import msgspec
import pytest

from tests.unit.gateway.conftest import caller
from tests.unit.journal.events_made import event
from tripleo_worker.events import Status
from tripleo_worker.ports import Health, Page

ROUTES = ("/v1/events", "/v1/events/stream", "/v1/position", "/v1/operations", "/v1/operations/x")


def ids(body):
    return [one["id"] for one in body["events"]]


@pytest.mark.parametrize("route", ROUTES)
async def test_every_route_needs_a_token_that_is_good_and_has_the_right(worker, route):
    for token, status in ((None, 401), ("unknown", 401), ("nothing", 403), ("noproject", 403)):
        answered, body = await worker.get(route, token)
        assert answered == status, token
        assert set(body["error"]) == {"code", "message", "remedy"}


async def test_an_expired_token_is_refused_though_it_was_good(worker):
    worker.tokens.known["old"] = caller(life=-1)
    assert (await worker.get("/v1/position", "old"))[0] == 401


async def test_keystone_is_asked_once_for_a_token(worker):
    for _ in range(3):
        await worker.get("/v1/position")
    assert worker.tokens.asked == 1


async def test_pages_follow_one_another_to_the_end(worker):
    await worker.store(*(event(n) for n in range(25)))
    found, since = [], "earliest"
    while True:
        status, body = await worker.get(f"/v1/events?since={since}&limit=10")
        assert (status, body["recovered"]) == (200, True)
        if not body["events"]:
            break
        found += ids(body)
        since = body["position"]
    assert found == [str(n) for n in range(25)]
    assert since == "e1:25"


async def test_an_empty_page_is_the_end_also_where_the_journal_looks_step_by_step(
    worker, monkeypatch
):
    await worker.store(*(event(n, project="q" if n < 24 else "p") for n in range(25)))
    read = worker.journal.read

    async def ten_at_a_time(after, where, limit):
        last = min(after + 10, 25)
        page = await read(after, where, limit)
        entries = tuple(one for one in page.entries if one.sequence <= last)
        return Page(entries=entries, upto=last)

    monkeypatch.setattr(worker.journal, "read", ten_at_a_time)
    _, body = await worker.get("/v1/events?since=earliest")
    assert ids(body) == ["24"]
    _, body = await worker.get(f"/v1/events?since={body['position']}")
    assert ids(body) == []


async def test_projects_see_their_own_events_and_administrators_all(worker):
    await worker.store(event(1, project="p"), event(2, project="q"), event(3, project=""))
    for token, seen in (("p", ["1"]), ("q", ["2"]), ("admin", ["1", "2", "3"])):
        assert ids((await worker.get("/v1/events", token))[1]) == seen


async def test_filters_hold_together(worker):
    await worker.store(
        event(1, root="x", kind="a.b"), event(2, root="x", kind="c"), event(3, root="y", kind="a.b")
    )
    assert ids((await worker.get("/v1/events?execution=x&type=a."))[1]) == ["1"]


async def test_a_position_of_another_journal_brings_the_operations(worker):
    await worker.store(event(1))
    _, body = await worker.get("/v1/events?since=other:5")
    assert (body["recovered"], body["events"], body["position"]) == (False, [], "e1:1")
    assert [one["execution_id"] for one in body["operations"]] == ["x"]


async def test_lines_come_one_event_each(worker):
    await worker.store(event(1), event(2))
    _, text = await worker.get("/v1/events", headers={"Accept": "application/x-ndjson"})
    assert [json.loads(line)["id"] for line in text.splitlines()] == ["1", "2"]


@pytest.mark.parametrize(
    ("query", "named"),
    [
        ("since=nowhere", "position"),
        ("limit=0", "limit"),
        ("limit=100000", "limit"),
        ("limit=ten", "limit"),
        ("follow=maybe", "follow"),
        ("follow=true", "follow"),
        ("sinse=e1:1", "sinse"),
        ("plan=" + "x" * 300, "plan"),
        ("heartbeat=-1", "heartbeat"),
    ],
)
async def test_a_query_that_is_wrong_is_told_by_its_name(worker, query, named):
    status, body = await worker.get(f"/v1/events?{query}")
    assert status == 400
    assert named in body["error"]["message"]
    assert body["error"]["remedy"]


async def test_operations_are_listed_and_shown_to_those_who_may(worker):
    await worker.store(event(1, root="x", status=Status.SUCCESS), event(2, root="y", project="q"))
    listed = (await worker.get("/v1/operations"))[1]["operations"]
    assert [(one["execution_id"], one["status"]) for one in listed] == [("x", "SUCCESS")]
    assert (await worker.get("/v1/operations?status=RUNNING"))[1] == {"operations": []}
    assert (await worker.get("/v1/operations?status=odd"))[0] == 400
    assert (await worker.get("/v1/operations/x"))[1]["execution_id"] == "x"
    assert (await worker.get("/v1/operations/y"))[0] == 404
    assert (await worker.get("/v1/operations/y", "admin"))[0] == 200


async def test_health_needs_no_token_and_tells_what_is_wrong(worker, sources):
    assert (await worker.get("/healthz", None))[0] == 200
    assert (await worker.get("/readyz", None))[0] == 200
    sources["bus"] = Health(ok=False, detail="no broker")
    status, body = await worker.get("/readyz", None)
    assert (status, body["ready"]) == (503, False)
    assert body["sources"]["bus"]["detail"] == "no broker"
    worker.journal.broken = True
    status, body = await worker.get("/readyz", None)
    assert (status, body["journal"]["ok"]) == (503, False)
    assert (await worker.get("/healthz", None))[0] == 200


async def test_a_journal_that_is_away_is_told_as_such(worker):
    worker.journal.broken = True
    status, body = await worker.get("/v1/position")
    assert (status, body["error"]["code"]) == (503, "journal-unavailable")


async def test_metrics_are_in_the_form_of_prometheus(worker):
    await worker.store(event(1))
    await worker.get("/v1/events")
    _, text = await worker.get("/metrics", None)
    assert 'tripleo_worker_source_up{source="bus"} 1.0' in text
    assert 'tripleo_worker_events_delivered_total{way="rest"} 1.0' in text
    assert "tripleo_worker_journal_head 1.0" in text


async def test_what_is_not_there_is_told_in_the_same_form(worker):
    status, body = await worker.get("/v2/nothing")
    assert (status, body["error"]["code"]) == (404, "not-found")
    async with worker.http.post(worker.url + "/v1/events") as answer:
        assert answer.status == 405
        assert msgspec.json.decode(await answer.read())["error"]["code"] == "method-not-allowed"
