"""Replay: a captured exchange run again, chunk for chunk.

Promises: the same code as in the proxy, the same pieces, the same settings; ``same`` says whether a client
would get what it got then, ids aside. Where the upstream gave no answer there is nothing to run: it is the
same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..wire import Exchange, Report, decode_object
from . import summary
from .capture import Exchanged


@dataclass(frozen=True)
class Replayed:
    """One exchange run again: what a client gets now and got then, by choice."""

    exchanged: Exchanged
    now: list[dict[str, Any]]
    then: list[dict[str, Any]]
    report: Report

    @property
    def same(self) -> bool:
        """Whether both are equal."""
        return self.now == self.then

    def as_json(self) -> dict[str, Any]:
        """The result as the command prints it."""
        report = self.report
        return {
            "where": self.exchanged.where,
            "model": self.exchanged.model,
            "dialect": report.dialect,
            "same": self.same,
            "choices": self.now,
            **({} if self.same else {"then": self.then}),
            "calls": {
                "parsed": report.calls_parsed,
                "native": report.calls_native,
                "cut": report.calls_cut,
            },
            "defects": dict(report.defects),
            "residue": [hit.marker for hit in report.residue],
        }


def replay(exchanged: Exchanged) -> Replayed:
    """Run an exchange again."""
    exchange = Exchange(exchanged.request, exchanged.settings)
    if exchanged.streamed:
        stream = exchange.stream()
        pieces = [stream.feed(piece) for piece in exchanged.received if piece]
        now = summary.of_stream(b"".join(pieces) + stream.close(exchanged.error))
        then = summary.of_stream(exchanged.sent)
    else:
        body = decode_object(b"".join(exchanged.received))
        now = [] if body is None else summary.of_whole(exchange.whole(body))
        then = summary.of_whole(decode_object(exchanged.sent) or {})
    return Replayed(exchanged, now, then, exchange.report)
