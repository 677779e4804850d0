"""pythonvalue: values in Python's syntax, and in JSON's, read as JSON text. Parsed, never evaluated.

Promises: raw line breaks and curly quotes in strings, prefixes and triple quotes, Python's escapes and
constants, tuples as lists. A bare word is a string as far as the dialect allows.
"""

from __future__ import annotations

from collections.abc import Generator

from .._typing import TYPE_CHECKING
from ..calls import Reading
from ..faults import Cut, Malformed
from ..jsonstream import AFTER, Steps, ValueReader
from ..jsontext import is_number, json_escape
from ..literals import json_string, python_to_json
from ..runs import string_run
from ..scanner import BLANKS, MORE, NONE
from ..schema import UNDECLARED, Param
from ..stops import SCALAR_STOP, string_patterns

if TYPE_CHECKING:
    from typing import ClassVar, Final

_QUOTES: Final = {'"': '"', "'": "'", "“": "”", "‘": "’", "「": "」"}
_WORDS: Final = {
    "True": "true",
    "False": "false",
    "None": "null",
    "true": "true",
    "false": "false",
    "null": "null",
}
_SHORT: Final = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "a": "\a", "v": "\v", "0": "\0"}
_SHORT_SAME: Final = "\\'\"“”‘’"
_CODES: Final = {"x": 2, "u": 4, "U": 8}
_HEX: Final = frozenset("0123456789abcdefABCDEF")


class PythonReader(ValueReader):
    """Reads Python's literals, and JSON's."""

    __slots__ = ("param", "_words", "_zeros")

    brackets: ClassVar[dict[str, str]] = {"{": "}", "[": "]", "(": ")"}

    strict_text: ClassVar[bool] = False

    def __init__(self, reading: Reading) -> None:
        plain = reading.reader()
        super().__init__(
            reading.source,
            plain.sink,
            lenient=reading.lenient,
            nesting=reading.limits.nesting,
            repaired=reading.repaired,
        )
        self.quotes = _QUOTES
        self.param: Param = UNDECLARED
        self._words = reading.body.words
        self._zeros = reading.body.zeros

    def _after(self, c: str, stack: list[str]) -> Generator[None, None, int]:
        if c == "," and (yield from self._ahead(1, (stack[-1],))) == 0:
            # No repair: Python allows it.
            self.sink.take("", 1)
            return AFTER
        return (yield from super()._after(c, stack))

    def key(self, c: str) -> Steps:
        """A member's key: a string, or a number or word written as one."""
        if c in self.quotes:
            yield from self.string(c, 1)
            return
        token = yield from self.token(SCALAR_STOP)
        if not token.strip(BLANKS):
            raise Malformed("expected a key")
        self.sink.take(json_string(token.strip(BLANKS)), len(token))

    def atom(self, c: str, context: int) -> Steps:
        """A string, number, constant or bare word at the cursor."""
        source = self.source
        if c in self.quotes:
            yield from self.string(c, context)
            return
        while c in "rRbBuUfF" and len(source.text) - source.pos < 2:
            if source.eof:
                raise Cut("the text ends inside a value")
            yield
        if c in "rRbBuUfF" and source.text[source.pos + 1] in "'\"":
            self.sink.take("", 1)
            yield from self.string(source.text[source.pos], context)
            return
        token = yield from self.token(SCALAR_STOP)
        if source.pos + len(token) >= len(source.text):
            raise Cut("the text ends inside a value")
        word = token.strip(BLANKS)
        if word in _WORDS:
            written = _WORDS[word]
        elif is_number(word):
            written = word
        elif not word:
            raise Malformed("a value is missing")
        else:
            number = python_to_json(word)
            written = number if number is not None else self._bare(word, context)
        self.sink.take(written, len(token))

    def _bare(self, word: str, context: int) -> str:
        number = self.param.padded(word) if self._zeros == "integer" and context == 0 else None
        if number is not None and self.lenient:
            self.repair("an integer with leading zeros", len(word))
            return number
        if self._words == "loose":
            if not self.lenient:
                raise Malformed(f"{word[:20]!r} is no literal")
            self.repair("a bare word as a string", len(word))
        return json_string(word)

    def string(self, opener: str, context: int) -> Steps:
        """A quoted string, also in triple quotes."""
        source = self.source
        close = self.quotes[opener]
        if opener in "'\"":
            while True:
                found = source.starts(source.pos, opener * 3)
                if found != MORE:
                    break
                yield
            if found == 1:
                close = opener * 3
        self.sink.take('"', len(close))
        inside = string_patterns(close[0], python=True).inside
        last = False
        while True:
            at = source.span(inside, source.pos)
            if at > source.pos:
                self.sink.take_plain(source.text[source.pos : at])
            if source.pos >= len(source.text):
                if source.eof:
                    raise Cut("the text ends inside a string")
                source.run = string_run(source, self.sink, string_patterns(close[0], python=True))
                yield
                continue
            c = source.text[source.pos]
            if c == "\\":
                yield from self._python_escape()
                continue
            found = NONE
            if c == close[0]:
                found = source.starts(source.pos, close)
                if found == MORE:
                    yield
                    continue
            if found == NONE:
                self.sink.take(json_escape(c), 1)
            elif not self.lenient or (yield from self._ends(len(close), context)):
                self.sink.take('"', len(close))
                return
            else:
                if not last:
                    self.repair("unescaped quote inside a string", len(close))
                last = True
                self.sink.take(json_escape(close), len(close))

    def _ends(self, length: int, context: int) -> Generator[None, None, bool]:
        """Whether a string can end here: something must be able to follow."""
        source = self.source
        follow = (":",) if context == 1 else (",", "}") if context == 2 else (",", "]", ")")
        while True:
            found = source.follows(source.pos + length, follow)
            if found != MORE:
                return found != NONE
            yield

    def _python_escape(self) -> Steps:
        source = self.source
        while len(source.text) - source.pos < 2:
            if source.eof:
                raise Cut("the text ends inside a string")
            yield
        c = source.text[source.pos + 1]
        if c in _CODES:
            yield from self._code(2 + _CODES[c])
        elif c in _SHORT:
            self.sink.take(json_escape(_SHORT[c]), 2)
        elif c in _SHORT_SAME:
            self.sink.take(json_escape(c), 2)
        elif c == "\n":
            self.sink.take("", 2)
        else:
            self.sink.take("\\\\", 1)

    def _code(self, length: int) -> Steps:
        source = self.source
        while len(source.text) - source.pos < length and not source.eof:
            yield
        digits = source.text[source.pos + 2 : source.pos + length]
        code = int(digits, 16) if len(digits) == length - 2 and _HEX.issuperset(digits) else -1
        if 0xD800 <= code <= 0xDBFF and 0xDC00 <= (low := (yield from self._code_unit(length))) <= 0xDFFF:
            # Python keeps two halves apart; a model that writes them means one character, as in JSON.
            self.sink.take(json_escape(chr(0x10000 + (code - 0xD800 << 10) + low - 0xDC00)), length + 6)
        elif 0 <= code <= 0x10FFFF:
            self.sink.take(json_escape("\ufffd" if 0xD800 <= code <= 0xDFFF else chr(code)), length)
        else:
            self.sink.take("\\\\", 1)
