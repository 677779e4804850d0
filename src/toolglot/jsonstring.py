"""Resumable reading of a quoted string, of JSON or of what models write for it, as JSON text.

Promises: what goes out is never half an escape; valid JSON passes through as it is spelled. A lenient
reader takes a quote for the string's end only where something can follow it.

Does not: read values (``jsonstream``).
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence

from ._typing import TYPE_CHECKING
from .faults import Cut, Malformed
from .jsontext import json_escape
from .late import late
from .parts import Beginning
from .runs import string_run
from .scanner import MORE, NONE, Source
from .sinks import Sink
from .stops import (
    BEHIND_MEMBER,
    ELEMENT_QUOTE_BEGUN,
    MEMBER_END,
    MEMBERS_END,
    PLAIN_ELEMENT,
    PLAIN_MEMBER,
    QUOTE_BEGUN,
    string_patterns,
)
from .waits import head_run

if TYPE_CHECKING:
    from typing import Final

Steps = Generator[None, None, None]
Repaired = Callable[[str, int, int], None]

_HEX: Final = late(r"[0-9a-fA-F]{4}")
_JSON_QUOTES: Final = {'"': '"'}
_LOOSE_QUOTES: Final = {'"': '"', "'": "'", "“": "”", "‘": "’"}
_VALUE_STARTS: Final = (
    '"', "'", "“", "‘", "{", "[", "]", "-", *"0123456789", "true", "false", "null", "True", "False", "None"
)  # fmt: skip
_KEY_STARTS: Final = ('"', "'", "“", "‘", "}")

# Where a string stands: what may follow its closing quote.
NO_CONTEXT: Final = 0
AS_KEY: Final = 1
IN_OBJECT: Final = 2
IN_ARRAY: Final = 3
# In an object whose members nobody follows.
IN_MEMBERS: Final = 4
_IN_MEMBERS: Final = (IN_MEMBERS, IN_OBJECT)
# What may stand behind the end of a string, and sends nothing before more has come.
_OVER: Final = (None, None, QUOTE_BEGUN, ELEMENT_QUOTE_BEGUN, QUOTE_BEGUN)


class StringReader:
    """Reads one quoted string. ``closers``: the markers that may follow the body."""

    __slots__ = ("closers", "lenient", "quotes", "repaired", "sink", "source")

    def __init__(
        self,
        source: Source,
        sink: Sink,
        *,
        lenient: bool,
        closers: Sequence[str],
        repaired: Repaired | None,
    ) -> None:
        self.source = source
        self.sink = sink
        self.lenient = lenient
        self.closers = tuple(closers)
        self.repaired = repaired
        self.quotes = _LOOSE_QUOTES if lenient else _JSON_QUOTES

    def repair(self, detail: str, count: int) -> None:
        """Report that the next ``count`` characters were read as the model must have meant them."""
        if self.repaired is not None:
            at = self.source.at
            self.repaired(detail, at, at + count)

    def _ahead(
        self, distance: int, options: tuple[str, ...], beginning: Beginning | None = None
    ) -> Generator[None, None, int]:
        """Which of ``options`` follows ``distance`` characters after the cursor, waiting for text to tell.

        Nothing else happens while all that stands at the cursor is but the ``beginning``.
        """
        source = self.source
        while True:
            found = source.follows(source.pos + distance, options)
            if found != MORE:
                return found
            if beginning is not None:
                source.run = head_run(source, beginning)
            yield

    def string(self, opener: str, context: int) -> Steps:
        """Read a quoted string whose opening quote is at the cursor."""
        source = self.source
        if opener == '"' and context >= IN_OBJECT:
            plain = source.whole(PLAIN_ELEMENT if context == IN_ARRAY else PLAIN_MEMBER, source.pos)
            if plain:
                self.sink.take(plain, len(plain))
                return
        close = self.quotes[opener]
        inside = string_patterns(close).inside
        if opener != '"':
            self.repair(f"{opener} as a quote", 1)
        self.sink.take('"', 1)
        last = ""
        while True:
            at = source.span(inside, source.pos)
            if at > source.pos:
                self.sink.take_plain(source.text[source.pos : at])
            if source.pos >= len(source.text):
                if source.eof:
                    raise Cut("the text ends inside a string")
                self._wait(close, context)
                yield
                continue
            c = source.text[source.pos]
            if c == close:
                if not self.lenient:
                    self.sink.take('"', 1)
                    return
                if context in _IN_MEMBERS:
                    end = MEMBERS_END if context == IN_MEMBERS else MEMBER_END
                    ended = source.piece(end, source.pos, BEHIND_MEMBER)
                    if ended is not None:
                        self.sink.take(ended.group(), ended.end() - source.pos)
                        return
                closes = yield from self._closes(context)
                if closes:
                    self.sink.take('"', 1)
                    return
                if last != "quote":
                    self.repair("unescaped quote inside a string", 1)
                last = "quote"
                self.sink.take('\\"' if c == '"' else c, 1)
            elif c == "\\":
                yield from self._escape()
            elif c == '"':
                self.sink.take('\\"', 1)
            elif self.lenient:
                if last != "control":
                    self.repair("raw control character inside a string", 1)
                last = "control"
                self.sink.take(json_escape(c), 1)
            else:
                raise Malformed("raw control character inside a string")

    def _wait(self, close: str, context: int) -> None:
        """Declare that a string may only go on, up to ``close``."""
        over = _OVER[context] if close == '"' else None
        self.source.run = string_run(self.source, self.sink, string_patterns(close), over)

    def _closes(self, context: int) -> Generator[None, None, bool]:
        """Whether the quote at the cursor ends its string: what follows must be able to follow."""
        if context in (NO_CONTEXT, AS_KEY):
            return True
        bracket = "]" if context == IN_ARRAY else "}"
        found = yield from self._ahead(1, (",", bracket, *self.closers), _OVER[context])
        if found != 0:
            return found != NONE
        after_comma = self.source.follow_at + 1 - self.source.pos
        starts = _VALUE_STARTS if context == IN_ARRAY else _KEY_STARTS
        found = yield from self._ahead(after_comma, starts, _OVER[context])
        return found != NONE

    def _escape(self) -> Steps:
        source = self.source
        while len(source.text) - source.pos < 2:
            if source.eof:
                raise Cut("the text ends inside a string")
            yield
        c = source.text[source.pos + 1]
        if c in '"\\/bfnrt':
            self.sink.take(source.text[source.pos : source.pos + 2], 2)
        elif c == "u":
            yield from self._unicode()
        elif not self.lenient:
            raise Malformed(f"\\{c} is no escape of JSON")
        else:
            self.repair(f"\\{c} is no escape of JSON", 2)
            if c == "'":
                self.sink.take("'", 2)
            else:
                self.sink.take("\\\\", 1)

    def _unicode(self) -> Steps:
        source = self.source
        code = yield from self._code_unit(0)
        if code < 0:
            if not self.lenient:
                raise Malformed("\\u without four hexadecimal digits")
            self.repair("\\u without four hexadecimal digits", 2)
            self.sink.take("\\\\u", 2)
        elif not 0xD800 <= code <= 0xDFFF:
            self.sink.take(source.text[source.pos : source.pos + 6], 6)
        elif code <= 0xDBFF and 0xDC00 <= (yield from self._code_unit(6)) <= 0xDFFF:
            self.sink.take(source.text[source.pos : source.pos + 12], 12)
        else:
            self.sink.take("\\ufffd", 6)

    def _code_unit(self, ahead: int) -> Generator[None, None, int]:
        """The code unit of a ``\\uXXXX`` escape ``ahead`` of the cursor, or -1 where none stands there."""
        source = self.source
        while True:
            piece = source.text[source.pos + ahead : source.pos + ahead + 6]
            if len(piece) == 6:
                return int(piece[2:], 16) if piece.startswith("\\u") and _HEX.fullmatch(piece[2:]) else -1
            if not "\\u".startswith(piece[:2]):
                return -1
            if source.eof:
                if ahead:
                    return -1
                raise Cut("the text ends inside a string")
            yield
