"""``tripleo-worker serve``: the daemon, from the sources to the listeners."""

from __future__ import annotations

import argparse
import asyncio
import logging
import signal
from collections.abc import Mapping
from contextlib import AsyncExitStack
from typing import Any

import aiohttp
import uvloop
from cliff.command import Command
from keystoneauth1 import loading
from oslo_log import log

from tripleo_worker import conf as options
from tripleo_worker.daemon import (
    STOP_LIMIT,
    Supervised,
    end_within,
    signs_of_life,
    tell_systemd,
    watchdog_interval,
)
from tripleo_worker.errors import InvalidInput
from tripleo_worker.feed import LiveFeed
from tripleo_worker.gateway.application import Gateway, build
from tripleo_worker.identity import Identity
from tripleo_worker.intake import Intake
from tripleo_worker.journal.store import SqlJournal
from tripleo_worker.ports import Health, Source
from tripleo_worker.sources import notifications
from tripleo_worker.sources.mistral import MistralWatch
from tripleo_worker.sources.notifications import NotificationSource
from tripleo_worker.sources.zaqar import ZaqarSource

LOG = logging.getLogger(__name__)

#: Libraries whose every request is no news.
_QUIET = ("aiohttp", "amqp", "keystoneauth", "urllib3", "alembic", "oslo.messaging", "oslo_policy")


class Serve(Command):
    """Follow the sources, keep the journal, and serve the stream, until SIGTERM."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """The options of the command."""
        parser: argparse.ArgumentParser = super().get_parser(prog_name)
        parser.add_argument(
            "--config-file",
            action="append",
            default=[],
            metavar="FILE",
            help="configuration file, later ones over earlier ones "
            "(default: /etc/tripleo-worker/tripleo-worker.conf)",
        )
        return parser

    def take_action(self, parsed: argparse.Namespace) -> int:
        """Run the daemon."""
        conf = options.load(parsed.config_file)
        log.setup(conf, "tripleo-worker")
        for name in _QUIET:
            logging.getLogger(name).setLevel(logging.WARNING)
        uvloop.run(serve(conf))
        return 0


async def serve(conf: Any) -> None:
    """Run the daemon until SIGTERM or SIGINT.

    Raises:
        InvalidInput: the configuration is not complete.
        JournalUnavailable, PortTaken: it cannot begin.
    """
    identity = identify(conf)
    asked = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, asked.set)
    async with AsyncExitStack() as stack:
        journal = await SqlJournal.open(conf.journal.connection)
        stack.push_async_callback(journal.close)
        feed = LiveFeed(journal)
        intake = Intake(journal, feed.publish)
        await intake.prepare()
        http = await stack.enter_async_context(aiohttp.ClientSession())
        sources = [Supervised(source) for source in followed(conf, identity, http)]

        def health() -> Mapping[str, Health]:
            return {source.name: source.health() for source in sources}

        house = build(conf, feed=feed, journal=journal, identity=identity, sources=health)
        gateway = Gateway(house, host=conf.gateway.host, port=conf.gateway.port)
        await gateway.start()
        # Listeners go first at the end, the journal last: what was read is still stored.
        tasks = [asyncio.create_task(source.run(intake), name=source.name) for source in sources]
        interval = watchdog_interval()
        if interval is not None:
            tasks.append(asyncio.create_task(signs_of_life(interval), name="watchdog"))
        stack.push_async_callback(end, tasks)
        stack.push_async_callback(gateway.stop)
        tell_systemd("READY=1")
        LOG.info(
            "Serving on %s port %d", conf.gateway.host, gateway.port, extra={"action": "serve"}
        )
        await asked.wait()
        end_within(STOP_LIMIT)
        tell_systemd("STOPPING=1")
        LOG.info("Stopping", extra={"action": "stop"})


def identify(conf: Any) -> Identity:
    """The worker's own user.

    Raises:
        InvalidInput: ``[keystone]`` is not complete.
    """
    try:
        auth = loading.load_auth_from_conf_options(conf, "keystone")
        session = loading.load_session_from_conf_options(conf, "keystone", auth=auth, timeout=20)
    except Exception as error:
        raise InvalidInput(
            f"[keystone] is not complete: {error}",
            remedy="Set auth_type, auth_url, username, password, project_name and the domains.",
        ) from error
    if auth is None:
        raise InvalidInput(
            "[keystone] auth_type: is not set.",
            remedy="Set it to password, with auth_url, username, password and project_name.",
        )
    return Identity(session, interface=conf.keystone.interface, region=conf.keystone.region_name)


def followed(conf: Any, identity: Identity, http: aiohttp.ClientSession) -> list[Source]:
    """The sources that the configuration names."""
    notifications.load()
    bus = NotificationSource(
        conf,
        url=conf.notifications.transport_url,
        exchanges=conf.notifications.exchanges,
        topics=conf.notifications.topics,
        pool=conf.notifications.pool,
    )
    return [
        *(ZaqarSource(queue, identity, http) for queue in conf.zaqar.queues),
        bus,
        MistralWatch(identity, http, lambda: bus.health().ok),
    ]


async def end(tasks: list[asyncio.Task[None]]) -> None:
    """Cancel tasks and wait until they are gone."""
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
