"""Runs: stretches of text that are taken delta by delta without resuming the machine.

Promises: a generator that waits where the text may only go on (in prose, inside a string, inside a raw
value) declares a run; a delta with nothing in it that could matter there becomes one event, with the
same text and span that the generator would have made of it. Any other delta settles the run: the source,
its cursor and the sink then stand as if the generator had read it all. What a run looks at is counted
when it is settled.

Does not: read any syntax. What ends a run is a pattern, or the markers, of the codec that declared it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from types import FunctionType
from typing import Any, Final

from .events import Arguments, Event, Reasoning, Text
from .jsontext import json_escape
from .markers import Markers
from .scanner import BLANKS, Source, examined
from .sinks import Sink
from .stops import Patterns, raw_patterns

NOTHING: Final[tuple[Event, ...]] = ()
# How much is taken at most before the machine looks at its limits again, and how much may be held.
_FOLD: Final = 4096
# After so many characters their deltas are joined: each is a text of its own, of fifty bytes more.
_JOIN: Final = 256
HELD_MOST: Final = 64
_SHORT: Final = 3
# One character of raw text is at most so many of JSON.
_ESCAPED_MOST: Final = 6
# A search that finds something in any text.
_CARE: Final = re.compile("")

# An event made without its ``__init__`` costs half. A compiled class cannot be made so, and need not.
NEW_EVENT: Final[Any] = object.__new__ if isinstance(Arguments.__init__, FunctionType) else None


class Run:
    """A stretch of text in ``source``, behind which only more of the same is waited for.

    What is ``held``, the end of the text before, and a delta behind it are one event of the class ``kind``,
    of the call ``index`` if it is one of arguments, or none if the run is ``silent``: if ``meets`` finds
    nothing in them, ``at`` behind them is not beyond ``most``, and they are ASCII where the run is that of
    ``ascii`` text. ``Parser.feed`` makes the event, adds the delta to ``pieces`` and moves ``at``, where the
    next character will stand in all that was fed. Any other delta is for ``take``.
    """

    __slots__ = (
        *("ascii", "at", "held", "index", "kind", "meets", "most", "pieces", "silent", "source"),
        *("_ahead", "_begun", "_end", "_looked", "_ordinary", "_raw", "_stop"),
    )

    def __init__(self, source: Source, kind: type[Event], stop: re.Pattern[str], ascii: bool = False) -> None:
        self.source = source
        self.kind = kind
        self.index = -1
        self.at = 0
        self.most = -1
        self.pieces: list[str] = []
        self._stop = self.meets = stop.search
        self.ascii = ascii
        self._begun = self._end = 0
        self.held = ""
        # How much of what is held needs no second look.
        self._ahead = 0
        self.silent = False
        self._looked = 0
        self._ordinary = False
        # Whether the text has yet to be escaped for JSON.
        self._raw = False

    def ready(self, shift: int, since: int, *, ordinary: bool) -> bool:
        """Begin at the end of the source; whether deltas may be taken.

        ``shift``: from offsets of the source to those of all that was fed; ``since``: where, at the
        earliest, an event may begin. ``ordinary``: whether the caller says that no delta is a special token.
        """
        source = self.source
        end = source.base + len(source.text)
        lead = source.base + source.pos
        room = min(self._room(), source.due - end, _FOLD)
        if room <= 0 or end - lead > HELD_MOST or lead < since:
            return False
        self._ordinary = ordinary
        self._hold(source.text[source.pos :])
        self._ahead = source.ahead
        self.at = self._begun = end + shift
        self._end = self.at + room
        self.most = self.at + min(room, _JOIN)
        self.silent = not self._goes_out()
        return True

    def taken(self) -> int:
        """How many characters were taken since the run is ready."""
        return self.at - self._begun

    def take(self, delta: str, text: str, found: re.Match[str] | None) -> Sequence[Event] | None:
        """The events of ``delta``, or None where the machine has to read it.

        ``text``: what is held and the delta; ``found``: what ``meets`` found in it.
        """
        if not delta:
            return NOTHING
        if self.at + len(delta) > self.most and not self._more(len(delta)):
            return None
        start = 0 if found is None else found.start()
        self._looked += len(text) - start
        ahead = self._ahead
        safe = self._safe(text, start)
        if safe < 0 or len(text) - safe > HELD_MOST:
            self._ahead = ahead
            return None
        return self._taken(delta, text, safe)

    def _more(self, count: int) -> bool:
        """Whether ``count`` characters more may be taken; the deltas that were taken are joined before."""
        if self.at + count > self._end:
            return False
        self.pieces[:] = ["".join(self.pieces)]
        self.most = min(self._end, self.at + count + _JOIN)
        return True

    def _taken(self, delta: str, text: str, safe: int) -> Sequence[Event]:
        """The events of ``delta``, where ``safe`` characters of ``text`` go out and the others are held."""
        at = self.at + len(delta)
        start = at - len(text)
        self.at = at
        self.pieces.append(delta)
        if safe < len(text):
            self._hold(text[safe:])
            if not safe:
                return NOTHING
            text = text[:safe]
        else:
            self._hold("")
        if self.silent:
            return NOTHING
        if self._raw:
            text = json_escape(text)
        event: Any
        if NEW_EVENT is None:
            event = self.event(text, start, start + safe)
        else:
            event = NEW_EVENT(self.kind)
            if self.index >= 0:
                event.index = self.index
            event.text = text
            event.span = (start, start + safe)
        return (event,)

    def _hold(self, text: str) -> None:
        """Hold ``text``; what is long is looked at once a delta, by ``take``, and not before it too."""
        self.held = text
        if len(text) > _SHORT:
            self.meets = _CARE.search
        else:
            self.meets = self._stop
            self._looked += len(text)

    def event(self, text: str, start: int, end: int) -> Event:
        """The event of a piece."""
        if self.index >= 0:
            return Arguments(self.index, text, (start, end))
        return Text(text, (start, end)) if self.kind is Text else Reasoning(text, (start, end))

    def settle(self) -> None:
        """Leave the source, its cursor and the sink as if the machine had read what was taken."""
        examined(self._looked)
        self._looked = 0
        if not self.pieces:
            return
        source = self.source
        text = "".join(self.pieces)
        self.pieces.clear()
        examined(len(text))
        source.grow(text, self._ordinary)
        source.ahead = self._ahead if self.held else 0
        lead, end = source.pos, len(source.text) - len(self.held)
        whole = not self.held and end - lead == len(text)
        self._deliver(text if whole else source.text[lead:end])

    # -- what kinds of run differ in --------------------------------------------------------------

    def _room(self) -> int:
        """How many characters may be taken before a limit has to be looked at."""
        return _FOLD

    def _goes_out(self) -> bool:
        """Whether what is taken makes events at once."""
        raise NotImplementedError

    def _safe(self, text: str, start: int) -> int:
        """How much of ``text`` is taken for good; the rest is held. Negative where the machine must read.

        ``start``: in front of what is nothing that matters.
        """
        raise NotImplementedError

    def _deliver(self, text: str) -> None:
        """Account for ``text``, which stands at the cursor, and move past it."""
        raise NotImplementedError


class NoRun(Run):
    """What takes nothing."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(Source(), Text, _CARE)

    def take(self, delta: str, text: str, found: re.Match[str] | None) -> Sequence[Event] | None:
        return None


