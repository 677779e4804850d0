"""tagged: a tag with the call's name, and one element per argument with raw text inside.

Promises: where a value ends is decided by what can follow (``rawvalue``). A declared string streams
while it is written; other values go out at their close, typed by a type attribute or the schema. The
arguments may also stand as one JSON object: by the dialect's data, or as a repair.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Mapping, Sequence

from .._typing import TYPE_CHECKING, Any
from ..calls import Call, Reading
from ..dialect import Body, Tag
from ..events import DefectKind
from ..faults import Cut, Malformed
from ..jsonstream import Steps
from ..literals import json_string
from ..markers import Markers, marks
from ..pieces import twice
from ..scanner import END, MORE, NONE, Source
from ..schema import STRING, UNDECLARED, Param
from ..schema import stated as stated_type
from ..stops import NAME_STOP, tag_start
from ..waits import wait
from .elements import Shape, shape_of, tags_of, take_plain
from .rawvalue import Frame, RawValue
from .tags import (
    ENTITY_MOST,
    Tagged,
    escape,
    read_tag,
    tag_ahead,
    tag_begins,
    tag_head,
    take_tag,
    unescape,
    write_tag,
)

if TYPE_CHECKING:
    from typing import ClassVar, Final

_NEWLINE: Final = "\n"
_DOT: Final = "."


def starts(reading: Reading, at: int, body: Body) -> int:
    """A body begins with the tag that holds the name, or a word in front of it."""
    source = reading.source
    at = _tag_start(source, at, body, reading.limits.header)
    if at < 0:
        return at
    if at >= len(source.text):
        return 1 if source.eof else MORE
    tag, own = tags_of(body)
    found = tag_begins(source, at, tag)
    if found == MORE:
        tag_ahead(reading, at, tag, own.open)
    return found


def head(body: Body) -> tuple[str, ...]:
    """The tag that holds the name, and what stands behind it."""
    tag, own = tags_of(body)
    return () if body.prefixes else tag_head(tag, own.open)


def sure(body: Body) -> str:
    """The tag that holds the name, and the first parameter's behind it."""
    tag, own = tags_of(body)
    return "" if body.prefixes or tag.key else tag_start(tag.open, tag.close, own.open)


def _tag_start(source: Source, at: int, body: Body, most: int) -> int:
    """Where the tag begins: behind a word of the format and perhaps the name; ``MORE`` where it may yet."""
    for prefix in body.prefixes:
        found = source.starts(at, prefix)
        if found == MORE:
            return MORE
        if found == 1:
            at = source.skip(at + len(prefix))
            end = source.skip(source.stop(NAME_STOP, at))
            if end >= len(source.text) and not source.eof:
                return MORE if end - at <= most else NONE
            return end
    return at


def read(reading: Reading) -> Steps:
    """Read one function and report its call."""
    source, body = reading.source, reading.body
    shape = shape_of(body, reading.closers, reading.openers, reading.lenient)
    tag, own = shape.tag, shape.own
    if body.prefixes:
        source.pos = _tag_start(source, source.pos, body, reading.limits.header)
    if source.pos >= len(source.text):
        raise Cut("the text ends in front of the name")
    named = take_tag(reading, tag) or (yield from read_tag(reading, tag, own.open))
    if named.empty and tag.empty == "malformed":
        raise Malformed("no tag of this format closes itself")
    name = named.name
    if body.names == "doubled" and not reading.offered(name) and reading.offered(twice(name, _DOT)):
        name = twice(name, _DOT)
    reading.known(name)
    own_id = None
    if named.attributes:
        own_id = next((named.attributes[key] for key in body.id_keys if key in named.attributes), None)
    if named.empty:
        call = reading.start(name, own_id)
        call.take("{}", 0)
        call.end()
        return
    found = source.follows(source.pos, shape.follow)
    if found < 0:
        found = yield from _ahead(reading, shape.follow)
    if found == NONE:
        raise Malformed(f"expected {own.open!r} or {tag.end!r}")
    call = reading.start(name, own_id)
    source.pos = source.follow_at
    if found == 0:
        found = yield from _params(reading, call, shape)
    elif shape.follow[found] in shape.objects:
        found = yield from _object(reading, call, shape.follow[found], shape.behind)
    else:
        call.take("{}", 0)
    if found == 0:
        raise Malformed("a parameter behind the arguments")
    if found == 1:
        source.pos += len(tag.end)
    else:
        reading.missing_close(tag.end, call.index)
    call.end()


