"""Runs: stretches of text that are taken delta by delta without resuming the machine.

Promises: a generator that waits where the text may only go on (in prose, inside a string, inside a raw
value) declares a run; a delta with nothing in it that could matter there becomes one event, with the
same text and span that the generator would have made of it. Any other delta settles the run: the source,
its cursor and the sink then stand as if the generator had read it all. What a run looks at is counted.

Does not: read any syntax. What ends a run is a pattern, or the markers, of the codec that declared it.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import FunctionType
from typing import Any, Final, Protocol

from .events import Arguments, Event, Reasoning, Text
from .jsontext import json_escape
from .markers import Markers
from .scanner import BLANKS, Source, examined
from .sinks import Sink
from .stops import SURROGATE, Patterns, one_of_firsts, raw_patterns

_NOTHING: Final[tuple[Event, ...]] = ()
# How much is taken at most before the machine looks at its limits again, and how much may be held.
_FOLD: Final = 4096
_HELD_MOST: Final = 64
# One character of raw text is at most so many of JSON.
_ESCAPED_MOST: Final = 6

# An event made without its ``__init__`` costs half. A compiled class cannot be made so, and need not.
_NEW: Final[Any] = object.__new__ if isinstance(Arguments.__init__, FunctionType) else None


class Holder(Protocol):
    """What a prose run asks of its channel."""

    mark: int
    holds: list[Any]
    aside: list[tuple[str, int, int]]


class Run:
    """A stretch of text in ``source``. ``held``: the end of its text that may yet matter.

    ``ahead``: how much of it needs no second look. ``at`` is where the next character will stand in all that
    was fed, ``most`` where the machine must see to its limits, ``plain`` whether nothing is held and text
    goes out as it comes.
    """

    __slots__ = ("ahead", "at", "begun", "held", "most", "pieces", "plain", "source", "_live", "_ordinary")

    def __init__(self, source: Source) -> None:
        self.source = source
        self.at = 0
        self.begun = 0
        self.most = -1
        self.held = ""
        self.pieces: list[str] = []
        self.plain = False
        self.ahead = 0
        self._live = False
        self._ordinary = False

    def ready(self, shift: int, since: int, *, ordinary: bool) -> bool:
        """Begin at the end of the source; whether deltas may be taken.

        ``shift``: from offsets of the source to those of all that was fed; ``since``: where, at the
        earliest, an event may begin. ``ordinary``: whether the caller says that no delta is a special token.
        """
        source = self.source
        end = source.base + len(source.text)
        lead = source.base + source.pos
        held = end - lead
        room = min(self._room(), source.due - end)
        if held > _HELD_MOST or lead < since or room <= 0:
            return False
        self._ordinary = ordinary
        self.held = source.text[source.pos :]
        self.ahead = source.ahead
        self.at = self.begun = end + shift
        self.most = self.at + min(room, _FOLD)
        self._live = self._goes_out()
        self.plain = self._live and not held
        return True

    def take(self, delta: str) -> Sequence[Event] | None:
        """The events of ``delta``, or None where the machine has to read it."""
        return self._carefully(delta)

    def settle(self) -> None:
        """Leave the source, its cursor and the sink as if the machine had read what was taken."""
        if not self.pieces:
            return
        source = self.source
        text = "".join(self.pieces)
        self.pieces.clear()
        examined(len(text))
        source.grow(text)
        if self._ordinary:
            source.flag(len(text), special=False)
        source.ahead = self.ahead
        end = len(source.text) - len(self.held)
        self._deliver(text if end - source.pos == len(text) else source.text[source.pos : end])
        assert source.pos == end

    def _carefully(self, delta: str) -> Sequence[Event] | None:
        """As ``take``, where something is held or may have to be."""
        text = self.held + delta
        examined(len(text))
        safe = self._safe(text)
        at = self.at + len(delta)
        if safe < 0 or len(text) - safe > _HELD_MOST or at > self.most:
            return None
        start = self.at - len(self.held)
        self.at = at
        self.pieces.append(delta)
        self.held = text[safe:]
        self.plain = self._live and not self.held
        if not safe or not self._live:
            return _NOTHING
        return [self._event(text[:safe], start, start + safe)]

    # -- what kinds of run differ in --------------------------------------------------------------

    def _room(self) -> int:
        """How many characters may be taken before a limit has to be looked at."""
        raise NotImplementedError

    def _goes_out(self) -> bool:
        """Whether what is taken makes events at once."""
        raise NotImplementedError

    def _safe(self, text: str) -> int:
        """How much of ``text`` is taken for good; the rest is held. Negative where the machine must read."""
        raise NotImplementedError

    def _event(self, text: str, start: int, end: int) -> Event:
        raise NotImplementedError

    def _deliver(self, text: str) -> None:
        """Account for ``text``, which stands at the cursor, and move past it."""
        raise NotImplementedError


# -- prose -----------------------------------------------------------------------------------------


class ProseRun(Run):
    """Text of the answer, or of the reasoning, where ``markers`` are looked for.

    ``blanks``: the characters that are held at its end: any blank, one newline, or none. ``firsts``: those
    with which a marker inside a word may begin.
    """

    __slots__ = ("_blanks", "_channel", "_firsts", "_markers", "_stop", "_thinking")

    def __init__(
        self,
        source: Source,
        channel: Holder,
        markers: Markers,
        blanks: str,
        firsts: frozenset[str] | None,
        *,
        thinking: bool,
    ) -> None:
        super().__init__(source)
        self._firsts = firsts
        self._channel = channel
        self._markers = markers
        self._stop = one_of_firsts(markers.firsts)
        self._blanks = blanks
        self._thinking = thinking

    def take(self, delta: str) -> Sequence[Event] | None:
        start = self.at
        end = start + len(delta)
        if self.plain and end <= self.most and delta[-1] > " " and self._stop.search(delta) is None:
            self.at = end
            self.pieces.append(delta)
            event: Text | Reasoning
            if _NEW is None:
                event = self._event(delta, start, end)
            else:
                event = _NEW(Reasoning if self._thinking else Text)
                event.text = delta
                event.span = (start, end)
            return [event]
        return self._carefully(delta)

    def _room(self) -> int:
        channel, source = self._channel, self.source
        free = not channel.holds and not channel.aside and channel.mark == source.base + source.pos
        return _FOLD if free else 0

    def _goes_out(self) -> bool:
        return True

    def _safe(self, text: str) -> int:
        end = len(text)
        if self._stop.search(text) is not None:
            end = begun(text, self._markers, self._firsts)
            if end < 0 or (self._ordinary and end < len(text)) or SURROGATE.search(text) is not None:
                return -1
        safe = tail(text, end, self._blanks)
        self.ahead = end - safe
        return safe

    def _event(self, text: str, start: int, end: int) -> Text | Reasoning:
        return Reasoning(text, (start, end)) if self._thinking else Text(text, (start, end))

    def _deliver(self, text: str) -> None:
        source = self.source
        source.pos += len(text)
        self._channel.mark = source.base + source.pos


# -- arguments -------------------------------------------------------------------------------------


class StringRun(Run):
    """The inside of a string whose text is JSON already, escapes included."""

    __slots__ = ("sink", "_blanks", "_index", "_patterns", "_search")

    def __init__(self, source: Source, patterns: Patterns) -> None:
        super().__init__(source)
        self.sink: Sink | None = None
        self._blanks = ""
        self._index = -1
        self._patterns = patterns
        self._search = patterns.stop.search

    def take(self, delta: str) -> Sequence[Event] | None:
        start = self.at
        end = start + len(delta)
        if (
            self.plain
            and end <= self.most
            and self._search(delta) is None
            and not (self._blanks and delta[-1] in self._blanks)
        ):
            self.at = end
            self.pieces.append(delta)
            event: Arguments
            if _NEW is None:
                event = Arguments(self._index, delta, (start, end))
            else:
                event = _NEW(Arguments)
                event.index = self._index
                event.text = delta
                event.span = (start, end)
            return [event]
        return self._carefully(delta)

    def _room(self) -> int:
        assert self.sink is not None
        return self.sink.room

    def _goes_out(self) -> bool:
        assert self.sink is not None
        self._index = self.sink.live()
        return self._index >= 0

    def _safe(self, text: str) -> int:
        match = self._patterns.inside.match(text)
        end = 0 if match is None else match.end()
        return end if end == len(text) or self._patterns.begun.fullmatch(text, end) else -1

    def _event(self, text: str, start: int, end: int) -> Event:
        return Arguments(self._index, text, (start, end))

    def _deliver(self, text: str) -> None:
        assert self.sink is not None
        if self._live:
            self.sink.sent(text, len(text))
        else:
            self.sink.take(text, len(text))


class RawRun(StringRun):
    """Raw text that becomes the inside of a JSON string, where ``markers`` are looked for.

    ``blanks``: as for prose. ``escape``: a character with which an escape of the format begins.
    """

    __slots__ = ("_markers",)

    def __init__(self, source: Source, markers: Markers, blanks: str, escape: str = "") -> None:
        super().__init__(source, raw_patterns(markers.firsts, escape))
        self._markers = markers
        self._blanks = blanks

    def _room(self) -> int:
        return super()._room() // _ESCAPED_MOST

    def _safe(self, text: str) -> int:
        end = len(text)
        if self._patterns.inside.search(text) is not None:
            end = begun(text, self._markers, None)
            if end < 0 or (self._ordinary and end < len(text)) or self._patterns.begun.search(text):
                return -1
        safe = tail(text, end, self._blanks)
        self.ahead = end - safe
        return safe

    def _event(self, text: str, start: int, end: int) -> Event:
        return Arguments(self._index, json_escape(text), (start, end))

    def _deliver(self, text: str) -> None:
        assert self.sink is not None
        if self._live:
            self.sink.sent(json_escape(text), len(text))
        else:
            self.sink.take_raw(text)


def begun(text: str, markers: Markers, firsts: frozenset[str] | None) -> int:
    """Where a marker begins that the end of ``text`` cuts, or the end; negative where the machine must tell.

    A marker that does not begin with one of ``firsts`` is none inside a word.
    """
    at = -1
    while True:
        match = markers.search(text, at + 1, False)
        if match is None:
            return len(text)
        at = match.start()
        if not markers.partial(match, len(text), False):
            return -1
        if firsts is None or text[at] in firsts or text[at] == "`":
            return at
        if at == 0:
            return -1
        if not (text[at - 1].isalnum() or text[at - 1] == "_"):
            return at


def tail(text: str, end: int, blanks: str) -> int:
    """Where what of ``blanks`` stands in front of ``end`` begins: all of them, or one newline."""
    if not end or not blanks or text[end - 1] not in blanks:
        return end
    return len(text[:end].rstrip(blanks)) if blanks == BLANKS else end - 1
