"""Prose runs: text of the answer, or of the reasoning, taken delta by delta without resuming the machine.

Promises: what ``runs`` does. A blank at the end of a delta, and what may begin a marker there, wait for more.

Does not: tell what a marker means; a delta that has a whole one is the machine's.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final, Protocol

from .events import Event, Reasoning, Text
from .markers import Markers
from .runs import HELD_MOST, NEW_EVENT, Run, begun, tail
from .scanner import BLANKS, Source
from .stops import SURROGATE, prose_patterns

# As much of a marker at the end of a delta begins any marker that begins so.
_BEGUN_MOST: Final = 2
# How much is taken before the machine reads on: it keeps none of it, where that of arguments stays.
_FOLD: Final = 2048


class Flow(Protocol):
    """What a run of prose asks of its channel."""

    mark: int
    holds: list[Any]
    aside: list[tuple[str, int, int]]


class ProseRun(Run):
    """Text in which ``markers`` are looked for.

    ``blanks``: what is held at its end: any blank, or at most so many newlines. ``firsts``: those
    with which a marker inside a word may begin; any, where there are none.
    """

    __slots__ = ("_blanks", "_firsts", "_flow", "_inside", "_last", "_markers")

    def __init__(
        self,
        source: Source,
        flow: Flow,
        markers: Markers,
        blanks: str,
        firsts: frozenset[str] | None,
        *,
        thinking: bool,
    ) -> None:
        kind = Reasoning if thinking else Text
        # Characters that stand in any prose tell little: there the markers themselves are looked for.
        if any(c in BLANKS or c.isalnum() for c in markers.firsts):
            self._inside = markers.beginning().search
            super().__init__(source, kind, markers.beginning(blanks), ascii=True)
        else:
            patterns = prose_patterns(markers.firsts, blanks)
            self._inside = patterns.inside.search
            super().__init__(source, kind, patterns.stop)
        self._flow = flow
        self._markers = markers
        self._blanks = blanks
        # How much of a blank at the end need not be looked at again: none of one that may begin a marker.
        begin = frozenset(c for c in blanks if markers.begins(c) and (firsts is None or c in firsts))
        self._last = {c: int(c not in begin) for c in blanks if c in begin or c not in markers.firsts}
        self._firsts = firsts

    def _room(self) -> int:
        flow, source = self._flow, self.source
        return _FOLD if not flow.holds and not flow.aside and flow.mark == source.at else 0

    def _goes_out(self) -> bool:
        return True

    def take(self, delta: str, text: str, found: re.Match[str] | None) -> Sequence[Event] | None:
        if found is not None and found.start() == len(text) - 1 and text[-1] in self._last:
            # One blank at the end, the commonest of all, is dealt with here: a call more costs as much again.
            at = self.at + len(delta)
            ahead = self._last[text[-1]]
            if (
                text[-2:-1] not in self._blanks
                and at <= self.most
                and (not self.ascii or text.isascii())
                and (ahead or not self._ordinary)
                and NEW_EVENT is not None
            ):
                self.at = at
                self.pieces.append(delta)
                self.held = text[-1]
                self._ahead = ahead
                self._looked += 1
                event = NEW_EVENT(self.kind)
                event.text = text[:-1]
                event.span = (at - len(text), at - 1)
                return (event,)
        return self._read(delta, text, found)

    def _read(self, delta: str, text: str, found: re.Match[str] | None) -> Sequence[Event] | None:
        """As ``take``."""
        if not delta or self.at + len(delta) > self.most:
            return super().take(delta, text, found)
        if self.ascii and not text.isascii() and SURROGATE.search(text) is not None:
            return None
        if found is None:
            self._ahead = 0
            return self._taken(delta, text, len(text))
        at, end = found.span()
        if end < len(text) or end - at > _BEGUN_MOST:
            return super().take(delta, text, found)
        last = text[at]
        if last in self._markers.firsts:
            # What may begin a marker is held, if it need not be told from a word.
            anywhere = self._firsts is None or last in self._firsts
            if not anywhere or self._ordinary or not self._markers.partial(found, end, False):
                return super().take(delta, text, found)
            end = at
        elif last not in self._blanks:
            return super().take(delta, text, found)
        safe = tail(text, end, self._blanks)
        if len(text) - safe > HELD_MOST:
            return super().take(delta, text, found)
        self._ahead = end - safe
        return self._taken(delta, text, safe)

    def _safe(self, text: str, start: int) -> int:
        end = len(text)
        if self._inside(text, start) is not None:
            end = begun(text, self._markers, self._firsts, start)
            if end < 0 or (self._ordinary and end < len(text)):
                return -1
        if not text.isascii() and SURROGATE.search(text) is not None:
            return -1
        safe = tail(text, end, self._blanks)
        self._ahead = end - safe
        return safe

    def _deliver(self, text: str) -> None:
        source = self.source
        source.pos += len(text)
        self._flow.mark = source.base + source.pos
