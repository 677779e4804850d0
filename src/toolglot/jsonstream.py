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
from collections.abc import Generator, Sequence

from ._typing import TYPE_CHECKING
from .counts import open_counts
from .faults import Cut, Malformed, OverLimit
from .jsonstring import AS_KEY, IN_ARRAY, IN_MEMBERS, IN_OBJECT, NO_CONTEXT, Repaired, Steps, StringReader
from .jsontext import SCALAR_MOST, is_number, whole_at
from .late import late
from .scanner import BLANKS, END, Source
from .sinks import Collect, Sink, Tap
from .stops import BEHIND_START, COMMA_BEGUN, KEY_BEGUN, PLAIN_KEY, PLAIN_MEMBERS, PLAIN_START, SCALAR_BEGUN
from .waits import head_waits

if TYPE_CHECKING:
    from typing import ClassVar, Final

_TOKEN_STOP: Final = late(r"[^A-Za-z0-9+\-._]")
_WORDS: Final = {"true": "true", "false": "false", "null": "null"}
_LOOSE_WORDS: Final = {"True": "true", "False": "false", "None": "null"}
NOT_NUMBERS: Final = frozenset({"NaN", "Infinity", "-Infinity"})
_MISSING_MOST: Final = 64
_KEY_MOST: Final = 1 << 16
_CLOSES: Final = BLANKS + "]}"


# What a reader expects next; from ``_FIRST_VALUE`` on the end of what it stands in as well.
_VALUE: Final = 0
_KEY: Final = 1
_FIRST_VALUE: Final = 2
_FIRST_KEY: Final = 3
AFTER: Final = 4

_CLOSING: Final = {"}": "}", "]": "]", ")": "]"}


