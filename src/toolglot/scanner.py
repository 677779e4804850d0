"""Scanner: all the searching that is done in a growing text.

Promises: every search of the library goes through this module or ``jsonstream``, and ``counting()``
counts the characters they examine. A marker cut by the end of a delta is never lost and never
reported early: at most its length minus one characters are held back.

Does not: know what a marker means, or hold text (``window``).
"""

from __future__ import annotations

import re

from ._typing import TYPE_CHECKING
from .counts import counting as counting
from .counts import examined as examined
from .counts import open_counts as _counts
from .late import late
from .markers import Markers
from .stops import LETTER, NAME_STOP, other_than
from .window import CONTEXT, Window
from .window import UNBOUNDED as UNBOUNDED

if TYPE_CHECKING:
    from typing import Final

Pattern = re.Pattern[str]
Match = re.Match[str]

BLANKS: Final = " \t\r\n"
_LONG_RUN: Final = 16
_NONBLANK: Final = late(r"[^ \t\r\n]")
_FENCE_LEAD: Final = late(r"[ \t]*(?:(?:>|[-*+][ \t]|\d{1,9}[.)][ \t])[ \t]*)*")
_TAIL: Final = late(r"[ \t]{0,3}\Z")

NONE: Final = -1
MORE: Final = -2
END: Final = -3


# What no source changes, so that all of them share it until they have their own.
_NO_BLANKS: Final[dict[int, int]] = {}


def matched(pattern: Pattern, text: str, at: int) -> Match | None:
    """How ``pattern`` matches at local index ``at`` of a text that is not in a source, if it does."""
    match = pattern.match(text, at)
    if _counts:
        examined(len(text) - at if match is None else match.end() - at)
    return match


class Source(Window):
    """A window, and all the searching that is done in it."""

    __slots__ = ("_blanks", "_trail", "_trail_end")

    def __init__(self, base: int = 0) -> None:
        super().__init__(base)
        # Runs of blanks that were passed, and the one found at the end, as absolute offsets.
        self._blanks: dict[int, int] = _NO_BLANKS
        self._trail = self._trail_end = base

    # -- searching ------------------------------------------------------------------------------

    def find(self, markers: Markers, start: int) -> int:
        """Local index of the first hit at or after ``start``, or ``NONE``.

        ``hit`` is the marker, or None where the hit is the beginning of a marker at the end of the text.
        """
        text = self.text
        match = markers.search(text, start, self.eof)
        while match is not None and self.flags and self._ordinary(match.start(), match.group()):
            match = markers.search(text, match.start() + 1, self.eof)
        if match is None:
            return NONE
        cut = match.end() == len(text) and markers.partial(match, len(text), self.eof)
        self.hit = None if cut else match.group()
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

    def piece(self, pattern: re.Pattern[str], start: int, ends: re.Pattern[str]) -> re.Match[str] | None:
        """As ``head``, of a piece in which ``ends`` finds nothing behind its first character but its end."""
        match = pattern.match(self.text, start)
        if _counts:
            end = ends.search(self.text, start + 1) if match is None else match
            examined((len(self.text) if end is None else end.end()) - start)
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
            if start + 1 == len(text) or text[start + 1] not in BLANKS:
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
        text = self.text
        at = start
        if _counts:
            at = self.skip(start)
        elif start < len(text) and text[start] in BLANKS:
            at += 1
            # Nearly always there is no blank, or one.
            if at < len(text) and text[at] in BLANKS:
                at = self.skip(start)
        if at < len(text) and not self.flags and text.startswith(options[:1], at):
            self.follow_at = at
            return 0
        return self.follows_at(at, options)

    def follows_at(self, at: int, options: tuple[str, ...]) -> int:
        """As ``follows``, without passing blanks."""
        text = self.text
        self.follow_at = at
        if at >= len(text):
            return END if self.eof else MORE
        rest = len(text) - at
        pending = False
        for index, option in enumerate(options):
            if text.startswith(option, at) and not (self.flags and self._ordinary(at, option)):
                # A longer option that ranks higher may still come.
                return MORE if pending else index
            if rest < len(option) and not self.eof and option.startswith(text[at:]):
                pending = True
        return MORE if pending else NONE

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
            return NONE if self.flags and self._ordinary(at, literal) else 1
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
        _, newline, lead = self.text[max(at - CONTEXT, origin) : at].rpartition("\n")
        if not newline and max(at - CONTEXT, origin) + self.base > 0:
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
        for start, end, special in reversed(self.flags):
            if start <= offset < end:
                return special
        return None