def _object(reading: Reading, call: Call, first: str, behind: tuple[str, ...]) -> Generator[None, None, int]:
    """Read all arguments as one JSON object, markers around it where ``first`` is one; what is behind it."""
    source, body = reading.source, reading.body
    around = body.whole if first in body.whole else ()
    if around:
        source.pos += len(around[0])
        if (yield from _ahead(reading, ("{",))) == NONE:
            raise Malformed("the arguments are not a JSON object")
        source.pos = source.follow_at
    reader = reading.reader(sink=call)
    reader.closers = (*around[1:], behind[1], *reading.closers)
    yield from reader.value()
    if around:
        if (yield from _ahead(reading, around[1:])) == NONE:
            raise Malformed(f"expected {around[1]!r}")
        source.pos = source.follow_at + len(around[1])
    found = yield from _ahead(reading, behind)
    if found == NONE and reading.lenient:
        yield from _trailing(reading, marks(behind[1:]))
        found = yield from _ahead(reading, behind)
    if found == NONE:
        raise Malformed(f"expected {behind[1]!r}")
    source.pos = source.follow_at
    return found


def _trailing(reading: Reading, ends: Markers) -> Steps:
    """Reject other text behind a complete object, in front of what ends the call."""
    source, channel = reading.source, reading.channel
    ahead = 0
    while True:
        at = source.find(ends, source.pos + ahead)
        ahead = (len(source.text) if at < 0 else at) - source.pos
        if ahead > reading.limits.trailing:
            raise Malformed("other text behind the arguments")
        if at >= 0 and source.hit is not None:
            break
        if source.eof:
            raise Cut("the text ends inside a function")
        yield
    start = source.at
    channel.markup(at)
    channel.defect(DefectKind.REJECTED, start, source.at, "text between the arguments and the call's end")


def _params(reading: Reading, call: Call, shape: Shape) -> Generator[None, None, int]:
    """Read all parameters; what stands behind them."""
    source, own = reading.source, shape.own
    found, lead = 0, "{"
    while found == 0:
        match = None if shape.element is None else source.piece(shape.element, source.pos, shape.ends)
        if match is not None and take_plain(reading, call, match, lead):
            found, lead = 0 if match[3] == own.open else 1, ", "
            continue
        tagged = take_tag(reading, own) or (yield from read_tag(reading, own))
        key, lead = lead + json_string(tagged.name) + ": ", ", "
        if tagged.empty:
            reading.channel.settle(source.at)
            call.take(key + '""', 0)
        else:
            param = _param(reading, call, tagged, own)
            if reading.body.quote:
                yield from _quoted(reading, call, param, shape, key)
            else:
                # One generator less is open all the while that a long value comes.
                yield from _raw(reading, call, param, shape, key).read()
        found = source.follows(source.pos, shape.behind)
        if found < 0:
            found = yield from _ahead(reading, shape.behind)
        if found == NONE:
            raise Malformed(f"expected {own.open!r} or {shape.tag.end!r}")
        source.pos = source.follow_at
    call.take("}", 0)
    return found


def _raw(reading: Reading, call: Call, param: Param, shape: Shape, key: str) -> RawValue:
    """A reader of one value and its close."""
    reader = EscapedValue if shape.own.escapes == "text" else RawValue
    return reader(reading, call, param, shape.frame(call.tool), key)


