"""braces: NAME{key:value,…} with bare keys and string delimiters of the format's own.

Promises: a body begins with its name, the brace, and a key with its mark or the brace's end. What stands
between delimiters is opaque and nothing in it is unescaped. A lenient reader takes a delimiter for the
string's end only where something can follow it, also where the opening one was left out, and also takes
the dialect's loose delimiters. A bare scalar keeps its type where it is a whole number or literal and the
schema does not make it a string; anything else bare is text.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Mapping, Sequence
from typing import Any, Final

from ..calls import Reading
from ..dialect import Body
from ..errors import RenderError
from ..events import DefectKind
from ..faults import Cut, Malformed
from ..jsonstream import Steps, ValueReader
from ..jsontext import json_escape
from ..literals import json_string, strict_json
from ..markers import Markers
from ..scanner import BLANKS, END, MORE, NAME_STOP, NONE, holds
from ..schema import UNDECLARED, Param
from .rawvalue import marks

_IN_ARRAY: Final = 3
_LITERALS: Final = {"None": "null", "True": "true", "False": "false"}


def starts(reading: Reading, at: int, body: Body) -> int:
    """A prefix or a name, the brace, and what shows that arguments are in it."""
    source = reading.source
    for prefix in body.prefixes:
        found = source.starts(at, prefix)
        if found == MORE:
            return MORE
        if found == 1:
            at += len(prefix)
            break
    end = source.stop(NAME_STOP, at)
    if end == len(source.text):
        return 1 if source.eof else MORE if end - at <= reading.limits.header else NONE
    if source.text[end] != "{" or not 0 < end - at <= reading.limits.header:
        return NONE
    inside = source.skip(end + 1)
    return _member(reading, inside, body) if inside - end <= reading.limits.blanks else NONE


def _member(reading: Reading, at: int, body: Body) -> int:
    """1 where no arguments or a key and its mark stand at local index ``at``, ``MORE`` or ``NONE``."""
    source = reading.source
    delims = body.delims + (body.loose_delims if reading.lenient else ())
    ends = ("}", *reading.closers)
    found = source.follows_at(at, (*ends, *(opener for opener, _ in delims)))
    if found in (END, MORE) or 0 <= found < len(ends):
        return MORE if found == MORE else 1
    stops = _key_stops(body)
    if found > 0:
        opener, closer = delims[found - len(ends)]
        at += len(opener)
        stops = (closer,)
    end = source.find(marks(stops), at)
    if (len(source.text) if end < 0 else end) - at > reading.limits.header:
        return NONE
    if end < 0 or source.hit is None:
        return 1 if source.eof else MORE
    if found > 0:
        found = source.follows(end + len(source.hit), body.key_marks)
        return 1 if found >= 0 or found == END else found
    return 1 if source.hit in body.key_marks and source.skip(at) < end else NONE


def _key_stops(body: Body) -> tuple[str, ...]:
    """What ends a bare key, rightly or not."""
    return (*body.key_marks, "{", "}", "[", "]", ",", "\n")


def read(reading: Reading) -> Steps:
    """Read one NAME{…} and report its call."""
    source, body = reading.source, reading.body
    for prefix in body.prefixes:
        if source.starts(source.pos, prefix) == 1:
            source.pos += len(prefix)
            break
    end = source.stop(NAME_STOP, source.pos)
    name = source.text[source.pos : end]
    source.pos = end
    if end == len(source.text):
        raise Cut("the text ends before the arguments")
    call = reading.start(name)
    source.pos += 1
    reader = BraceReader(reading)
    separator = "{"
    while True:
        found = yield from _ahead(reading, ("}", *(reading.closers if reading.lenient else ())))
        if found >= 0:
            break
        key = yield from reader.bare_key()
        param = reading.param(call.tool, key)
        reading.channel.settle(source.at)
        call.take(separator + json_string(key) + ": ", 0)
        separator = ", "
        reader.sink = call
        reader.param = param
        yield from reader.value()
        if reader.mistyped:
            reading.channel.defect(
                DefectKind.WRONG_TYPE,
                source.at,
                source.at,
                "the value before is not of its declared type",
                call.index,
            )
        found = yield from _ahead(reading, (",",))
        if found == 0:
            source.pos = source.follow_at + 1
    call.take("{}" if separator == "{" else "}", 0)
    if found == 0:
        source.pos = source.follow_at + 1
    else:
        reading.repaired("closing brace missing before the close marker", source.at, source.at)
    call.end()


def _ahead(reading: Reading, options: tuple[str, ...]) -> Generator[None, None, int]:
    source = reading.source
    while True:
        found = source.follows(source.pos, options)
        if found == END:
            raise Cut("the text ends inside the arguments")
        if found != MORE:
            return found
        yield


class BraceReader(ValueReader):
    """Reads the values of a brace body; ``param`` is the schema's view of the one at hand."""

    __slots__ = ("param", "mistyped", "_delims", "_delim_ends", "_runs", "_ends", "_key_end", "_follow")

    def __init__(self, reading: Reading) -> None:
        body = reading.body
        plain = reading.reader()
        super().__init__(
            reading.source,
            plain.sink,
            lenient=reading.lenient,
            closers=reading.closers,
            nesting=reading.limits.nesting,
            repaired=reading.repaired,
        )
        self.param: Param = UNDECLARED
        self.mistyped = False
        self.colons = "".join(body.key_marks)
        self._delims = body.delims + (body.loose_delims if reading.lenient else ())
        self._runs = body.runs
        # One character alone may be text: inches, a quotation.
        self._delim_ends = tuple(closer for _, closer in body.delims if len(closer) > 1)
        self._follow = (",", "}", "]", *reading.closers)
        self._ends = marks((*self._follow, *self._delim_ends, *body.key_marks))
        self._key_end = marks(_key_stops(body))

    def at_once(self, depth: int) -> bool:
        """Never: the C scanner reads only JSON."""
        return False

    # -- keys -----------------------------------------------------------------------------------

    def bare_key(self) -> Generator[None, None, str]:
        """The key at the cursor, and past the mark behind it."""
        source = self.source
        source.pos = source.skip(source.pos)
        delim = yield from self._delim()
        if delim is not None:
            source.pos += len(delim[0])
            end = yield from self._find(marks((delim[1],)))
            key = source.text[source.pos : end]
            source.pos = end + len(delim[1])
            yield from self._find(self._key_end)
        else:
            end = yield from self._find(self._key_end)
            key = source.text[source.pos : end].strip(BLANKS)
            source.pos = end
        mark = source.follows(source.pos, tuple(self.colons))
        if not key or mark < 0:
            raise Malformed("expected a key and a colon")
        source.pos = source.follow_at + 1
        return key

    def key(self, c: str) -> Steps:
        """A member's key, given on as JSON; the mark behind it is left."""
        source = self.source
        delim = yield from self._delim()
        if delim is not None:
            self.sink.take("", len(delim[0]))
            end = yield from self._find(marks((delim[1],)))
            self.sink.take(json_string(source.text[source.pos : end]), end - source.pos + len(delim[1]))
            return
        end = yield from self._find(self._key_end)
        key = source.text[source.pos : end].strip(BLANKS)
        if not key:
            raise Malformed("expected a key")
        self.sink.take(json_string(key), end - source.pos)

    def _find(self, markers: Markers) -> Generator[None, None, int]:
        """Local index of the first of ``markers``, waiting for it."""
        source = self.source
        ahead = 0
        while True:
            at = source.find(markers, source.pos + ahead)
            if at >= 0 and source.hit is not None:
                return at
            if source.eof:
                raise Cut("the text ends inside the arguments")
            ahead = (len(source.text) if at < 0 else at) - source.pos
            yield

    def _delim(self) -> Generator[None, None, tuple[str, str] | None]:
        """The string delimiters that open at the cursor, if any do."""
        source = self.source
        while True:
            waiting = False
            for pair in self._delims:
                found = source.starts(source.pos, pair[0])
                if found == 1:
                    return pair
                waiting = waiting or found == MORE
            if not waiting:
                return None
            yield

    # -- scalars --------------------------------------------------------------------------------

    def atom(self, c: str, context: int) -> Steps:
        """A delimited string or a bare scalar at the cursor."""
        source = self.source
        self.mistyped = False
        delim = yield from self._delim()
        if delim is not None:
            yield from self._string(delim)
            return
        length, closer = yield from self._bare(context)
        text = source.text[source.pos : source.pos + length]
        bare = text.strip(BLANKS)
        if not bare:
            raise Malformed("a value is missing")
        param = self.param if context == 0 else UNDECLARED
        if closer:
            self.repair("a string without its opening delimiter", length + len(closer))
        if closer or param.is_string:
            written = json_string(bare)
        else:
            typed = param.typed(bare)
            self.mistyped = not typed.ok
            written = _LITERALS.get(bare, typed.json) if param is UNDECLARED else typed.json
        self.sink.take(written, length + len(closer))

    def _bare(self, context: int) -> Generator[None, None, tuple[int, str]]:
        """How long the bare value at the cursor is, and the delimiter that ends it if one does.

        A comma is text where such a delimiter comes before the mark of a next key.
        """
        source = self.source
        comma = -1
        ahead = 0
        while True:
            at = source.find(self._ends, source.pos + ahead)
            ahead = (len(source.text) if at < 0 else at) - source.pos
            hit = source.hit if at >= 0 else None
            if hit is None:
                if source.eof:
                    raise Cut("the text ends inside the arguments")
                yield
                continue
            if hit in self._delim_ends:
                if comma >= 0 and source.skip(source.pos + comma + 1) == at:
                    return comma, ""
                if (yield from self._can_follow(ahead + len(hit), self._follow)):
                    if not self.lenient:
                        raise Malformed("a string without its opening delimiter")
                    return ahead, hit
            elif hit in self.colons:
                if comma >= 0:
                    return comma, ""
            elif comma < 0 and (hit != "," or self._ends_here(ahead, context)):
                return ahead, ""
            elif hit != ",":
                return comma, ""
            elif comma < 0:
                comma = ahead
            ahead += len(hit)

    def _ends_here(self, length: int, context: int) -> bool:
        """Whether a comma behind so much bare text can be no part of the value."""
        text = self.source.text[self.source.pos : self.source.pos + length]
        whole = not self.param.is_string and strict_json(text) is not None
        return whole or context == _IN_ARRAY or not self.lenient

    def _string(self, delim: tuple[str, str]) -> Steps:
        source = self.source
        opener, closer = delim
        count = yield from self._run(source.pos, opener)
        if self._runs == "each":
            count = 1
        follow = self._follow
        if count > 1 and count % 2 == 0 and opener == closer:
            found = yield from self._can_follow(count * len(opener), follow)
            if found:
                self.sink.take('""', count * len(opener))
                return
        self.sink.take('"', count * len(opener))
        closers = marks((closer,))
        last = False
        while True:
            at = source.find(closers, source.pos)
            end = len(source.text) if at < 0 else at
            if end > source.pos:
                self.sink.take_raw(source.text[source.pos : end])
            if at < 0 or source.hit is None:
                if source.eof:
                    raise Cut("the text ends inside a string")
                yield
                continue
            count = 1
            if self._runs == "one":
                count = yield from self._run(source.pos, closer)
            length = count * len(closer)
            closes = not self.lenient
            if self.lenient:
                closes = yield from self._can_follow(length, follow)
            if closes:
                self.sink.take('"', length)
                return
            if not last:
                self.repair("a string delimiter inside a string", length)
            last = True
            self.sink.take(json_escape('"' if len(closer) > 1 else closer) * count, length)

    def _run(self, at: int, delim: str) -> Generator[None, None, int]:
        """How many of ``delim`` stand in a row at local index ``at``, where runs count; else one."""
        source = self.source
        distance = at - source.pos
        count = 1
        while self._runs == "one":
            found = source.starts(source.pos + distance + count * len(delim), delim)
            if found == 1:
                count += 1
            elif found == NONE:
                break
            else:
                yield
        return count

    def _can_follow(self, distance: int, follow: tuple[str, ...]) -> Generator[None, None, bool]:
        source = self.source
        while True:
            found = source.follows(source.pos + distance, follow)
            if found != MORE:
                return found != NONE
            yield


def write(calls: Sequence[tuple[str, Mapping[str, Any]]], body: Body) -> str:
    """NAME{…} of one call."""
    ((name, arguments),) = calls
    if not name or holds(NAME_STOP, name):
        raise RenderError(f"the name {name!r} cannot be told from what follows it")
    prefix = body.prefixes[0] if body.prefixes else ""
    return prefix + name + _write(arguments, body)


def _write(value: Any, body: Body) -> str:
    if isinstance(value, Mapping):
        return "{" + ",".join(f"{_key(key, body)}:{_write(item, body)}" for key, item in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(_write(item, body) for item in value) + "]"
    if isinstance(value, str):
        opener, closer = body.delims[0]
        if closer in value:
            raise RenderError(f"a string holds its own delimiter {closer!r}")
        return opener + value + closer
    return json.dumps(value)


def _key(key: str, body: Body) -> str:
    if (
        not key.strip(BLANKS)
        or key != key.strip(BLANKS)
        or any(c in key for c in (*body.key_marks, *"{}[],\n"))
    ):
        raise RenderError(f"the key {key!r} cannot be written bare")
    return key