NO_RUN: Final = NoRun()


class HeadRun(Run):
    """The beginning of a body, of which nothing goes out, as long as ``begun`` matches all of it."""

    __slots__ = ("_pattern",)

    def __init__(self, source: Source, begun: re.Pattern[str]) -> None:
        super().__init__(source, Text, _CARE)
        self._pattern = begun

    def _goes_out(self) -> bool:
        return False

    def _safe(self, text: str, start: int) -> int:
        return 0 if self._pattern.fullmatch(text) is not None else -1

    def _deliver(self, text: str) -> None:
        """All is held."""


# -- arguments -------------------------------------------------------------------------------------


class StringRun(Run):
    """The inside of a string, up to ``close``, whose text is JSON already, escapes included."""

    __slots__ = ("close", "sink", "_inside", "_partial")

    def __init__(self, source: Source, sink: Sink, patterns: Patterns) -> None:
        super().__init__(source, Arguments, patterns.stop)
        self.sink = sink
        self.close = ""
        self._inside = patterns.inside
        self._partial = patterns.begun

    def _room(self) -> int:
        return self.sink.room

    def _goes_out(self) -> bool:
        self.index = self.sink.live()
        return self.index >= 0

    def _safe(self, text: str, start: int) -> int:
        self._looked += start
        match = self._inside.match(text)
        end = 0 if match is None else match.end()
        return end if end == len(text) or self._partial.fullmatch(text, end) is not None else -1

    def _deliver(self, text: str) -> None:
        if not self.silent:
            self.sink.sent(text, len(text))
        else:
            self.sink.take(text, len(text))


class RawRun(StringRun):
    """Raw text that becomes the inside of a JSON string, where ``markers`` are looked for.

    ``blanks``: as for prose. ``escape``: a character with which an escape of the format begins.
    """

    __slots__ = ("_blanks", "_markers")

    def __init__(self, source: Source, sink: Sink, markers: Markers, blanks: str, escape: str = "") -> None:
        super().__init__(source, sink, raw_patterns(markers.firsts, blanks, escape))
        self._raw = True
        self._markers = markers
        self._blanks = blanks

    def _room(self) -> int:
        return self.sink.room // _ESCAPED_MOST

    def _safe(self, text: str, start: int) -> int:
        end = len(text)
        if self._inside.search(text, start) is not None:
            end = begun(text, self._markers, None, start)
            if end < 0 or (self._ordinary and end < len(text)):
                return -1
            if self._partial.search(text, start) is not None:
                return -1
        safe = tail(text, end, self._blanks)
        self._ahead = end - safe
        return safe

    def _deliver(self, text: str) -> None:
        if not self.silent:
            self.sink.sent(json_escape(text), len(text))
        else:
            self.sink.take_raw(text)


def begun(text: str, markers: Markers, firsts: frozenset[str] | None, start: int) -> int:
    """Where a marker begins that the end of ``text`` cuts, or the end; negative where the machine must tell.

    None begins in front of ``start``. One that does not begin with one of ``firsts`` is none inside a word.
    """
    match = markers.search(text, start, False)
    while match is not None:
        at = match.start()
        if not markers.partial(match, len(text), False):
            return -1
        if firsts is None or text[at] in firsts or text[at] == "`":
            return at
        if at == 0:
            return -1
        if not (text[at - 1].isalnum() or text[at - 1] == "_"):
            return at
        match = markers.search(text, at + 1, False)
    return len(text)


def tail(text: str, end: int, blanks: str) -> int:
    """Where what of ``blanks`` stands in front of ``end`` begins: any, or at most so many newlines."""
    if not end or not blanks or text[end - 1] not in blanks:
        return end
    if blanks == BLANKS:
        return len(text[:end].rstrip(BLANKS))
    most = end - len(blanks)
    while end > max(most, 0) and text[end - 1] in blanks:
        end -= 1
    return end
