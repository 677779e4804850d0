"""Runs: stretches of text that are taken delta by delta without resuming the machine.

Promises: a generator that waits where the text may only go on (in prose, inside a string, inside a raw
value) declares a run; a delta with nothing in it that could matter there becomes one event, with the
same text and span that the generator would have made of it. Any other delta settles the run: the source,
its cursor and the sink then stand as if the generator had read it all. What a run looks at is counted
when it is settled.

Does not: read any syntax. What ends a run is a pattern, or the markers, of the codec that declared it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any, Final, Protocol

from .events import Arguments, Event, Reasoning, Text
from .jsontext import json_escape
from .markers import Markers
from .scanner import BLANKS, Source, examined
from .sinks import Sink
from .stops import SURROGATE, Patterns, prose_patterns, raw_patterns

_NOTHING: Final[tuple[Event, ...]] = ()
# How much is taken at most before the machine looks at its limits again, and how much may be held.
_FOLD: Final = 4096
_HELD_MOST: Final = 64
# One character of raw text is at most so many of JSON.
_ESCAPED_MOST: Final = 6
# A search that finds something in any text.
_CARE: Final[Callable[[str], object]] = len

# An event made without its ``__init__`` costs half. A compiled class cannot be made so, and need not.
NEW_EVENT: Final[Any] = object.__new__ if isinstance(Arguments.__init__, FunctionType) else None


class Run:
    """A stretch of text in ``source``, behind which only more of the same is waited for.

    A delta in which ``meets`` finds nothing, and behind which ``at`` is not beyond ``most``, is one event
    of the class ``kind``, of the call ``index`` if it is one of arguments, or none if the run is ``silent``.
    It begins with what is ``held``, the end of the text before. ``Parser.feed`` makes the event, adds the
    delta to ``pieces`` and moves ``at``, where the next character will stand in all that was fed. Any other
    delta is for ``take``.
    """

    __slots__ = (
        *("at", "held", "index", "kind", "meets", "most", "pieces", "silent", "source"),
        *("_ahead", "_begun", "_looked", "_ordinary", "_raw", "_stop"),
    )

    def __init__(self, source: Source, kind: type[Event], stop: Callable[[str], object]) -> None:
        self.source = source
        self.kind = kind
        self.index = -1
        self.at = 0
        self.most = -1
        self.pieces: list[str] = []
        self.meets: Callable[[str], object] = _CARE
        self._stop = stop
        self._begun = 0
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
        if room <= 0 or end - lead > _HELD_MOST or lead < since:
            return False
        self._ordinary = ordinary
        self.held = source.text[source.pos :]
        self._ahead = source.ahead
        self.at = self._begun = end + shift
        self.most = self.at + room
        self.silent = not self._goes_out()
        self.meets = self._stop if end == lead or self._settled() else _CARE
        return True

    def taken(self) -> int:
        """How many characters were taken since the run is ready."""
        return self.at - self._begun

    def take(self, delta: str) -> Sequence[Event] | None:
        """The events of ``delta``, or None where the machine has to read it."""
        if not delta:
            return _NOTHING
        at = self.at + len(delta)
        if at > self.most:
            return None
        text = self.held + delta if self.held else delta
        self._looked += len(text)
        ahead = self._ahead
        safe = self._safe(text)
        if safe < 0 or len(text) - safe > _HELD_MOST:
            self._ahead = ahead
            return None
        start = self.at - len(self.held)
        self.at = at
        self.pieces.append(delta)
        if safe < len(text):
            self.held = text[safe:]
            self.meets = self._stop if self._settled() else _CARE
            if not safe:
                return _NOTHING
            text = text[:safe]
        elif self.held:
            self.held = ""
            self.meets = self._stop
        if self.silent:
            return _NOTHING
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

    def _settled(self) -> bool:
        """Whether what is held goes out as it is with a delta in which nothing matters."""
        return False

    # -- what kinds of run differ in --------------------------------------------------------------

    def _room(self) -> int:
        """How many characters may be taken before a limit has to be looked at."""
        return 0

    def _goes_out(self) -> bool:
        """Whether what is taken makes events at once."""
        raise NotImplementedError

    def _safe(self, text: str) -> int:
        """How much of ``text`` is taken for good; the rest is held. Negative where the machine must read."""
        raise NotImplementedError

    def _deliver(self, text: str) -> None:
        """Account for ``text``, which stands at the cursor, and move past it."""
        raise NotImplementedError


class NoRun(Run):
    """What takes nothing."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(Source(), Text, _CARE)

    def take(self, delta: str) -> Sequence[Event] | None:
        return None


