"""What a benchmark reports: figures with a target, and where they were taken.

A benchmark is a file ``bench_NAME.py`` beside this one with a function ``run(report)``::

    from reporting import Report, percentile

    def run(report: Report) -> None:
        times = measure(report.undercloud())
        report.at_most("send to listener, p50", percentile(times, 50), unit="ms", target=50)

``report.undercloud()`` is the folder of a running undercloud with its worker; the runner
starts one when the first benchmark asks, shares it, and takes it down at the end.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec


class BenchmarkSkipped(Exception):
    """The benchmark cannot run here; the text says why."""


class Figure(msgspec.Struct, frozen=True, kw_only=True):
    """One measured value; its fields are those of ``.bench/NAME.json``."""

    #: What was measured, with its load, e.g. ``"replay of 10,000 events"``.
    metric: str
    value: float
    unit: str
    #: The limit the product sets itself; None where the value only informs.
    target: float | None = None
    #: Whether the value keeps the target; true where there is none.
    ok: bool = True
    #: Another program that was measured here under the same load.
    peer: str | None = None
    peer_value: float | None = None


class Report:
    """Collects the figures of one benchmark."""

    def __init__(self, *, scratch: Path, undercloud: Callable[[], Path]) -> None:
        """Take what the runner lends.

        Args:
            scratch: an empty folder for this benchmark alone.
            undercloud: gives the folder of a running undercloud.
        """
        self.scratch = scratch
        self.undercloud = undercloud
        self.figures: list[Figure] = []
        #: Sentences shown under the table: the load, what was left out, and why.
        self.notes: list[str] = []

    def at_most(
        self,
        metric: str,
        value: float,
        *,
        unit: str,
        target: float,
        peer: str | None = None,
        peer_value: float | None = None,
    ) -> None:
        """Add a value that must not pass its target."""
        self._add(metric, value, unit, target, value <= target, peer, peer_value)

    def at_least(
        self,
        metric: str,
        value: float,
        *,
        unit: str,
        target: float,
        peer: str | None = None,
        peer_value: float | None = None,
    ) -> None:
        """Add a value that must reach its target."""
        self._add(metric, value, unit, target, value >= target, peer, peer_value)

    def inform(
        self,
        metric: str,
        value: float,
        *,
        unit: str,
        peer: str | None = None,
        peer_value: float | None = None,
    ) -> None:
        """Add a value that has no target."""
        self._add(metric, value, unit, None, True, peer, peer_value)

    def note(self, sentence: str) -> None:
        """Add a sentence to show under the table."""
        self.notes.append(sentence)

    def skip(self, reason: str) -> None:
        """Leave the benchmark; figures so far are kept.

        Raises:
            BenchmarkSkipped: always.
        """
        raise BenchmarkSkipped(reason)

    def _add(
        self,
        metric: str,
        value: float,
        unit: str,
        target: float | None,
        ok: bool,
        peer: str | None,
        peer_value: float | None,
    ) -> None:
        if not math.isfinite(value):
            raise ValueError(f"{metric}: {value} is no measured value")
        figure = Figure(
            metric=metric,
            value=round(value, 4),
            unit=unit,
            target=target,
            ok=ok,
            peer=peer,
            peer_value=peer_value,
        )
        self.figures.append(figure)


def percentile(samples: Sequence[float], rank: float) -> float:
    """The smallest sample that at least ``rank`` percent of the samples do not pass.

    Args:
        samples: at least one value, in any order.
        rank: 0 to 100.
    """
    ordered = sorted(samples)
    index = math.ceil(rank / 100 * len(ordered)) - 1
    return ordered[max(0, min(index, len(ordered) - 1))]
