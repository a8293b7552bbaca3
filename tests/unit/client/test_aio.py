"""The client for asyncio against a scripted worker: what :mod:`test_sync` asks of threads."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator

import pytest

from tests.unit.client.scripted_worker import ScriptedEngine, ScriptedWorker, cloud
from tests.unit.operations.scripts import engine, message, resource
from tripleo_worker.client.aio import Connection
from tripleo_worker.client.waiting import Contact, Limits
from tripleo_worker.errors import OperationTimedOut
from tripleo_worker.events import Event, Status

WORKFLOW = "tripleo.deployment.v1.deploy_plan"


@pytest.fixture
def worker() -> Iterator[ScriptedWorker]:
    with ScriptedWorker() as made:
        yield made


async def test_a_workflow_that_ends_at_once_is_reported(worker: ScriptedWorker) -> None:
    def at_once(_: str) -> None:
        worker.append(engine("RUNNING"), message("FAILED", "no such plan", final=True))

    async with Connection(cloud(worker, ScriptedEngine(at_once))) as connection:
        operation = await (await connection.run(WORKFLOW, {})).wait()
    assert (operation.status, operation.message) == (Status.FAILED, "no such plan")


async def test_nothing_is_missed_and_one_warning_said_when_the_worker_dies(
    worker: ScriptedWorker, caplog: pytest.LogCaptureFixture
) -> None:
    async def die() -> None:
        await asyncio.sleep(0.3)
        await asyncio.to_thread(worker.down)
        worker.append(resource("A", "COMPLETE"))
        await asyncio.sleep(0.5)
        worker.up()
        worker.append(message("SUCCESS", "done", final=True))

    with caplog.at_level(logging.WARNING):
        async with Connection(cloud(worker, ScriptedEngine())) as connection:
            run = await connection.run(WORKFLOW, {})
            worker.append(engine("RUNNING"))
            dying = asyncio.create_task(die())
            seen = [progress async for progress in run]
            await dying
    assert [one.event for one in seen if one.event] == worker._journal
    assert Contact.RECONNECTING in [one.contact for one in seen]
    ours = [one for one in caplog.records if one.name.startswith("tripleo_worker")]
    assert len(ours) == 1


async def test_without_a_worker_mistral_tells_the_outcome() -> None:
    script = ScriptedEngine()
    script.status = Status.CANCELLED
    async with Connection(cloud(None, script)) as connection:
        operation = await (await connection.run(WORKFLOW, {})).wait()
    assert operation.status is Status.CANCELLED


async def test_a_limit_leaves_the_execution_alone(worker: ScriptedWorker) -> None:
    async with Connection(cloud(worker, ScriptedEngine())) as connection:
        run = await connection.run(WORKFLOW, {}, limits=Limits(deadline=0.3))
        with pytest.raises(OperationTimedOut, match="RUNNING"):
            await run.wait()


async def test_following_goes_on_through_every_kind_of_end(worker: ScriptedWorker) -> None:
    events = [resource(f"r{number}", "COMPLETE") for number in range(40)]

    async def disturb() -> None:
        for number, event in enumerate(events):
            worker.append(event)
            await asyncio.sleep(0.01)
            if number % 20 == 5:
                await asyncio.to_thread(worker.close, 4002)
            if number % 20 == 15:
                worker.cut()

    seen: list[object] = []
    async with Connection(cloud(worker, ScriptedEngine())) as connection:
        disturbing = asyncio.create_task(disturb())
        async for item in connection.follow(since="earliest"):
            seen.append(item)
            if len(seen) == len(events):
                break
        await disturbing
    assert [one.position.sequence for one in seen if isinstance(one, Event)] == list(range(1, 41))
    assert len(worker.subscriptions) > 2
