"""kv_pairs: a name as text, then pairs of a key and a raw value between markers.

Promises: where a value ends is decided by what can follow (``rawvalue``); white space between markers
is layout. Where faults are mended, a key whose value's opener is missing still has its value, a surplus
tag is passed, and a key without a value is left out.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Mapping, Sequence

from .._typing import TYPE_CHECKING, Any
from ..calls import Call, Reading
from ..dialect import Body
from ..errors import RenderError
from ..faults import Cut, Malformed
from ..jsonstream import Steps
from ..late import Once
from ..literals import json_string
from ..markers import marks
from ..scanner import BLANKS, END, MORE, NONE
from ..schema import STRING, UNDECLARED, stated
from ..stops import NAME_STOP, holds, tag_stop
from .rawvalue import Frame, RawValue, past

if TYPE_CHECKING:
    from typing import Final


def starts(reading: Reading, at: int, body: Body) -> int:
    """A name, then the first key, the mark behind the name, or the call's close."""
    source = reading.source
    end = source.name_end(at)
    if end == at or end - at > reading.limits.header:
        return NONE
    if end == len(source.text):
        return 1 if source.eof else MORE if end - at <= reading.limits.header else NONE
    found = past(source, end, (*body.separators, *body.key_open, *reading.closers), body.gaps)
    if source.follow_at - end > reading.limits.blanks:
        return NONE
    return 1 if found >= 0 or found == END else found


def read(reading: Reading) -> Steps:
    """Read one name and its pairs, and report the call."""
    source, body = reading.source, reading.body
    end = source.stop(NAME_STOP, source.pos)
    name = source.text[source.pos : end]
    source.pos = end
    found = yield from _ahead(reading, (*body.separators, *body.key_open, *reading.closers))
    if 0 <= found < len(body.separators):
        source.pos = source.follow_at + len(body.separators[found])
    call = reading.start(name)
    follow = (*body.key_open, *reading.closers, *reading.openers)
    while True:
        found = yield from _ahead(reading, follow)
        if found == NONE:
            raise Malformed(f"expected {body.key_open[0]!r} or the end of the call")
        if found >= len(body.key_open):
            break
        source.pos = source.follow_at + len(follow[found])
        yield from _pair(reading, call)
    call.take("{}" if call.empty else "}", 0)
    call.end()


def _ahead(reading: Reading, options: tuple[str, ...]) -> Generator[None, None, int]:
    """Which of ``options`` comes next, past the blanks in front of it."""
    source = reading.source
    while True:
        found = past(source, source.pos, options, reading.body.gaps)
        source.pos = source.follow_at
        if found == END:
            raise Cut("the text ends inside a call")
        if found != MORE:
            return found
        yield


def _pair(reading: Reading, call: Call) -> Steps:
    """Read a key behind its opener, and its value."""
    source, body = reading.source, reading.body
    key = (yield from _until(reading, call, body.key_close)).strip(BLANKS)
    if not key:
        raise Malformed("an empty key")
    param = reading.param(call.tool, key)
    openers = (*body.value_open, *body.type_open, *body.key_close, *body.key_open, *reading.closers)
    found = yield from _ahead(reading, openers)
    while found >= 0 and openers[found] in body.key_close + body.type_open:
        start = source.at
        source.pos = source.follow_at + len(openers[found])
        if openers[found] in body.type_open:
            kind = yield from _until(reading, call, body.type_close)
            param = param if param.is_string else stated(kind.strip(BLANKS))
        else:
            _mend(reading, f"a surplus {openers[found]!r}", start)
        found = yield from _ahead(reading, openers)
    if found >= 0 and openers[found] not in body.value_open:
        _mend(reading, f"the key {key!r} has no value", source.at)
        return
    if found >= 0:
        source.pos = source.follow_at + len(openers[found])
    else:
        _mend(reading, f"{body.value_open[0]!r} is missing", source.at)
    if param is UNDECLARED and body.untyped == "text":
        param = STRING
    reading.channel.settle(source.at)
    call.take(("{" if call.empty else ", ") + json_string(key) + ": ", 0)
    yield from RawValue(reading, call, param, _frame_of(body)).read()


def _mend(reading: Reading, detail: str, start: int) -> None:
    """Report a repair, or raise ``Malformed`` where none is made."""
    if not reading.lenient:
        raise Malformed(detail)
    reading.repaired(detail, start, reading.source.at)


def _sibling(reading: Reading, call: Call, at: int) -> int:
    """Whether the key that begins at local index ``at`` is one of the tool's."""
    source, body = reading.source, reading.body
    end = source.stop(tag_stop(body.key_close[0]), at)
    if end >= len(source.text):
        return NONE if source.eof or end - at > reading.limits.header else MORE
    found = max(source.starts(end, marker) for marker in body.key_close)
    if found != 1:
        return MORE if any(source.starts(end, m) == MORE for m in body.key_close) else NONE
    tool = call.tool
    name = source.text[at:end].strip(BLANKS)
    return 1 if tool is None or tool.open or tool.declares(name) else NONE


def _frame(body: Body) -> Frame:
    return Frame(body.value_close, body.key_open, _sibling)


_frame_of: Final = Once(_frame)


def _until(reading: Reading, call: Call, closers: tuple[str, ...]) -> Generator[None, None, str]:
    """The text up to one of ``closers``, and past it; or up to the value, where faults are mended.

    Of several keys that open one after another only the last is read.
    """
    source, body = reading.source, reading.body
    missing = f"{closers[0]!r} is missing"
    ends = marks((*closers, *body.value_open, *body.key_open, *reading.closers, *reading.openers))
    ahead = 0
    while True:
        at = source.find(ends, source.pos + ahead)
        ahead = (len(source.text) if at < 0 else at) - source.pos
        if ahead > reading.limits.header:
            raise Malformed(missing)
        if at >= 0 and source.hit is not None:
            text = source.text[source.pos : at]
            start = source.at
            source.pos = at
            if source.hit in body.key_open and closers == body.key_close:
                source.pos += len(source.hit)
                _mend(reading, f"a surplus {source.hit!r}", start)
                ahead = 0
                continue
            if source.hit in closers:
                source.pos += len(source.hit)
            elif source.hit in body.value_open and reading.lenient:
                reading.missing_close(closers[0], call.index)
            else:
                raise Malformed(missing)
            return text
        if source.eof:
            raise Cut("the text ends inside a key")
        yield


def write(calls: Sequence[tuple[str, Mapping[str, Any]]], body: Body) -> str:
    """Name and pairs of one call."""
    ((name, arguments),) = calls
    if not name or holds(NAME_STOP, name):
        raise RenderError(f"the name {name!r} cannot be told from what follows it")
    parts = [name + (body.separators[0] if body.separators else "")]
    for key, value in arguments.items():
        if body.key_close[0] in key or key != key.strip(BLANKS):
            raise RenderError(f"the key {key!r} cannot be written")
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        parts.append(body.key_open[0] + key + body.key_close[0])
        parts.append(body.value_open[0] + text + body.value_close[0])
    return body.line.join(parts) + body.line
