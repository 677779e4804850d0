"""Runs: stretches of text that are taken delta by delta without resuming the machine.

Promises: a generator that waits where the text may only go on (in prose, inside a string, inside a raw
value, in front of what it knows must come) declares a run; a delta with nothing in it that could matter
there becomes one event, with the same text and span that the generator would have made of it. Any other
delta settles the run: the source, its cursor and the sink then stand as if the generator had read it all.
What a run makes of a short text is remembered, since models write the same tokens again and again: it
depends on the text and on what the run looks for, and on nothing else. What is looked at is counted.

Does not: read any syntax. What ends a run is a pattern, or the markers, of the codec that declared it.
"""

from __future__ import annotations

import re
from types import FunctionType

from ._typing import TYPE_CHECKING, Any
from .counts import open_counts as counts
from .events import Arguments, Event, Reasoning, Text
from .jsontext import json_escape
from .markers import Markers
from .parts import HELD, LONGEST, Beginning, Learnt, Part, Parts, parts_of, remember
from .scanner import BLANKS, Source, examined
from .sinks import Sink
from .stops import Patterns, raw_patterns

if TYPE_CHECKING:
    from typing import Final

# How much is taken at most before the machine looks at its limits again, and how much may be held.
_FOLD: Final = 4096
# After so many characters their deltas are joined, since each is a text of its own, of fifty bytes more; and
# what was joined so often is joined with all before it.
JOIN: Final = 128
_JOINED_MOST: Final = 4
HELD_MOST: Final = 64
Sought = tuple[Markers, str, str, Beginning | None]
# Finds something in any text.
_CARE: Final = re.compile("")
# One character of raw text is at most so many of JSON.
ESCAPED_MOST: Final = 6

# An event made without its ``__init__`` costs half. A compiled class cannot be made so, and need not.
NEW_EVENT: Final[Any] = object.__new__ if isinstance(Arguments.__init__, FunctionType) else None


