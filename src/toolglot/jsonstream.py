"""Resumable reading of JSON and of what models write for it, giving out JSON text that is safe to send.

Promises: a reader takes one value from a growing ``Source`` and hands its ``Sink`` pieces of JSON text,
each with the number of characters it stands for; joined, the pieces are at every moment a prefix of
valid JSON, never half an escape, number or literal. Valid JSON passes through as it is spelled. A
*lenient* reader mends at the point of failure (Python literals, single and curly quotes, raw line
breaks, unescaped inner quotes, trailing commas, closing brackets missing before the close marker) and
reports each repair; it never completes a value that was cut. The same value is read the same way in
any split.

Does not: give types by schema (``schema``), nor know names, arguments or envelopes (``bodies``).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Generator, Sequence
from typing import ClassVar, Final

from .faults import Cut, Malformed, OverLimit
from .jsontext import SCALAR_MOST, is_number, json_escape, whole_at
from .runs import StringRun
from .scanner import BLANKS, END, MORE, NONE, Source
from .sinks import Collect, Sink, Tap
from .stops import string_patterns, string_stops

Steps = Generator[None, None, None]
Repaired = Callable[[str, int, int], None]

_TOKEN_STOP: Final = re.compile(r"[^A-Za-z0-9+\-._]")
_HEX: Final = re.compile(r"[0-9a-fA-F]{4}")
_WORDS: Final = {"true": "true", "false": "false", "null": "null"}
_LOOSE_WORDS: Final = {"True": "true", "False": "false", "None": "null"}
NOT_NUMBERS: Final = frozenset({"NaN", "Infinity", "-Infinity"})
_JSON_QUOTES: Final = {'"': '"'}
_LOOSE_QUOTES: Final = {'"': '"', "'": "'", "“": "”", "‘": "’"}
_QUOTE_STOPS: Final = {close: string_stops(close) for close in ('"', "'", "”", "’")}
_VALUE_STARTS: Final = (
    '"', "'", "“", "‘", "{", "[", "]", "-", *"0123456789", "true", "false", "null", "True", "False", "None"
)  # fmt: skip
_KEY_STARTS: Final = ('"', "'", "“", "‘", "}")
_MISSING_MOST: Final = 64
_CLOSES: Final = BLANKS + "]}"


# Where a string stands: what may follow its closing quote.
_NO_CONTEXT: Final = 0
_AS_KEY: Final = 1
_IN_OBJECT: Final = 2
_IN_ARRAY: Final = 3

# What a reader expects next.
_VALUE: Final = 0
_FIRST_VALUE: Final = 1
_KEY: Final = 2
_FIRST_KEY: Final = 3
_AFTER: Final = 4

_CLOSING: Final = {"}": "}", "]": "]", ")": "]"}


class ValueReader:
    """Reads one JSON value; ``tap``, where given, follows the members of its first level.

    ``closers`` are the markers that may follow the body: where brackets are missing before one of
    them, a lenient reader supplies them. ``around`` is the bracket that closes what the value stands in.
    """

    __slots__ = (
        *("source", "sink", "tap", "lenient", "closers", "around", "nesting", "repaired", "quotes", "colons"),
    )

    brackets: ClassVar[dict[str, str]] = {"{": "}", "[": "]"}

    def __init__(
        self,
        source: Source,
        sink: Sink,
        *,
        lenient: bool = False,
        closers: Sequence[str] = (),
        nesting: int = 128,
        repaired: Repaired | None = None,
        tap: Tap | None = None,
    ) -> None:
        self.source = source
        self.sink = sink
        self.tap = tap
        self.lenient = lenient
        self.closers = tuple(closers)
        self.around = ""
        self.nesting = nesting
        self.repaired = repaired
        self.colons = ":"
        self.quotes = _LOOSE_QUOTES if lenient else _JSON_QUOTES

    # -- the value ------------------------------------------------------------------------------

    def value(self) -> Steps:
        """Read one value at the cursor. Raises ``Malformed``, ``Cut`` or ``OverLimit``."""
        source = self.source
        outer = self.sink
        stack: list[str] = []
        member = False
        expect = _VALUE
        while True:
            if expect == _AFTER:
                if member and len(stack) == 1:
                    member = False
                    self.tapped().leave()
                    self.sink = outer
                if not stack:
                    return
            at = yield from self.next()
            c = source.text[at]
            if expect == _AFTER:
                expect = yield from self._after(c, stack)
            elif (expect in (_FIRST_VALUE, _FIRST_KEY)) and c == stack[-1]:
                self.sink.take(_CLOSING[stack.pop()], 1)
                expect = _AFTER
            elif expect in (_KEY, _FIRST_KEY):
                tapped = self.tap is not None and len(stack) == 1
                inner = yield from self._member(c, tapped)
                if inner is None:
                    member = member or tapped
                    expect = _VALUE
                else:
                    yield from inner
                    expect = _AFTER
            elif c in self.brackets:
                tried = (not stack and self.tap is None) or (member and len(stack) == 1)
                if tried and self.at_once(self.nesting - len(stack)):
                    expect = _AFTER
                    continue
                self.sink.take("{" if c == "{" else "[", 1)
                stack.append(self.brackets[c])
                if len(stack) > self.nesting:
                    raise OverLimit(f"more than {self.nesting} nested brackets")
                expect = _FIRST_KEY if c == "{" else _FIRST_VALUE
            else:
                yield from self.atom(
                    c, _NO_CONTEXT if not stack else _IN_OBJECT if stack[-1] == "}" else _IN_ARRAY
                )
                expect = _AFTER

    def tapped(self) -> Tap:
        """The tap of a reader that has one."""
        assert self.tap is not None
        return self.tap

    def next(self) -> Generator[None, None, int]:
        """Take blanks; the local index of the next character. Raises ``Cut`` at the end."""
        source = self.source
        while True:
            at = source.skip(source.pos)
            if at > source.pos:
                self.sink.take(source.text[source.pos : at], at - source.pos)
            if source.pos < len(source.text):
                return source.pos
            if source.eof:
                raise Cut("the text ends inside a value")
            yield

    def _after(self, c: str, stack: list[str]) -> Generator[None, None, int]:
        source = self.source
        if c == stack[-1]:
            self.sink.take(_CLOSING[stack.pop()], 1)
            return _AFTER
        if c == ",":
            if self.lenient:
                found = yield from self._ahead(1, (stack[-1],))
                if found == END:
                    raise Cut("the text ends inside a value")
                if found == 0:
                    self.repair("trailing comma", 1)
                    self.sink.take("", 1)
                    return _AFTER
            self.sink.take(",", 1)
            return _KEY if stack[-1] == "}" else _VALUE
        if self.lenient and self.closers and len(stack) <= _MISSING_MOST:
            if (yield from self._closed(c == self.around or c in stack)):
                self.repair("closing bracket missing before the close marker", 0)
                self.sink.take(_CLOSING[stack.pop()], 0)
                return _AFTER
        raise Malformed(f"expected ',' or {stack[-1]!r}, found {source.text[source.pos]!r}")

    def _closed(self, outer: bool) -> Generator[None, None, bool]:
        """Whether a close marker follows, with ``outer`` also behind more closing brackets."""
        source, ahead = self.source, 0
        while outer:
            ahead = source.skip_over(source.pos + ahead, _CLOSES) - source.pos
            if ahead > _MISSING_MOST or source.pos + ahead < len(source.text) or source.eof:
                break
            yield
        return ahead <= _MISSING_MOST and (yield from self._ahead(ahead, self.closers)) >= 0

    def _ahead(self, distance: int, options: tuple[str, ...]) -> Generator[None, None, int]:
        """Which of ``options`` follows ``distance`` characters after the cursor, waiting for text to tell."""
        source = self.source
        while True:
            found = source.follows(source.pos + distance, options)
            if found != MORE:
                return found
            yield

    def _member(self, c: str, tapped: bool) -> Generator[None, None, Steps | None]:
        """Read a key and its colon; the reader of the value, where the tap has its own."""
        source = self.source
        outer = self.sink
        key = Collect(source, 1 << 16)
        if tapped:
            self.sink = key
        yield from self.key(c)
        self.sink = outer
        at = yield from self.next()
        if source.text[at] not in self.colons:
            raise Malformed(f"expected ':', found {source.text[at]!r}")
        self.sink.take(":", 1)
        if tapped:
            at = yield from self.next()
            name, first = json.loads(key.text()), source.text[at]
            inner = self.tapped().inner(name, first)
            if inner is not None:
                return inner
            self.sink = self.tapped().enter(name, first)
        return None

    def key(self, c: str) -> Steps:
        """Read a member's key at the cursor."""
        if c not in self.quotes:
            raise Malformed(f"expected a key, found {c!r}")
        yield from self.string(c, _AS_KEY)

    def repair(self, detail: str, count: int) -> None:
        """Report that the next ``count`` characters were read as the model must have meant them."""
        if self.repaired is not None:
            at = self.source.at
            self.repaired(detail, at, at + count)

    def at_once(self, depth: int) -> bool:
        """Take the value in one go where all of it is there and nothing in it needs care."""
        source = self.source
        whole = whole_at(source.text, source.pos, depth)
        if whole is None:
            return False
        value, piece = whole
        self.sink.take_value(piece, len(piece), value)
        return True

    # -- scalars --------------------------------------------------------------------------------

    def atom(self, c: str, context: int) -> Steps:
        """Read a string, number or literal at the cursor."""
        if c in self.quotes:
            yield from self.string(c, context)
            return
        token = yield from self.token(_TOKEN_STOP)
        if self.source.pos + len(token) >= len(self.source.text):
            raise Cut("the text ends inside a value")
        if token in _WORDS or is_number(token):
            self.sink.take(token, len(token))
        elif self.lenient and token in _LOOSE_WORDS:
            self.repair(f"{token} for {_LOOSE_WORDS[token]}", len(token))
            self.sink.take(_LOOSE_WORDS[token], len(token))
        elif self.lenient and token in NOT_NUMBERS:
            self.repair(f"{token} is not JSON: kept as text", len(token))
            self.sink.take(f'"{token}"', len(token))
        else:
            raise Malformed(f"expected a value, found {(token or c)[:20]!r}")

    def token(self, stop: re.Pattern[str]) -> Generator[None, None, str]:
        """The characters before the first match of ``stop``, once one is there or the text has ended."""
        source = self.source
        ahead = 0
        while True:
            at = source.stop(stop, source.pos + ahead)
            if at - source.pos > SCALAR_MOST:
                raise OverLimit(f"a bare value is longer than {SCALAR_MOST} characters")
            if at < len(source.text) or source.eof:
                return source.text[source.pos : at]
            ahead = at - source.pos
            yield

    def string(self, opener: str, context: int) -> Steps:
        """Read a quoted string whose opening quote is at the cursor."""
        source = self.source
        close = self.quotes[opener]
        stop = _QUOTE_STOPS[close]
        if opener != '"':
            self.repair(f"{opener} as a quote", 1)
        self.sink.take('"', 1)
        last = ""
        run: StringRun | None = None
        while True:
            at = source.stop(stop, source.pos)
            if at > source.pos:
                self.sink.take(source.text[source.pos : at], at - source.pos)
            if source.pos >= len(source.text):
                if source.eof:
                    raise Cut("the text ends inside a string")
                if run is None:
                    run = StringRun(source, self.sink, string_patterns(close))
                source.run = run
                yield
                continue
            c = source.text[source.pos]
            if c == close:
                if not self.lenient:
                    self.sink.take('"', 1)
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

    def _closes(self, context: int) -> Generator[None, None, bool]:
        """Whether the quote at the cursor ends its string: what follows must be able to follow."""
        if context in (_NO_CONTEXT, _AS_KEY):
            return True
        bracket = "}" if context == _IN_OBJECT else "]"
        found = yield from self._ahead(1, (",", bracket, *self.closers))
        if found != 0:
            return found != NONE
        after_comma = self.source.follow_at + 1 - self.source.pos
        starts = _KEY_STARTS if context == _IN_OBJECT else _VALUE_STARTS
        found = yield from self._ahead(after_comma, starts)
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