NO_RUN: Final = NoRun()


# -- prose -----------------------------------------------------------------------------------------


class Flow(Protocol):
    """What a run of prose asks of its channel."""

    mark: int
    holds: list[Any]
    aside: list[tuple[str, int, int]]


class ProseRun(Run):
    """Text of the answer, or of the reasoning, where ``markers`` are looked for.

    ``blanks``: what is held at its end: any blank, or at most so many newlines. ``firsts``: those
    with which a marker inside a word may begin; any, where there are none.
    """

    __slots__ = ("_blanks", "_common", "_firsts", "_flow", "_inside", "_markers")

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
        patterns = prose_patterns(markers.firsts, blanks)
        kind = Reasoning if thinking else Text
        # Characters that stand in any prose tell little: the markers themselves are looked for.
        self._common = any(c in BLANKS or c.isalnum() for c in markers.firsts)
        super().__init__(source, kind, self._meets if self._common else patterns.stop.search)
        self._inside = (markers.beginning() if self._common else patterns.inside).search
        self._flow = flow
        self._markers = markers
        self._blanks = blanks
        self._firsts = firsts

    def _room(self) -> int:
        flow, source = self._flow, self.source
        return 0 if flow.holds or flow.aside or flow.mark != source.base + source.pos else _FOLD

    def _goes_out(self) -> bool:
        return True

    def _settled(self) -> bool:
        return self._ahead == len(self.held)

    def take(self, delta: str) -> Sequence[Event] | None:
        held, blanks = self.held, self._blanks
        if not blanks or (held and len(held) != self._ahead) or not delta or self._inside(delta) is not None:
            return super().take(delta)
        if self._common and not delta.isascii() and SURROGATE.search(delta) is not None:
            return None
        # Nothing but blanks is held, and no marker begins: most deltas that end in blanks, or follow such.
        text = held + delta
        said = text.rstrip(BLANKS) if blanks == BLANKS else text[: tail(text, len(text), blanks)]
        start = self.at - len(held)
        at = self.at + len(delta)
        safe = len(said)
        held = text[safe:]
        if at > self.most or len(held) > _HELD_MOST:
            return None
        self.at = at
        self.pieces.append(delta)
        self.held = held
        self._ahead = len(held)
        self.meets = self._stop
        if not safe:
            return _NOTHING
        if NEW_EVENT is None:
            return (self.event(said, start, start + safe),)
        event = NEW_EVENT(self.kind)
        event.text = said
        event.span = (start, start + safe)
        return (event,)

    def _meets(self, text: str) -> object:
        """As the pattern's search, where a marker may begin with any letter."""
        if self._inside(text) is not None or text[-1:] in self._blanks:
            return text
        return None if text.isascii() else SURROGATE.search(text)

    def _safe(self, text: str) -> int:
        end = len(text)
        if self._inside(text) is not None:
            end = begun(text, self._markers, self._firsts)
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


# -- arguments -------------------------------------------------------------------------------------


class StringRun(Run):
    """The inside of a string, up to ``close``, whose text is JSON already, escapes included."""

    __slots__ = ("close", "sink", "_inside", "_partial")

    def __init__(self, source: Source, sink: Sink, patterns: Patterns) -> None:
        super().__init__(source, Arguments, patterns.stop.search)
        self.sink = sink
        self.close = ""
        self._inside = patterns.inside
        self._partial = patterns.begun

    def _room(self) -> int:
        return self.sink.room

    def _goes_out(self) -> bool:
        self.index = self.sink.live()
        return self.index >= 0

    def _safe(self, text: str) -> int:
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

    def _safe(self, text: str) -> int:
        end = len(text)
        if self._inside.search(text) is not None:
            end = begun(text, self._markers, None)
            if end < 0 or (self._ordinary and end < len(text)) or self._partial.search(text) is not None:
                return -1
        safe = tail(text, end, self._blanks)
        self._ahead = end - safe
        return safe

    def _deliver(self, text: str) -> None:
        if not self.silent:
            self.sink.sent(json_escape(text), len(text))
        else:
            self.sink.take_raw(text)


def begun(text: str, markers: Markers, firsts: frozenset[str] | None) -> int:
    """Where a marker begins that the end of ``text`` cuts, or the end; negative where the machine must tell.

    A marker that does not begin with one of ``firsts`` is none inside a word.
    """
    match = markers.search(text, 0, False)
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
