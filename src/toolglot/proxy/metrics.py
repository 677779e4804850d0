"""Metrics: what ``/metrics`` shows, by ``prometheus-client``.

Promises: one registry for each proxy, so that two in one process do not meet; the values of each label are
bounded. The README of the dashboards is ``docs/proxy.md``.
"""

from __future__ import annotations

from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from .record import Record

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

_HELD = (0.001, 0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
_ADDED = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5)


class Metrics:
    """All that is counted."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        shared: dict[str, Any] = {"registry": self._registry, "namespace": "toolglot"}
        self._requests = Counter("requests", "Chat requests by outcome", ["model", "outcome"], **shared)
        self._calls = Counter(
            "calls", "Calls by dialect; origin is parsed, native or cut", ["dialect", "origin"], **shared
        )
        self._defects = Counter("defects", "Defects of the models' text", ["dialect", "kind"], **shared)
        self._repairs = Counter("repairs", "Calls that were mended", ["dialect"], **shared)
        self._residue = Counter("residue", "Markup that clients saw", ["model", "marker"], **shared)
        self._held = Histogram(
            "held_seconds", "Time in a stream in which text was held", buckets=_HELD, **shared
        )
        self._added = Histogram(
            "first_token_added_seconds",
            "Time between the upstream's first text and the client's",
            buckets=_ADDED,
            **shared,
        )
        self._seconds = Histogram("request_seconds", "Time from the request to the end", **shared)
        self._forwarded = Counter("forwarded", "Requests that went through untouched", ["status"], **shared)
        self.open = Gauge("open_streams", "Streams that are open now", **shared)

    def add(self, record: Record, label: str) -> None:
        """Count one exchange; ``label`` is the bounded name of its model."""
        report = record.report
        dialect = report.dialect or record.choice.slug
        if " " in dialect:
            # What several choices were read in: as a label there would be too many of them.
            dialect = "(several)"
        self._requests.labels(label, record.outcome).inc()
        for origin, number in (
            ("parsed", report.calls_parsed),
            ("native", report.calls_native),
            ("cut", report.calls_cut),
        ):
            if number:
                self._calls.labels(dialect, origin).inc(number)
        for kind, number in report.defects.items():
            self._defects.labels(dialect, kind).inc(number)
        if report.repairs:
            self._repairs.labels(dialect).inc(report.repairs)
        for hit in report.residue:
            self._residue.labels(label, hit.marker).inc()
        if record.streamed:
            self._held.observe(record.held_seconds)
        if record.added_seconds is not None:
            self._added.observe(record.added_seconds)
        self._seconds.observe(record.seconds)

    def forwarded(self, status: int) -> None:
        """Count a request that was only passed on."""
        self._forwarded.labels(f"{status // 100}xx").inc()

    def text(self) -> bytes:
        """The exposition of all metrics."""
        return generate_latest(self._registry)
