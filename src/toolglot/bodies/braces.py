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

from .._typing import Any
from ..calls import Reading
from ..dialect import Body
from ..errors import RenderError
from ..events import DefectKind
from ..faults import Cut
from ..jsonstream import Steps
from ..literals import json_string
from ..markers import marks
from ..scanner import BLANKS, END, MORE, NONE
from ..stops import NAME_STOP, holds
from .bracevalue import BraceReader, key_stops


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
    end = source.name_end(at)
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
    stops = key_stops(body)
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
    reader.tool = call.tool
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
    if not key.strip(BLANKS) or key != key.strip(BLANKS) or any(stop in key for stop in key_stops(body)):
        raise RenderError(f"the key {key!r} cannot be written bare")
    return key
