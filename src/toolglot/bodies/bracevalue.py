"""bracevalue: the keys and values of a brace body, read as JSON text.

Promises: nothing between a string's delimiters is unescaped. A lenient reader takes a delimiter for the
string's end only before the next key and its mark, before a closing bracket that can stand there, or, in
a list, before a comma; others are quotation marks in the string.
"""

from __future__ import annotations

from collections.abc import Generator

from .._typing import TYPE_CHECKING
from ..calls import Reading
from ..dialect import Body
from ..faults import Cut, Malformed
from ..jsonstream import Steps, ValueReader
from ..jsontext import json_escape
from ..literals import json_string, strict_json
from ..markers import Markers, marks
from ..runs import RawRun
from ..scanner import BLANKS, END, MORE, NONE
from ..schema import UNDECLARED, Param, Tool

if TYPE_CHECKING:
    from typing import ClassVar, Final

_NO_CONTEXT: Final = 0
_IN_ARRAY: Final = 3
_LITERALS: Final = {"None": "null", "True": "true", "False": "false"}


def key_stops(body: Body) -> tuple[str, ...]:
    """What ends a bare key, rightly or not."""
    tokens = (token for pair in body.delims for token in pair if len(token) > 1)
    return (*body.key_marks, "{", "}", "[", "]", ",", "\n", *tokens)


class BraceReader(ValueReader):
    """Reads the values of a brace body; ``param`` is the schema's view of the one at hand, of ``tool``."""

    __slots__ = (
        *("tool", "param", "mistyped", "_delims", "_delim_ends", "_runs", "_ends"),
        *("_key_end", "_key_most", "_quoted", "_follow"),
    )

    strict_text: ClassVar[bool] = False

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
        self.tool: Tool | None = None
        self.param: Param = UNDECLARED
        self.mistyped = False
        self.colons = "".join(body.key_marks)
        self._delims = body.delims + (body.loose_delims if reading.lenient else ())
        self._runs = body.runs
        # One character alone may be text: inches, a quotation.
        self._delim_ends = tuple(closer for _, closer in body.delims if len(closer) > 1)
        self._follow = (",", "}", *reading.closers)
        self._ends = marks((*self._follow, "]", *self._delim_ends, *body.key_marks))
        self._key_end = marks(key_stops(body))
        self._key_most = reading.limits.header
        self._quoted = False

    # -- keys -----------------------------------------------------------------------------------

    def bare_key(self) -> Generator[None, None, str]:
        """The key at the cursor, and past the mark behind it."""
        source = self.source
        source.pos = source.skip(source.pos)
        self._quoted = (yield from self._delim()) is not None
        key, length = yield from self._key()
        mark = yield from self._ahead(length, tuple(self.colons))
        if mark == END:
            raise Cut("the text ends inside the arguments")
        if mark == NONE:
            raise Malformed("expected a key and a colon")
        source.pos = source.follow_at + 1
        return key

    def key(self, c: str) -> Steps:
        """A member's key, given on as JSON; the mark behind it is left."""
        self._quoted = (yield from self._delim()) is not None
        key, length = yield from self._key()
        self.sink.take(json_string(key), length)

    def _key(self, ahead: int = 0) -> Generator[None, None, tuple[str, int]]:
        """The key so far ahead, and how far ahead it ends. Raises ``Malformed`` where none is."""
        source = self.source
        opener, closer = (yield from self._delim(ahead)) or ("", "")
        ahead += len(opener)
        end = yield from self._find(marks((closer,)) if closer else self._key_end, ahead)
        key = source.text[source.pos + ahead : end]
        if not closer:
            key = key.strip(BLANKS)
            if not key:
                raise Malformed("expected a key")
        return key, end + len(closer) - source.pos

    def _key_follows(self, ahead: int, context: int) -> Generator[None, None, bool]:
        """Whether a key and its mark stand so far ahead; between string tokens only if the last one did."""
        delim = yield from self._delim(ahead)
        if delim is not None and delim[1] in self._delim_ends and not self._quoted:
            return False
        try:
            key, ahead = yield from self._key(ahead)
        except Malformed:
            return False
        mark = yield from self._ahead(ahead, tuple(self.colons))
        # A mark that is not the format's own may be an assignment in the string.
        tool = self.tool if context == _NO_CONTEXT and mark > 0 else None
        return mark != NONE and (tool is None or tool.open or tool.declares(key))

    def _find(self, markers: Markers, ahead: int) -> Generator[None, None, int]:
        """Local index of the first of ``markers`` so far ahead, waiting for it, at a key's length at most."""
        source = self.source
        most = ahead + self._key_most
        while True:
            at = source.find(markers, source.pos + ahead)
            ahead = (len(source.text) if at < 0 else at) - source.pos
            if ahead > most:
                raise Malformed("the key is too long")
            if at >= 0 and source.hit is not None:
                return at
            if source.eof:
                raise Cut("the text ends inside the arguments")
            yield

    def _delim(self, ahead: int = 0) -> Generator[None, None, tuple[str, str] | None]:
        """The string delimiters that open so far ahead of the cursor, if any do."""
        source = self.source
        while True:
            waiting = False
            for pair in self._delims:
                found = source.starts(source.pos + ahead, pair[0])
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
            yield from self._string(delim, context)
            return
        length, closer = yield from self._bare(context)
        text = source.text[source.pos : source.pos + length]
        bare = text.strip(BLANKS)
        if not bare:
            raise Malformed("a value is missing")
        param = self.param if context == _NO_CONTEXT else UNDECLARED
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
                if (yield from self._can_end(ahead + len(hit), context)):
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

    def _string(self, delim: tuple[str, str], context: int) -> Steps:
        source = self.source
        opener, closer = delim
        count = yield from self._run(source.pos, opener)
        if self._runs == "each":
            count = 1
        if count > 1 and count % 2 == 0 and opener == closer:
            if (yield from self._can_end(count * len(opener), context)):
                self.sink.take('""', count * len(opener))
                return
        self.sink.take('"', count * len(opener))
        closers = marks((closer,))
        last = False
        run: RawRun | None = None
        while True:
            at = source.find(closers, source.pos)
            end = len(source.text) if at < 0 else at
            if end > source.pos:
                self.sink.take_raw(source.text[source.pos : end])
            if at < 0 or source.hit is None:
                if source.eof:
                    raise Cut("the text ends inside a string")
                if run is None:
                    run = RawRun(source, self.sink, closers, "")
                source.run = run
                yield
                continue
            count = 1
            if self._runs == "one":
                count = yield from self._run(source.pos, closer)
            length = count * len(closer)
            if not self.lenient or (yield from self._can_end(length, context)):
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

    def _can_end(self, distance: int, context: int) -> Generator[None, None, bool]:
        """Whether a string can end so far ahead: the next member or element, or a bracket, must follow."""
        source = self.source
        array = context == _IN_ARRAY
        found = yield from self._ahead(distance, (*self._follow, "]") if array else self._follow)
        if found != 0 or array:
            return found != NONE
        found = yield from self._ahead(source.follow_at + 1 - source.pos, self._follow[1:])
        return found != NONE or (yield from self._key_follows(source.follow_at - source.pos, context))