class ValueReader(StringReader):
    """Reads one JSON value; ``tap``, where given, follows the members of its first level.

    ``closers`` are the markers that may follow the body: where brackets are missing before one of
    them, a lenient reader supplies them. ``around`` is the bracket that closes what the value stands in.
    """

    __slots__ = ("around", "colons", "nesting", "tap")

    brackets: ClassVar[dict[str, str]] = {"{": "}", "[": "]"}
    # Whether what reads as strict JSON is just that.
    strict_text: ClassVar[bool] = True

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
        super().__init__(source, sink, lenient=lenient, closers=closers, repaired=repaired)
        self.tap = tap
        self.around = ""
        self.nesting = nesting
        self.colons = ":"

    # -- the value ------------------------------------------------------------------------------

    def value(self, member_sink: Sink | None = None, inside: bool = False) -> Steps:
        """Read one value at the cursor. Raises ``Malformed``, ``Cut`` or ``OverLimit``.

        ``inside``: the cursor stands inside an object, behind a member, and the rest of it is read; or with a
        ``member_sink`` at the value of a member that the tap has entered, which is the sink's.
        """
        source = self.source
        outer = self.sink
        member = member_sink is not None
        stack: list[str] = ["}"] if inside else []
        expect = AFTER if inside and not member else _VALUE
        if member_sink is not None:
            self.sink = member_sink
        while True:
            if expect == AFTER:
                if member and len(stack) == 1:
                    member = False
                    self.tapped().leave()
                    self.sink = outer
                if not stack:
                    return
            at, text = source.pos, source.text
            if at >= len(text) or text[at] in BLANKS or open_counts:
                at = yield from self.next()
                text = source.text
            c = text[at]
            if expect >= _FIRST_VALUE and c == stack[-1]:
                self.sink.take(_CLOSING[stack.pop()], 1)
                expect = AFTER
            elif expect == AFTER:
                expect = yield from self._after(c, stack)
            elif expect in (_KEY, _FIRST_KEY):
                tapped = self.tap is not None and len(stack) == 1
                inner = yield from self._member(c, tapped)
                if inner is None:
                    member = member or tapped
                    expect = _VALUE
                else:
                    yield from inner
                    expect = AFTER
            elif c in self.brackets:
                tried = (not stack and self.tap is None) or (member and len(stack) == 1)
                if tried and self.strict_text and self._at_once(self.nesting - len(stack)):
                    expect = AFTER
                    continue
                plain = self._started(stack) if c == "{" else ""
                if plain:
                    self.sink.take(plain, len(plain))
                    stack.append("}")
                    expect = _VALUE
                    continue
                self.sink.take("{" if c == "{" else "[", 1)
                stack.append(self.brackets[c])
                if len(stack) > self.nesting:
                    raise OverLimit(f"more than {self.nesting} nested brackets")
                expect = _FIRST_KEY if c == "{" else _FIRST_VALUE
            else:
                context = NO_CONTEXT
                if stack:
                    context = IN_ARRAY if stack[-1] != "}" else IN_OBJECT
                    if context == IN_OBJECT and self.strict_text and (self.tap is None or len(stack) > 1):
                        context = IN_MEMBERS
                yield from self.atom(c, context)
                if context == IN_MEMBERS and source.text[source.pos - 1] == "}":
                    # A string was taken with all that was left of its object.
                    stack.pop()
                expect = AFTER

    def _started(self, stack: list[str]) -> str:
        """An object up to its first value, where nothing in it needs care and nobody follows its members."""
        if not self.strict_text or len(stack) >= self.nesting or (self.tap is not None and not stack):
            return ""
        plain = self.source.piece(PLAIN_START, self.source.pos, BEHIND_START)
        return plain.group() if plain is not None and plain.end() - plain.start() <= _KEY_MOST else ""

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
        """Read what stands behind a value, but the end of what the value stands in; what is expected then."""
        source = self.source
        if c == ",":
            if self.strict_text and stack[-1] == "}" and (self.tap is None or len(stack) > 1):
                plain = source.whole(PLAIN_MEMBERS, source.pos)
                if plain:
                    self.sink.take(plain, len(plain))
                    if plain[-1] == "}":
                        stack.pop()
                    return AFTER
            if self.lenient:
                found = yield from self._ahead(1, (stack[-1],), COMMA_BEGUN if stack[-1] == "}" else None)
                if found == END:
                    raise Cut("the text ends inside a value")
                if found == 0:
                    self.repair("trailing comma", 1)
                    self.sink.take("", 1)
                    return AFTER
            self.sink.take(",", 1)
            return _KEY if stack[-1] == "}" else _VALUE
        if self.lenient and self.closers and len(stack) <= _MISSING_MOST:
            if (yield from self._closed(c == self.around or c in stack)):
                self.repair("closing bracket missing before the close marker", 0)
                self.sink.take(_CLOSING[stack.pop()], 0)
                return AFTER
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

    def _member(self, c: str, tapped: bool) -> Generator[None, None, Steps | None]:
        """Read a key and its colon; the reader of the value, where the tap has its own."""
        source = self.source
        name = ""
        plain = source.whole(PLAIN_KEY, source.pos) if self.strict_text else ""
        while self.strict_text and not plain and head_waits(source, KEY_BEGUN):
            yield
            plain = source.whole(PLAIN_KEY, source.pos)
        if plain and len(plain) <= _KEY_MOST:
            self.sink.take(plain, len(plain))
            if not tapped:
                return None
            name = plain[1 : plain.index('"', 1)]
        else:
            outer = self.sink
            key = Collect(source, _KEY_MOST)
            if tapped:
                self.sink = key
            yield from self.key(c)
            self.sink = outer
            at = yield from self.next()
            if source.text[at] not in self.colons:
                raise Malformed(f"expected ':', found {source.text[at]!r}")
            self.sink.take(":", 1)
            if tapped:
                yield from self.next()
                name = json.loads(key.text())
        if tapped:
            first = source.text[source.pos]
            inner = self.tapped().inner(name, first)
            if inner is not None:
                return inner
            self.sink = self.tapped().enter(name, first)
        return None

    def key(self, c: str) -> Steps:
        """Read a member's key at the cursor."""
        if c not in self.quotes:
            raise Malformed(f"expected a key, found {c!r}")
        yield from self.string(c, AS_KEY)

    def _at_once(self, depth: int) -> bool:
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
        # A string may be long, and one generator less is open all the while.
        return self.string(c, context) if c in self.quotes else self._scalar(c)

    def _scalar(self, c: str) -> Steps:
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
            if stop is _TOKEN_STOP:
                head_waits(source, SCALAR_BEGUN)
            yield


__all__ = ["AFTER", "NOT_NUMBERS", "Repaired", "Steps", "ValueReader"]