def _quoted(reading: Reading, call: Call, param: Param, shape: Shape, key: str) -> Steps:
    """As ``_raw``, where the value may stand between quotation marks."""
    source, quote, own = reading.source, reading.body.quote, shape.own
    found = MORE
    while found == MORE:
        found = source.follows(source.pos, quote[:1])
        if found == MORE:
            yield
    if found != 0:
        yield from _raw(reading, call, param, shape, key).read()
        return
    source.pos = source.follow_at + len(quote[0])
    yield from RawValue(reading, call, param, Frame(quote[1:], (own.end,)), key).read()
    if (yield from _ahead(reading, (own.end,))) == NONE:
        raise Malformed(f"expected {own.end!r}")
    source.pos = source.follow_at + len(own.end)


class EscapedValue(RawValue):
    """A raw value with escapes."""

    __slots__ = ()

    escape: ClassVar[str] = "&"

    def _data(self, end: int, held: bool) -> int:
        cut = end
        if held:
            # What may be the beginning of an escape waits for the rest of it.
            for at in range(max(self._source.pos, end - ENTITY_MOST + 1), end):
                if self._source.text[at] == "&":
                    cut = at
        return super()._data(cut, held) + end - cut

    def meant(self, piece: str) -> str:
        return unescape(piece)


def _param(reading: Reading, call: Call, tagged: Tagged, tag: Tag) -> Param:
    """The type of a parameter: by its attribute where the format has one, else by the schema."""
    declared = reading.param(call.tool, tagged.name)
    if not tag.types:
        return declared
    stated = tagged.attributes.get(tag.types, "")
    if not stated:
        return declared
    if tag.stated == "name":
        return stated_type(stated)
    if stated == "true":
        return STRING
    return UNDECLARED if declared.is_string else declared


def _ahead(reading: Reading, options: tuple[str, ...]) -> Generator[None, None, int]:
    source = reading.source
    while True:
        found = source.follows(source.pos, options)
        if found == END:
            raise Cut("the text ends inside a function")
        if found != MORE:
            return found
        wait(source, source.follow_at, options)
        yield


def write(calls: Sequence[tuple[str, Mapping[str, Any]]], body: Body, before: int = 0) -> str:
    """The function elements of ``calls``; ``before``: how many stand before them."""
    tag, own = tags_of(body)
    edge = _NEWLINE if body.trim == "newline" else ""
    lines: list[str] = []
    for number, (name, arguments) in enumerate(calls, start=before + 1):
        lines.append("".join(body.prefixes[:1]) + write_tag(tag, name, _counted(tag, body, number)))
        for key, value in arguments.items():
            text = edge + _text(own, body, value) + edge
            lines.append(write_tag(own, key, _stated(own, value)) + text + own.end)
        lines.append(tag.end)
    return body.line.join(lines)


def _text(tag: Tag, body: Body, value: Any) -> str:
    """A value as the format writes it."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    if tag.escapes == "text":
        return escape(text, quotes=False)
    if body.quote and any(c in text for c in body.quoted):
        return body.quote[0] + text + body.quote[1]
    return text


def _counted(tag: Tag, body: Body, number: int) -> str:
    """The attribute that counts the calls: in the order of the message, or as ids, from zero."""
    if tag.counter in body.id_keys:
        return f' {tag.counter}="{number - 1}"'
    return f' {tag.counter}="{number}"' if tag.counter else ""


def _stated(tag: Tag, value: Any) -> str:
    """The attribute that types a value, where the format has one."""
    if not tag.types:
        return ""
    if tag.stated == "boolean":
        return f' {tag.types}="{"true" if isinstance(value, str) else "false"}"'
    names = {str: "string", bool: "boolean", int: "number", float: "number", dict: "object", list: "array"}
    return f' {tag.types}="{"null" if value is None else names[type(value)]}"'
