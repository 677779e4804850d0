"""Growing text, and all the searching that is done in it.

Promises: every search of the library goes through this module or ``jsonstream``, and ``counting()``
counts the characters they examine. A marker cut by the end of a delta is never lost and never
reported early: at most its length minus one characters are held back. Text once consumed is dropped,
but for a few characters of context and what a ``keep`` asks for.

Does not: know what a marker means. Positions in ``text`` are local and change with every ``feed``;
what outlives a feed is a distance from the cursor, or an absolute offset (``base + local``).
"""

from __future__ import annotations

import re

from ._typing import TYPE_CHECKING
from .counts import counting as counting
from .counts import examined as examined
from .counts import open_counts as _counts
from .late import late
from .markers import Bookmark, Markers, Rope
from .stops import LETTER, NAME_STOP, other_than

if TYPE_CHECKING:
    from typing import Final

    from .runs import Run

BLANKS: Final = " \t\r\n"
_CONTEXT: Final = 48
_SLACK: Final = 64
_LONG_RUN: Final = 16
# What is shorter costs as much to keep as it is as to copy.
_SHORT: Final = 256
_NONBLANK: Final = late(r"[^ \t\r\n]")
_FENCE_LEAD: Final = late(r"[ \t]*(?:(?:>|[-*+][ \t]|\d{1,9}[.)][ \t])[ \t]*)*")
_TAIL: Final = late(r"[ \t]{0,3}\Z")

UNBOUNDED: Final = 1 << 60
NONE: Final = -1
MORE: Final = -2
END: Final = -3


# What no source changes, so that all of them share it until they have their own.
_NOTHING_KEPT: Final = Rope()
_NO_FLAGS: Final[list[tuple[int, int, bool]]] = []
_NO_BLANKS: Final[dict[int, int]] = {}