class Run:
    """A stretch of text in ``source``, behind which only more of the same is waited for.

    What is ``held``, the end of the text before, and a delta behind it are one text; ``parts`` has what is
    made of those that came before, and ``learn`` makes it of any. ``Parser.feed`` makes an event of the
    class ``kind`` of it, of the call ``index`` if it is one of arguments, keeps what it took in ``pieces``
    and moves ``at``, where what is held begins in all that was fed; not beyond ``most``.
    """

    __slots__ = (
        *("at", "held", "index", "kind", "most", "parts", "pieces", "source"),
        *("_ascii", "_end", "_from", "_joined", "_last", "_led", "_looked", "_memory", "_ordinary"),
        *("_silent", "_stop"),
    )

    def __init__(
        self,
        source: Source,
        kind: type[Event],
        memory: tuple[Parts, ...],
        care: re.Pattern[str] = _CARE,
        last: str = "",
    ) -> None:
        self.source = source
        # What finds nothing in a text that is taken as it is, or in one of ASCII; and what this does not end
        # with. In the pattern, each blank inside a text would begin a match, and that asks for memory.
        self._stop = care
        self._last = last
        self._ascii = False
        self.kind = kind
        self.index = -1
        self.at = 0
        self.most = -1
        self.held = ""
        self.pieces: list[str] = []
        self._memory = memory
        self.parts = memory[0]
        self._end = self._from = self._joined = self._led = 0
        self._silent = False
        self._looked = 0
        self._ordinary = False

    def ready(self, shift: int, since: int, ordinary: bool) -> bool:
        """Begin at the end of the source; whether deltas may be taken.

        ``shift``: from offsets of the source to those of all that was fed; ``since``: where, at the
        earliest, an event may begin. ``ordinary``: whether the caller says that no delta is a special token.
        """
        source = self.source
        pos = source.pos
        lead = source.base + pos
        led = len(source.text) - pos
        if led > HELD_MOST or lead < since:
            return False
        room = self._room()
        if lead + room + HELD_MOST > source.due:
            room = source.due - lead - HELD_MOST
        if room <= 0:
            return False
        self._led = led
        self._joined = 0
        self._ordinary = ordinary
        self.held = source.text[pos:]
        self.at = self._from = at = lead + shift
        self._end = at + room
        self.most = at + (room if room < JOIN else JOIN)
        self.parts = self._memory[2 * ordinary + self._silent]
        return True

    def learn(self, text: str) -> Learnt | None:
        """What is made of ``text``, what is held and a delta; None where the machine has to read it."""
        parts = self.parts
        self._looked += len(text)
        found = self._stop.search(text)
        part: Part | None
        learnt: Learnt | None
        held = self._last and text[-1:] in self._last
        if found is None and not held and (not self._ascii or text.isascii()):
            learnt = (text, "" if self._silent else text, "", len(text))
        else:
            part = self._part(text, len(text) if found is None else found.start())
            if part is None or len(part[2]) > HELD_MOST:
                learnt = None
            elif not part[3]:
                learnt = HELD
            else:
                learnt = (part[0], "", part[2], part[3]) if self._silent else part
        if len(text) <= LONGEST:
            remember(parts, text, learnt)
        return learnt

    def enter(self, silent: bool) -> Parts:
        """What is made of texts by this run, for another one that takes them: with events or ``silent``."""
        self._silent = silent
        self.parts = self._memory[silent]
        return self.parts

    def part(self, text: str) -> Part | None:
        """What is made of ``text``, however much that holds; None where the machine must read it."""
        return self._part(text, 0)

    def more(self, to: int) -> bool:
        """Whether ``at`` may move to ``to``, beyond ``most``; what was taken is joined before."""
        if to > self._end:
            return False
        joined = self._joined if self._joined < _JOINED_MOST else 0
        self.pieces[joined:] = ["".join(self.pieces[joined:])]
        self._joined = joined + 1
        self.most = min(to + JOIN, self._end)
        return True

    def event(self, text: str, start: int, end: int) -> Event:
        """The event of a piece."""
        if self.kind is Arguments:
            return Arguments(self.index, text, (start, end))
        return Text(text, (start, end)) if self.kind is Text else Reasoning(text, (start, end))

    def settle(self) -> None:
        """Leave the source, its cursor and the sink as if the machine had read what was taken."""
        held = new = self.held
        text = ""
        if self.pieces:
            text = "".join(self.pieces)
            self.pieces.clear()
            new = text + held
        gone = self.at - self._from - len(text)
        led = self._led
        self.held, self._led, self._from = "", 0, self.at
        if counts:
            examined(self._looked + gone + len(new) - led)
            self._looked = 0
        source = self.source
        if gone:
            source.leap(gone + len(new) - led, new, self._ordinary)
        elif led < len(new):
            source.grow(new[led:] if led else new, self._ordinary)
        else:
            return
        # What is held is looked at again: it is short.
        source.ahead = 0
        if text:
            self._deliver(text)

    # -- what kinds of run differ in --------------------------------------------------------------

    def _room(self) -> int:
        """How many characters may be taken before a limit has to be looked at; tells whether they go out."""
        raise NotImplementedError

    def _part(self, text: str, start: int) -> Part | None:
        """What is made of ``text`` where it makes events; None where the machine must read it.

        ``start``: in front of what is nothing that needs care.
        """
        raise NotImplementedError

    def _deliver(self, text: str) -> None:
        """Account for ``text``, which stands at the cursor, and move past it."""
        raise NotImplementedError


