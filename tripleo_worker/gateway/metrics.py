"""Counters in the text form of Prometheus."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from prometheus_client import CollectorRegistry, Counter, Gauge, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric

from tripleo_worker.ports import Health

#: What ``/metrics`` is, as Prometheus asks for it.
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class Metrics:
    """The gateway's counters, in a registry of their own."""

    def __init__(self, sources: Callable[[], Mapping[str, Health]]) -> None:
        self._registry = CollectorRegistry()
        self.listeners = Gauge(
            "tripleo_worker_listeners",
            "Streams that are open",
            ["way"],
            registry=self._registry,
        )
        self.delivered = Counter(
            "tripleo_worker_events_delivered",
            "Events written to listeners",
            ["way"],
            registry=self._registry,
        )
        self.slow = Counter(
            "tripleo_worker_listeners_too_slow",
            "Streams that were closed because nothing was taken",
            registry=self._registry,
        )
        self.head = Gauge(
            "tripleo_worker_journal_head",
            "The newest sequence of the journal",
            registry=self._registry,
        )
        self._registry.register(_Sources(sources))

    def text(self) -> bytes:
        """All of them."""
        return generate_latest(self._registry)


class _Sources:
    """Whether each source has contact, asked when the metrics are."""

    def __init__(self, sources: Callable[[], Mapping[str, Health]]) -> None:
        self._sources = sources

    def collect(self) -> Iterable[Metric]:
        """The state of each source."""
        up = GaugeMetricFamily(
            "tripleo_worker_source_up", "Whether the source has contact", labels=["source"]
        )
        for name, health in sorted(self._sources().items()):
            up.add_metric([name], float(health.ok))
        yield up
