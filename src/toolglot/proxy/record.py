"""Record: what became of one exchange, and the tally for each model that ``/status`` shows.

Promises: bounded, however many models clients name and however long the proxy runs. Evidence of residue
is the only text of a model that is kept; it is short, what looks like a key is masked (``redact``), and it
can be switched off.

Does not: keep time or count for Prometheus (``metrics``).
"""

from __future__ import annotations

import logging
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ..wire import Report
from . import redact
from .choice import Choice
from .logs import log

MOST_MODELS = 100
OTHER = "(other models)"
"""Under this name goes what comes after so many models."""
EVIDENCE = 20
ALARM_EVERY = 60.0
"""Seconds between two log lines about one model's residue."""


@dataclass
class Record:
    """One exchange as it ended.

    ``outcome``: ``done``, ``refused`` (by the proxy), ``upstream_error`` (an error status),
    ``upstream_broke`` or ``client_gone``. ``seconds`` of the whole; ``held_seconds`` in which text was held;
    ``added_seconds`` between the upstream's first text and the first that the client got, or None.
    ``sent``: whether a stream went out to its end.
    """

    model: str
    choice: Choice
    report: Report
    streamed: bool
    status: int = 200
    outcome: str = "done"
    seconds: float = 0.0
    held_seconds: float = 0.0
    added_seconds: float | None = None
    chunks: int = 0
    error: str = ""
    sent: bool = False

    def client_left(self) -> None:
        """The client closed the connection, which it may once a stream's end mark is sent."""
        if not self.sent:
            self.outcome = "client_gone"


@dataclass
class Tally:
    """All exchanges of one model."""

    choice: Choice
    requests: int = 0
    calls: Counter[str] = field(default_factory=Counter)
    defects: Counter[str] = field(default_factory=Counter)
    residue: Counter[str] = field(default_factory=Counter)
    evidence: deque[dict[str, str]] = field(default_factory=lambda: deque(maxlen=EVIDENCE))
    outcomes: Counter[str] = field(default_factory=Counter)
    repairs: int = 0
    dropped: int = 0
    alarmed: float = float("-inf")
    unlogged: int = 0

    def answer(self) -> str:
        """Whether reading this model's text is still needed, in one sentence."""
        if not self.requests:
            return "nothing was asked yet"
        if self.residue:
            return "needed, and not enough: clients saw markup; the dialect may be wrong, or no tools sent"
        if self.calls["parsed"] or self.repairs:
            return "needed: calls came as text, or had to be mended"
        if self.calls["cut"]:
            return "needed: calls were cut"
        if self.calls["native"]:
            return "not needed so far: all calls came from the upstream's own parser, whole"
        return "not known: the model made no call yet"

    def as_json(self) -> dict[str, Any]:
        """The tally as ``/status`` shows it."""
        return {
            "dialect": self.choice.slug,
            "chosen_because": self.choice.reason,
            "requests": self.requests,
            "outcomes": dict(self.outcomes),
            "calls": {origin: self.calls[origin] for origin in ("parsed", "native", "cut")},
            "repairs": self.repairs,
            "dropped_calls": self.dropped,
            "defects": dict(self.defects),
            "residue": dict(self.residue),
            "residue_evidence": list(self.evidence),
            "still_needed": self.answer(),
        }


class Tallies:
    """The tallies by model, and the drift alarm in the log."""

    def __init__(self, clock: Callable[[], float], evidence: bool = True) -> None:
        self._clock = clock
        self._evidence = evidence
        self._by_model: dict[str, Tally] = {}

    def label(self, model: str) -> str:
        """The name under which a model is counted: its own, unless there are too many."""
        return model if model in self._by_model or len(self._by_model) < MOST_MODELS else OTHER

    def add(self, record: Record) -> None:
        """Count one exchange, and log residue at most once a minute for each model."""
        label = self.label(record.model)
        tally = self._by_model.setdefault(label, Tally(record.choice))
        report = record.report
        tally.choice = record.choice
        tally.requests += 1
        tally.outcomes[record.outcome] += 1
        tally.calls["parsed"] += report.calls_parsed
        tally.calls["native"] += report.calls_native
        tally.calls["cut"] += report.calls_cut
        tally.defects.update(report.defects)
        tally.repairs += report.repairs
        tally.dropped += report.dropped_calls
        for hit in report.residue:
            tally.residue[hit.marker] += 1
            if self._evidence:
                tally.evidence.append({"marker": hit.marker, "text": redact.secrets(hit.evidence)})
        if report.residue:
            self._alarm(label, tally, report)

    def as_json(self) -> dict[str, Any]:
        """All tallies, by model."""
        return {model: tally.as_json() for model, tally in sorted(self._by_model.items())}

    def _alarm(self, model: str, tally: Tally, report: Report) -> None:
        now = self._clock()
        tally.unlogged += len(report.residue)
        if now - tally.alarmed < ALARM_EVERY:
            return
        markers = sorted({hit.marker for hit in report.residue})
        fields = {"model": model, "dialect": report.dialect, "markers": markers, "hits": tally.unlogged}
        log("residue", logging.WARNING, **fields)
        tally.alarmed, tally.unlogged = now, 0