class NoRun(Run):
    """What takes nothing."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(Source(), Text, ({},))

    def learn(self, text: str) -> Learnt | None:
        return None


NO_RUN: Final = NoRun()


# -- arguments -------------------------------------------------------------------------------------


class StringRun(Run):
    """The inside of a string whose text is JSON already, escapes included.

    ``over``: what begins with the string's end and sends nothing.
    """

    __slots__ = ("over", "patterns", "sink")

    def __init__(self, source: Source, sink: Sink, patterns: Patterns, over: Beginning | None = None) -> None:
        super().__init__(source, Arguments, parts_of(patterns, over), patterns.stop)
        self.over = over
        self.sink = sink
        self.patterns = patterns

    def _room(self) -> int:
        self.index = self.sink.live()
        self._silent = self.index < 0
        return min(self.sink.room, _FOLD)

    def _part(self, text: str, start: int) -> Part | None:
        match = self.patterns.inside.match(text)
        end = 0 if match is None else match.end()
        if end < len(text) and self.patterns.begun.fullmatch(text, end) is None:
            if self.over is None or not self.over.begins(text, end):
                return None
        taken = text[:end]
        return taken, taken, text[end:], end

    def _deliver(self, text: str) -> None:
        if not self._silent:
            self.sink.sent(text, raw=False)
        else:
            self.sink.take_plain(text)


def string_run(source: Source, sink: Sink, patterns: Patterns, over: Beginning | None = None) -> StringRun:
    """The run that looks for this; that of the string before, where it did."""
    run = source.taking
    if not isinstance(run, StringRun) or run.patterns is not patterns or run.over is not over:
        run = source.taking = StringRun(source, sink, patterns, over)
    run.sink = sink
    return run


class RawRun(Run):
    """Raw text that becomes the inside of a JSON string, where ``markers`` are looked for.

    ``blanks``: as for prose. ``escape``: a character with which an escape of the format begins.
    ``over``: what begins with a marker and sends nothing.
    """

    __slots__ = ("over", "sink", "sought", "_blanks", "_inside", "_markers", "_partial")

    def __init__(
        self,
        source: Source,
        sink: Sink,
        markers: Markers,
        blanks: str,
        escape: str = "",
        over: Beginning | None = None,
    ) -> None:
        patterns = raw_patterns(markers.firsts, escape)
        # The other blanks are control characters, which the pattern finds wherever they stand.
        last = " " if " " in blanks else ""
        super().__init__(source, Arguments, parts_of(markers, blanks, escape, over), patterns.stop, last)
        self.over = over
        self.sink = sink
        self._inside = patterns.inside
        self._partial = patterns.begun
        self._markers = markers
        self._blanks = blanks
        self.sought: Sought = markers, blanks, escape, over

    def _room(self) -> int:
        self.index = self.sink.live()
        self._silent = self.index < 0
        return min(self.sink.room // ESCAPED_MOST, _FOLD)

    def _part(self, text: str, start: int) -> Part | None:
        end = len(text)
        if self._inside.search(text, start) is not None:
            end = begun(text, self._markers, None, start, self.over)
            if end < 0 or (self._ordinary and end < len(text)):
                return None
            if self._partial.search(text, start) is not None:
                return None
        safe = tail(text, end, self._blanks)
        taken = text[:safe]
        return taken, json_escape(taken), text[safe:], safe

    def _deliver(self, text: str) -> None:
        if not self._silent:
            self.sink.sent(text, raw=True)
        else:
            self.sink.take_raw(text)


def raw_run(source: Source, sink: Sink, sought: Sought) -> RawRun:
    """The run that looks for what is ``sought``; that of the value before, where it did."""
    run = source.taking
    if not isinstance(run, RawRun) or run.sought != sought:
        run = source.taking = RawRun(source, sink, *sought)
    run.sink = sink
    return run


def begun(
    text: str, markers: Markers, firsts: frozenset[str] | None, start: int, over: Beginning | None = None
) -> int:
    """Where a marker begins that the end of ``text`` cuts, or the end; negative where the machine must tell.

    None begins in front of ``start``. One that does not begin with one of ``firsts`` is none inside a word.
    What is but the beginning of ``over`` is cut too.
    """
    match = markers.search(text, start, False)
    while match is not None:
        at = match.start()
        if not markers.partial(match, len(text), False):
            return at if over is not None and over.begins(text, at) else -1
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
