"""Spans: offsets of one channel's text, as offsets of all that was fed.

Promises: events of an output that came on two channels tile it too; what stands on both sides of the
other channel's text is split into pieces. ``clipped`` cuts off what belongs to the prompt.
"""

from __future__ import annotations

from bisect import bisect_right

from ._typing import TYPE_CHECKING
from .events import Arguments, CallEnd, CallStart, Defect, Event, Markup, Reasoning, Relabel, Span, Text

if TYPE_CHECKING:
    from typing import Final

_NONE: Final[dict[str, int]] = {}
_NOWHERE: Final[dict[str, list[int]]] = {}


class Spans:
    """Where the pieces of each channel stand in the whole input."""

    __slots__ = ("mixed", "_total", "_local", "_starts", "_shifts", "_last")

    def __init__(self) -> None:
        self.mixed = False
        self._total = 0
        # Made when a second channel comes: nearly all outputs come on one.
        self._local: dict[str, int] = _NONE
        self._starts: dict[str, list[int]] = _NOWHERE
        self._shifts: dict[str, list[int]] = _NOWHERE
        self._last = ""

    def feed(self, channel: str, length: int) -> None:
        """``length`` more characters came on ``channel``."""
        if channel != self._last:
            self._enter(channel)
        if self.mixed:
            self._local[channel] += length
        self._total += length

    def both(self, last: str, length: int, channel: str) -> Spans:
        """``length`` characters came on ``last``, and others will on ``channel``; of one channel's anew."""
        spans = Spans() if self is ONE_CHANNEL else self
        spans.feed(last, length)
        spans.feed(channel, 0)
        return spans

    def _enter(self, channel: str) -> None:
        """Text comes on another channel than before."""
        last, self._last = self._last, channel
        if not last:
            return
        if not self.mixed:
            self.mixed = True
            self._local, self._starts, self._shifts = {last: self._total}, {last: [0]}, {last: [0]}
        local = self._local.setdefault(channel, 0)
        self._starts.setdefault(channel, []).append(local)
        self._shifts.setdefault(channel, []).append(self._total - local)

    def place(self, channel: str) -> tuple[int, int]:
        """How far the channel's latest text is shifted, and where in the channel it began."""
        return self._shifts[channel][-1], self._starts[channel][-1]

    def translate(self, channel: str, events: list[Event]) -> list[Event]:
        """The events with spans in the whole input."""
        translated: list[Event] = []
        for event in events:
            translated += self._event(channel, event)
        return translated

    def _pieces(self, channel: str, span: Span) -> list[Span]:
        starts, shifts = self._starts[channel], self._shifts[channel]
        start, end = span
        index = max(bisect_right(starts, start) - 1, 0)
        if start == end:
            return [(start + shifts[index], end + shifts[index])]
        pieces: list[Span] = []
        while start < end:
            stop = min(end, starts[index + 1]) if index + 1 < len(starts) else end
            pieces.append((start + shifts[index], stop + shifts[index]))
            start = stop
            index += 1
        return pieces

    def _event(self, channel: str, event: Event) -> list[Event]:
        pieces = self._pieces(channel, event.span)
        if isinstance(event, (Defect, Relabel)):
            return self._note(pieces, event)
        if isinstance(event, (Text, Reasoning)):
            split: list[Event] = []
            at = 0
            for piece in pieces:
                length = piece[1] - piece[0]
                split.append(type(event)(event.text[at : at + length], piece))
                at += length
            return split
        if isinstance(event, Markup):
            return [Markup(piece) for piece in pieces]
        return [_moved(event, pieces[0]), *(Markup(piece) for piece in pieces[1:])]

    @staticmethod
    def _note(pieces: list[Span], event: Defect | Relabel) -> list[Event]:
        if isinstance(event, Relabel):
            return [Relabel(piece) for piece in pieces]
        span = (pieces[0][0], pieces[-1][1])
        return [Defect(event.kind, event.raw, event.detail, span, event.index)]


ONE_CHANNEL: Final = Spans()
"""What all outputs have whose text comes on one channel; nothing is fed to it."""


def _moved(event: CallStart | Arguments | CallEnd, span: Span) -> Event:
    if isinstance(event, CallStart):
        return CallStart(event.index, event.id, event.name, span)
    if isinstance(event, Arguments):
        return Arguments(event.index, event.text, span)
    return CallEnd(event.index, event.arguments, span, event.arguments_json)


def clipped(events: list[Event]) -> list[Event]:
    """The events without what lies before offset 0, in the prompt."""
    if all(event.span[0] >= 0 for event in events):
        return events
    kept: list[Event] = []
    for event in events:
        start, end = event.span
        if start >= 0:
            kept.append(event)
            continue
        span = (0, max(end, 0))
        if isinstance(event, (Text, Reasoning)):
            if end > 0:
                kept.append(type(event)(event.text[-start:], span))
        elif isinstance(event, Markup):
            if end > 0:
                kept.append(Markup(span))
        elif isinstance(event, Relabel):
            kept.append(Relabel(span))
        elif isinstance(event, Defect):
            raw = event.raw[-start:]
            kept.append(Defect(event.kind, raw, event.detail, span, event.index))
        else:
            kept.append(_moved(event, span))
    return kept
