"""tagged: a tag with the call's name, and one element per argument with raw text inside.

Promises: nothing in a value is unescaped. Where a value ends is decided by what can follow (see
``_Value``); text that cannot be its end is data at once. A declared string streams while it is written;
other values go out at their close, typed by the schema.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Mapping, Sequence
from typing import Any, Final

from ..calls import Call, Reading
from ..dialect import Body, Tag
from ..errors import RenderError
from ..events import DefectKind
from ..faults import Cut, Malformed
from ..jsonstream import Steps
from ..jsontext import json_escape
from ..literals import json_string
from ..markers import Markers, Rope
from ..scanner import BLANKS, END, MORE, NONE, name_stop
from ..schema import Param

_NEWLINE: Final = "\n"


def starts(reading: Reading, at: int, body: Body) -> int:
    """A body begins with the tag that holds the name."""
    return reading.source.starts(at, _tags(body)[0].open)


def _tags(body: Body) -> tuple[Tag, Tag]:
    assert body.name is not None
    assert body.param is not None
    return body.name, body.param


def read(reading: Reading) -> Steps:
    """Read one function and report its call."""
    source = reading.source
    tag, param = _tags(reading.body)
    source.pos += len(tag.open)
    name = yield from _name(reading, tag)
    reading.known(name)
    call: Call | None = None
    seen = 0
    follow = (param.open, tag.end, *(reading.closers if reading.lenient else ()))
    while True:
        found = yield from _ahead(reading, follow)
        if found == NONE:
            raise Malformed(f"expected {param.open!r} or {tag.end!r}")
        if call is None:
            call = reading.start(name)
        source.pos = source.follow_at
        if found != 0:
            break
        source.pos += len(param.open)
        key = yield from _name(reading, param)
        reading.channel.settle(source.at)
        call.take(("{" if seen == 0 else ", ") + json_string(key) + ": ", 0)
        yield from _Value(reading, call, reading.param(call.tool, key)).read()
        seen += 1
    call.take("{}" if seen == 0 else "}", 0)
    if found == 1:
        source.pos += len(tag.end)
    else:
        reading.missing_close(tag.end, call.index)
    call.end()


def _ahead(reading: Reading, options: tuple[str, ...]) -> Generator[None, None, int]:
    source = reading.source
    while True:
        found = source.follows(source.pos, options)
        if found == END:
            raise Cut("the text ends inside a function")
        if found != MORE:
            return found
        yield


def _name(reading: Reading, tag: Tag) -> Generator[None, None, str]:
    """The name in the tag at the cursor, and past the tag."""
    source = reading.source
    stop = name_stop(tag.close)
    ahead = 0
    while True:
        end = source.stop(stop, source.pos + ahead)
        found = source.starts(end, tag.close) if end < len(source.text) else MORE
        if found == 1:
            break
        if source.eof and end == len(source.text):
            raise Cut("the text ends inside a tag")
        if found == NONE or end - source.pos > reading.limits.header:
            raise Malformed(f"{tag.close!r} is missing after {tag.open!r}")
        ahead = end - source.pos
        yield
    name = source.text[source.pos : end].strip()
    source.pos = end + len(tag.close)
    if not name:
        raise Malformed("an empty name")
    return name


class _Value:
    """Reads one raw value up to its end.

    If the value began with a newline where the dialect writes one, ends count only at the start of a
    line, else anywhere. The value's own close counts if a sibling, an outer close or the end of the
    text follows; a sibling of a known name, or an outer close before an opener or the end, ends a
    value whose close is missing; an own close inside a line counts where one of those stands right
    behind it.
    """

    def __init__(self, reading: Reading, call: Call, param: Param) -> None:
        self._reading = reading
        self._source = reading.source
        self._call = call
        self._param = param
        self._trim = reading.body.trim
        self._tag, self._own = _tags(reading.body)
        self._live = param.is_string
        self._kept = Rope()
        self._anchored = False
        self._outer = (self._tag.open, *reading.openers, *reading.closers)
        self._marks = value_marks(self._own, self._tag, reading.closers)

    def read(self) -> Steps:
        """Read the value, its close and what it means. The cursor stands behind the close."""
        source = self._source
        yield from self._lead()
        start = source.at
        self._reading.channel.settle(start)
        if self._live:
            self._call.take('"', 0)
        ahead = 0
        while True:
            hit = source.find(self._marks, source.pos + ahead)
            if hit < 0 or source.hit is None:
                end = len(source.text) if hit < 0 else hit
                if source.eof:
                    raise Cut("the text ends inside a value")
                ahead = self._data(end, held=True)
                yield
                continue
            verdict = self._ends(hit, source.hit)
            if verdict == MORE:
                ahead = self._data(hit, held=True)
                yield
            elif verdict == NONE:
                ahead = hit - source.pos + 1
            else:
                break
        marker = source.hit
        self._data(hit, held=False)
        self._finish(start, marker == self._own.end)
        if marker == self._own.end:
            source.pos += len(marker)
        else:
            self._reading.missing_close(self._own.end, self._call.index)

    def _lead(self) -> Steps:
        """Pass what stands between the tag and the value."""
        source = self._source
        while self._trim != "none":
            if source.pos < len(source.text):
                c = source.text[source.pos]
                if self._trim == "newline" and c == _NEWLINE:
                    source.pos += 1
                    self._anchored = True
                elif self._trim == "blank" and c in BLANKS:
                    source.pos += 1
                    continue
                return
            if source.eof:
                raise Cut("the text ends inside a value")
            yield

    def _data(self, end: int, held: bool) -> int:
        """Text up to local index ``end`` is data, but for what may be layout before the close.

        Returns how many characters stay in front of the cursor that need no second look.
        """
        source = self._source
        to = end
        if self._trim == "blank":
            to = source.tail(source.pos, end)
        elif self._anchored and end > source.pos and source.text[end - 1] == _NEWLINE:
            to = end - 1
        if to > source.pos:
            piece = source.text[source.pos : to]
            if self._live:
                self._call.take(json_escape(piece), len(piece))
            else:
                self._kept.append(piece)
                source.pos = to
        if not held:
            source.pos = end
        return end - source.pos

    def _finish(self, start: int, closed: bool) -> None:
        call = self._call
        if self._live:
            call.take('"', 0)
            return
        typed = self._param.typed(self._kept.text())
        call.take(typed.json, 0)
        if not typed.ok:
            self._reading.channel.defect(
                DefectKind.WRONG_TYPE,
                start,
                self._source.at,
                "the value is not of its declared type",
                call.index,
            )

    # -- where a value ends ---------------------------------------------------------------------

    def _ends(self, at: int, marker: str) -> int:
        """Whether ``marker`` at local index ``at`` ends the value: 1, ``NONE`` or ``MORE``."""
        if marker == self._own.end:
            behind = at + len(marker)
            found = self._source.follows(behind, (self._own.open, self._tag.end, *self._reading.closers))
            if found == END:
                return 1
            if found < 0 or self._counts(at):
                return 1 if found >= 0 else found
            return self._bare_end(self._source.follow_at, found)
        if not self._counts(at):
            return NONE
        found = 0 if marker == self._own.open else 1 if marker == self._tag.end else 2
        return self._bare_end(at, found)

    def _counts(self, at: int) -> bool:
        """Whether an end may stand at ``at``."""
        return not self._anchored or self._source.before(at) == _NEWLINE

    def _bare_end(self, at: int, found: int) -> int:
        """Whether the sibling (0), function close (1) or outer close at ``at`` ends a value by itself."""
        source = self._source
        if not self._counts(at):
            return NONE
        if found == 0:
            return self._sibling(at + len(self._own.open))
        if found == 1:
            after = source.follows(at + len(self._tag.end), self._outer)
        else:
            closer = next(c for c in self._reading.closers if source.starts(at, c) == 1)
            after = source.follows(at + len(closer), (*self._reading.openers, self._tag.open))
        return 1 if after >= 0 or after == END else after

    def _sibling(self, at: int) -> int:
        """Whether the tag whose name begins at ``at`` is a parameter that the tool has."""
        source = self._source
        end = source.stop(name_stop(self._own.close), at)
        if end == len(source.text):
            return NONE if source.eof or end - at > self._reading.limits.header else MORE
        found = source.starts(end, self._own.close)
        if found != 1:
            return found
        tool = self._call.tool
        name = source.text[at:end].strip()
        return 1 if name and (tool is None or tool.open or tool.declares(name)) else NONE


_MARKS: dict[tuple[str, ...], Markers] = {}


def value_marks(own: Tag, tag: Tag, closers: tuple[str, ...]) -> Markers:
    """The markers at which a value may end, compiled once."""
    key = (own.end, own.open, tag.end, *closers)
    found = _MARKS.get(key)
    if found is None:
        found = _MARKS[key] = Markers(key)
    return found


def write(calls: Sequence[tuple[str, Mapping[str, Any]]], body: Body) -> str:
    """The function elements of ``calls``."""
    tag, own = _tags(body)
    edge = _NEWLINE if body.trim == "newline" else ""
    lines: list[str] = []
    for name, arguments in calls:
        lines.append(tag.open + name + tag.close)
        for key, value in arguments.items():
            if own.close in key:
                raise RenderError(f"the parameter name {key!r} holds {own.close!r}")
            text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            lines.append(f"{own.open}{key}{own.close}{edge}{text}{edge}{own.end}")
        lines.append(tag.end)
    return _NEWLINE.join(lines)