class Source:
    """The text of one channel while it grows, and a cursor in it.

    ``text`` is a window; ``pos`` the cursor in it; ``base`` the absolute offset of ``text[0]``;
    ``eof`` whether the text has ended; ``run`` what takes deltas without the machine, where it waits;
    ``special`` are the markers that are special tokens, ``ahead`` how far ahead of the cursor a search that
    waited need not look again. ``due``: the absolute offset up to which a run may go. ``waiting``: the one
    that waits for what must come, once one did.
    """

    __slots__ = (
        *("text", "pos", "base", "ahead", "due", "eof", "run", "waiting", "hit", "follow_at", "special"),
        *("_keeps", "_kept", "_kept_to", "_flags", "_blanks", "_trail", "_trail_end"),
    )

    def __init__(self, base: int = 0) -> None:
        self.text = ""
        self.pos = 0
        self.base = base
        self.ahead = 0
        self.due = UNBOUNDED
        self.eof = False
        self.run: Run | None = None
        self.waiting: Run | None = None
        self.hit: str | None = None
        self.follow_at = 0
        self.special: frozenset[str] = frozenset()
        self._keeps: tuple[int, ...] = ()
        self._kept = _NOTHING_KEPT
        self._kept_to = 0
        self._flags: list[tuple[int, int, bool]] = _NO_FLAGS
        # Runs of blanks that were passed, and the one found at the end, as absolute offsets.
        self._blanks: dict[int, int] = _NO_BLANKS
        self._trail = self._trail_end = base

    @property
    def at(self) -> int:
        """The cursor as an absolute offset."""
        return self.base + self.pos

    def feed(self, delta: str, special: bool | None = None) -> None:
        """Append ``delta``, dropping what has been consumed."""
        run = self.run
        if run is not None:
            self.run = None
            run.settle()
        text = self.text
        cut = self.pos - _CONTEXT
        if special is not None:
            self.flag(len(delta), special)
        # A little more is kept than must be: each cut is a copy.
        if cut > _SLACK:
            if self._keeps and self.base + cut > self._kept_to:
                self._kept.append(text[self._kept_to - self.base : cut])
                self._kept_to = self.base + cut
            self.text = text[cut:] + delta
            self.base += cut
            self.pos = _CONTEXT
            if self._flags and self._flags[0][1] <= self.base:
                self._flags = [f for f in self._flags if f[1] > self.base]
        else:
            self.text = text + delta

    def flag(self, length: int, special: bool) -> None:
        """The caller said of the next ``length`` characters whether they are a special token."""
        start = self.base + len(self.text)
        flags = self._flags
        if flags and flags[-1][1:] == (start, special) and not special:
            flags[-1] = (flags[-1][0], start + length, special)
        else:
            self._flags = [*flags, (start, start + length, special)]

    def settle(self) -> None:
        """The run is over: what it took is in the text, and behind the cursor."""
        run, self.run = self.run, None
        if run is not None:
            run.settle()

    def grow(self, text: str, ordinary: bool) -> None:
        """Append ``text``, which a run took; it is kept as it is, and not copied."""
        if ordinary:
            self.flag(len(text), special=False)
        if self._keeps and len(text) > _SHORT:
            self._kept.append(self.text[self._kept_to - self.base :])
            self._kept.append(text)
            self._kept_to = self.base + len(self.text) + len(text)
        self.text += text

    # -- text that must stay at hand ------------------------------------------------------------

    def keep(self, start: int) -> None:
        """Keep all text from the absolute offset ``start`` until ``release``; calls nest."""
        if not self._keeps:
            self._kept = Rope()
            self._kept_to = start
        self._keeps = (*self._keeps, start)

    def release(self) -> None:
        """Undo the innermost ``keep``."""
        self._keeps = self._keeps[:-1]
        if not self._keeps:
            self._kept = _NOTHING_KEPT

    def forget(self) -> None:
        """Let go of the text that was kept so far; ``keep`` holds on from the cursor."""
        self._keeps = tuple([self.at for _ in self._keeps])
        self._kept = Rope()
        self._kept_to = self.at

    def raw(self, start: int, end: int) -> str:
        """The text between two absolute offsets; ``start`` is in the window or kept."""
        if start >= end:
            return ""
        if start >= min(self.base, end):
            return self.text[start - self.base : end - self.base] if end > start else ""
        first = self._keeps[0]
        kept = self._kept.slice(start - first, min(end, self._kept_to) - first)
        return (
            kept + self.text[self._kept_to - self.base : max(end - self.base, 0)]
            if end > self._kept_to
            else kept
        )

    def bookmark(self) -> Bookmark:
        """Where the cursor stands, for ``rewind``."""
        return Bookmark(self.at, self.text[max(self.pos - _CONTEXT, 0) : self.pos], tuple(self._flags))

    def rewind(self, bookmark: Bookmark) -> None:
        """Take the cursor back to ``bookmark``; the text since then must have been kept."""
        to = bookmark.at
        if to < self.base + _CONTEXT:
            text = self.raw(to, self.base + len(self.text))
            if to < self._kept_to:
                before = self.raw(self._keeps[0], to)
                self._kept = Rope()
                self._kept.append(before)
                self._kept_to = to
            self.base = to - len(bookmark.context)
            self.text = bookmark.context + text
            last = bookmark.flags[-1][0] if bookmark.flags else -1
            self._flags = [*bookmark.flags, *(f for f in self._flags if f[0] > last)]
        self.pos = to - self.base

    # -- searching ------------------------------------------------------------------------------

    def find(self, markers: Markers, start: int) -> int:
        """Local index of the first hit at or after ``start``, or ``NONE``.

        ``hit`` is the marker, or None where the hit is the beginning of a marker at the end of the text.
        """
        text = self.text
        match = markers.search(text, start, self.eof)
        while match is not None and self._flags and self._ordinary(match.start(), match.group()):
            match = markers.search(text, match.start() + 1, self.eof)
        if match is None:
            return NONE
        self.hit = None if markers.partial(match, len(text), self.eof) else match.group()
        return match.start()

    def stop(self, pattern: re.Pattern[str], start: int, to: int | None = None) -> int:
        """Local index of the first match of a one-character ``pattern``, or ``to``: the end of the text."""
        to = len(self.text) if to is None else to
        match = pattern.search(self.text, start, to)
        end = to if match is None else match.start()
        if _counts:
            examined(end - start + 1)
        return end

    def span(self, pattern: re.Pattern[str], start: int) -> int:
        """Local index where what ``pattern`` matches at ``start`` ends."""
        match = pattern.match(self.text, start)
        end = start if match is None else match.end()
        if _counts:
            examined(end - start + 1)
        return end

    def whole(self, pattern: re.Pattern[str], start: int, all: bool = False) -> str:
        """What ``pattern`` matches at ``start``, or has to match all of what is there; else empty."""
        match = (pattern.fullmatch if all else pattern.match)(self.text, start)
        if _counts:
            examined(len(self.text) - start if match is None else match.end() - start)
        return "" if match is None else match.group()

    def head(self, pattern: re.Pattern[str], start: int) -> re.Match[str] | None:
        """How ``pattern`` matches at ``start``, if it does."""
        match = pattern.match(self.text, start)
        if _counts:
            examined(len(self.text) - start if match is None else match.end() - start)
        return match

    def name_end(self, start: int) -> int:
        """Where the bare name at ``start`` ends: at once where no letter, digit or underscore is in it."""
        end = self.stop(NAME_STOP, start)
        ended = end < len(self.text) or self.eof
        return start if ended and LETTER.search(self.text, start, end) is None else end

    def skip(self, start: int) -> int:
        """Local index of the first character at or after ``start`` that is not blank, or the length.

        The blanks of a long run that were passed once, from the same place, are not looked at again.
        """
        text = self.text
        if start < len(text):
            # Nearly always there is no blank, or one.
            if text[start] not in BLANKS:
                if _counts:
                    examined(1)
                return start
            if start + 1 < len(text) and text[start + 1] not in BLANKS:
                if _counts:
                    examined(2)
                return start + 1
        known = self._blanks.get(self.base + start)
        end = self.stop(_NONBLANK, start if known is None else known - self.base)
        if end - start > _LONG_RUN:
            if not self._blanks or len(self._blanks) > _LONG_RUN:
                self._blanks = {}
            self._blanks[self.base + start] = self.base + end
        return end

    def skip_over(self, start: int, characters: str) -> int:
        """Local index of the first character at or after ``start`` that is not one of ``characters``."""
        return self.stop(other_than(characters), start)

    def tail(self, start: int, end: int) -> int:
        """Where the blanks at the end of ``text[start:end]`` begin."""
        text = self.text
        if end <= start or text[end - 1] not in BLANKS:
            return end
        first, last = self._trail - self.base, self._trail_end - self.base
        known = start <= last <= end
        low = last if known else start
        kept = len(text[low:end].rstrip(BLANKS))
        if _counts:
            examined(end - low - kept)
        at = low + kept if kept or not known else max(start, first)
        self._trail = self.base + at
        self._trail_end = self.base + end
        return at

    def beginning(self, start: int, end: int, literal: str) -> int:
        """Where the longest beginning of ``literal`` stands that ends ``text[start:end]``; else ``end``."""
        for length in range(min(len(literal), end - start), 0, -1):
            if self.text.endswith(literal[:length], start, end):
                return end - length
        return end

    def follows(self, start: int, options: tuple[str, ...]) -> int:
        """Which of ``options`` stands at ``start`` after blanks.

        Its index; ``NONE`` where none can; ``MORE`` where the text is too short to tell; ``END`` where
        nothing but blanks is left of a text that has ended. ``follow_at`` is where the option starts.
        """
        return self.follows_at(self.skip(start), options)

    def follows_at(self, at: int, options: tuple[str, ...]) -> int:
        """As ``follows``, without passing blanks."""
        text = self.text
        self.follow_at = at
        if at >= len(text):
            return END if self.eof else MORE
        rest = len(text) - at
        pending = False
        for index, option in enumerate(options):
            if text.startswith(option, at) and not (self._flags and self._ordinary(at, option)):
                # A longer option that ranks higher may still come.
                return MORE if pending else index
            if rest < len(option) and not self.eof and option.startswith(text[at:]):
                pending = True
        return MORE if pending else NONE

    def follows_past(self, start: int, options: tuple[str, ...], gaps: tuple[str, ...]) -> int:
        """As ``follows``, where ``gaps`` count as blanks."""
        found = self.follows(start, options + gaps)
        while found >= len(options):
            found = self.follows(self.follow_at + len(gaps[found - len(options)]), options + gaps)
        return found

    def line_end(self, at: int, most: int) -> int:
        """Local index after the newline that ends the line of ``at``.

        ``MORE`` where it may still come, ``NONE`` where none does within ``most`` characters.
        """
        end = self.text.find("\n", at, at + most)
        length = len(self.text) - at
        if _counts:
            examined(min(length, most) if end < 0 else end - at)
        if end >= 0:
            return end + 1
        return NONE if self.eof or length >= most else MORE

    def starts(self, at: int, literal: str) -> int:
        """1 where ``literal`` stands at ``at``, ``MORE`` where it still may, else ``NONE``."""
        text = self.text
        if text.startswith(literal, at):
            return NONE if self._flags and self._ordinary(at, literal) else 1
        rest = text[at : at + len(literal)]
        return MORE if not self.eof and len(rest) < len(literal) and literal.startswith(rest) else NONE

    # -- surroundings ---------------------------------------------------------------------------

    def before(self, at: int) -> str:
        """The character before local index ``at``; empty at the start of the output."""
        return "" if self.base + at <= 0 or at == 0 else self.text[at - 1]

    def line_start(self, at: int) -> bool:
        """Whether only up to three blanks stand between ``at`` and the start of its line."""
        origin = max(0, -self.base)
        match = _TAIL.search(self.text, max(at - 4, origin), at) if at >= origin else None
        if match is None:
            return True
        start = match.start()
        return (start <= origin and self.base <= 0) or (start > 0 and self.text[start - 1] == "\n")

    def fence_line(self, at: int, end: int | None = None) -> bool:
        """Whether a fence may stand at local index ``at``: behind blanks, list and quote marks alone.

        With ``end``, blanks or nothing must also follow there.
        """
        origin = max(0, -self.base)
        _, newline, lead = self.text[max(at - _CONTEXT, origin) : at].rpartition("\n")
        if not newline and max(at - _CONTEXT, origin) + self.base > 0:
            return False
        if _FENCE_LEAD.fullmatch(lead) is None:
            return False
        return end is None or self.text[end : end + 1] in ("", " ", "\t", "\r", "\n")

    def _ordinary(self, at: int, marker: str) -> bool:
        """Whether a special token's text at ``at`` was said to be ordinary text."""
        return marker.startswith(tuple(self.special)) and self.flagged(at) is False

    def flagged(self, at: int) -> bool | None:
        """What the caller said of the character at ``at``: special token, ordinary text, or nothing."""
        offset = self.base + at
        for start, end, special in reversed(self._flags):
            if start <= offset < end:
                return special
        return None
