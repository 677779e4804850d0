"""pythonic: calls in Python's syntax, a bracketed list of them or one alone. Parsed, never evaluated.

Promises: keyword arguments with Python or JSON literals, raw line breaks and curly quotes in strings,
any word as a parameter's name, dotted names. A positional argument is left out and reported; where a
required parameter had no other source, there is no call. An element that is no call refutes a list.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Mapping, Sequence
from typing import Any, ClassVar, Final

from ..calls import Reading
from ..dialect import Body
from ..errors import RenderError
from ..events import DefectKind
from ..faults import Cut, Malformed
from ..jsonstream import Steps, ValueReader
from ..jsontext import is_number, json_escape
from ..literals import json_string, python_to_json
from ..scanner import BLANKS, END, MORE, NONE, SCALAR_STOP, WORD_STOP, holds, string_stops

_QUOTES: Final = {'"': '"', "'": "'", "“": "”", "‘": "’", "「": "」"}
_STOPS: Final = {close: string_stops(close) for close in _QUOTES.values()}
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


def starts(reading: Reading, at: int, body: Body) -> int:
    """A list begins with its bracket and a name that a parenthesis follows."""
    source = reading.source
    if source.text[at] != "[":
        return NONE
    at = source.skip(at + 1)
    return starts_call(reading, at, body) if at < len(source.text) else NONE if source.eof else MORE


def starts_call(reading: Reading, at: int, body: Body) -> int:
    """A call begins with a name and its parenthesis."""
    source = reading.source
    end = source.stop(WORD_STOP, at)
    if end == len(source.text):
        return NONE if source.eof or end - at > reading.limits.header else MORE
    return 1 if end > at and source.text[end] == "(" else NONE


def read(reading: Reading) -> Steps:
    """Read one list and report its calls."""
    source = reading.source
    source.pos += 1
    while True:
        yield from _ahead(reading, ())
        source.pos = source.follow_at
        yield from read_call(reading, alone=False)
        found = yield from _ahead(reading, (",", "]"))
        if found == NONE:
            raise Malformed("expected ',' or ']' after a call")
        source.pos = source.follow_at + 1
        if found == 0:
            found = yield from _ahead(reading, ("]",))
            if found == NONE:
                continue
            source.pos = source.follow_at + 1
        return


def _ahead(reading: Reading, options: tuple[str, ...]) -> Generator[None, None, int]:
    source = reading.source
    while True:
        found = source.follows(source.pos, options)
        if found == END:
            raise Cut("the text ends inside a call")
        if found != MORE:
            return found
        yield


def read_call(reading: Reading, alone: bool = True) -> Steps:
    """Read one call and report it; ``alone`` where no list speaks for it."""
    source, channel = reading.source, reading.channel
    name = yield from _word(reading)
    if not name or source.text[source.pos] != "(":
        raise Malformed("expected a name and '('")
    call = reading.start(name)
    source.pos += 1
    reader = PythonReader(reading)
    given: set[str] = set()
    dropped = False
    while True:
        found = yield from _ahead(reading, (")",))
        if found == 0:
            break
        channel.settle(source.at)
        source.pos = source.follow_at
        key = yield from _keyword(reading)
        if key:
            channel.settle(source.at)
            call.take(("{" if call.empty else ", ") + json_string(key) + ": ", 0)
            given.add(key)
            reader.sink = call
            yield from reader.value()
        else:
            dropped = True
            start = source.at
            reader.sink = reading.reader().sink
            yield from reader.value()
            channel.defect(
                DefectKind.POSITIONAL_ARGUMENT,
                start,
                source.at,
                "only keyword arguments are read",
                call.index,
            )
        found = yield from _ahead(reading, (",", ")"))
        if found == NONE:
            raise Malformed("expected ',' or ')' after an argument")
        if found == 0:
            source.pos = source.follow_at + 1
    call.take("{}" if call.empty else "}", 0)
    source.pos = source.follow_at + 1
    if dropped and call.tool is not None and call.tool.required - given:
        detail = "a required argument was given by position only"
        if alone:
            raise Malformed(detail)
        reading.abandon(call, DefectKind.MALFORMED_CALL, detail)
    else:
        call.end()


def _word(reading: Reading) -> Generator[None, None, str]:
    """The name at the cursor, and past it."""
    source = reading.source
    ahead = 0
    while True:
        end = source.stop(WORD_STOP, source.pos + ahead)
        if end < len(source.text):
            word = source.text[source.pos : end]
            source.pos = end
            return word
        if source.eof:
            raise Cut("the text ends inside a name")
        ahead = end - source.pos
        if ahead > reading.limits.header:
            raise Malformed("the name is too long")
        yield


def _keyword(reading: Reading) -> Generator[None, None, str]:
    """The name of a keyword argument, and past its '='; empty where the argument has none."""
    source = reading.source
    ahead = 0
    while True:
        end = source.stop(WORD_STOP, source.pos + ahead)
        if end < len(source.text):
            found = source.follows(end, ("==", "="))
            if found != MORE:
                break
        elif source.eof:
            raise Cut("the text ends inside an argument")
        elif end - source.pos > reading.limits.header:
            return ""
        yield
    if found != 1 or end == source.pos:
        return ""
    key = source.text[source.pos : end]
    source.pos = source.follow_at + 1
    return key


class PythonReader(ValueReader):
    """Reads Python's literals, and JSON's."""

    __slots__ = ("_words",)

    brackets: ClassVar[dict[str, str]] = {"{": "}", "[": "]", "(": ")"}

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
        self._words = reading.body.words

    def at_once(self) -> bool:
        """Never: the C scanner reads only JSON."""
        return False

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
            written = number if number is not None else self._bare(word)
        self.sink.take(written, len(token))

    def _bare(self, word: str) -> str:
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
        stop = _STOPS[close[0]]
        last = False
        while True:
            at = source.stop(stop, source.pos)
            if at > source.pos:
                self.sink.take(source.text[source.pos : at], at - source.pos)
            if source.pos >= len(source.text):
                if source.eof:
                    raise Cut("the text ends inside a string")
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
        if 0 <= code <= 0x10FFFF:
            self.sink.take(json_escape("\ufffd" if 0xD800 <= code <= 0xDFFF else chr(code)), length)
        else:
            self.sink.take("\\\\", 1)


def write(calls: Sequence[tuple[str, Mapping[str, Any]]], body: Body) -> str:
    """The list of all calls."""
    return "[" + ", ".join(_call(name, arguments) for name, arguments in calls) + "]"


def write_call(calls: Sequence[tuple[str, Mapping[str, Any]]], body: Body) -> str:
    """One call, bare."""
    ((name, arguments),) = calls
    return _call(name, arguments)


def _call(name: str, arguments: Mapping[str, Any]) -> str:
    for word in (name, *arguments):
        if not word or holds(WORD_STOP, word):
            raise RenderError(f"{word!r} cannot be written as a name in Python's syntax")
    return f"{name}({', '.join(f'{key}={_literal(value)}' for key, value in arguments.items())})"


def _literal(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return repr(value)
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_literal(str(key))}: {_literal(item)}" for key, item in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_literal(item) for item in value) + "]"
    return json.dumps(value)
