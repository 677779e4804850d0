"""tagged: a tag with the call's name, and one element per argument with raw text inside.

Promises: where a value ends is decided by what can follow (``rawvalue``). A declared string streams
while it is written; other values go out at their close, typed by a type attribute or the schema. The
arguments may also stand as one JSON object: by the dialect's data, or as a repair.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Mapping, Sequence
from typing import Any, Final

from ..calls import Call, Reading
from ..dialect import Body, Tag
from ..errors import RenderError
from ..faults import Cut, Malformed
from ..jsonstream import Steps
from ..literals import json_string
from ..scanner import END, MORE, NONE
from ..schema import STRING, UNDECLARED, Param
from .rawvalue import Frame, RawValue
from .tags import Tagged, read_tag, tag_at

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
    tag, own = _tags(reading.body)
    head = yield from read_tag(reading, tag)
    reading.known(head.name)
    if head.empty:
        call = reading.start(head.name)
        call.take("{}", 0)
        call.end()
        return
    json_inside = reading.lenient or reading.body.inside == "json"
    follow = (
        own.open,
        tag.end,
        *(("{",) if json_inside else ()),
        *(reading.closers if reading.lenient else ()),
    )
    found = yield from _ahead(reading, follow)
    if found == NONE:
        raise Malformed(f"expected {own.open!r} or {tag.end!r}")
    call = reading.start(head.name)
    source.pos = source.follow_at
    if follow[found] == "{":
        yield from reading.reader(sink=call).value()
        found = yield from _ahead(reading, follow)
        source.pos = source.follow_at
    else:
        found = yield from _params(reading, call, follow, found)
    if found == 1:
        source.pos += len(tag.end)
    elif found == NONE or follow[found] not in reading.closers:
        raise Malformed(f"expected {tag.end!r}")
    else:
        reading.missing_close(tag.end, call.index)
    call.end()


def _params(reading: Reading, call: Call, follow: tuple[str, ...], found: int) -> Generator[None, None, int]:
    """Read all parameters; what stands behind them."""
    source = reading.source
    tag, own = _tags(reading.body)

    def sibling(at: int) -> int:
        found = tag_at(source, at, own, reading.limits.header)
        if not isinstance(found, Tagged):
            return found
        tool = call.tool
        return 1 if tool is None or tool.open or tool.declares(found.name) else NONE

    frame = Frame((own.end,), (own.open,), sibling, (tag.end,), (tag.open,))
    while found == 0:
        param = yield from read_tag(reading, own)
        reading.channel.settle(source.at)
        call.take(("{" if call.empty else ", ") + json_string(param.name) + ": ", 0)
        if param.empty:
            call.take('""', 0)
        else:
            yield from RawValue(reading, call, _param(reading, call, param, own), frame).read()
        found = yield from _ahead(reading, follow)
        if found == NONE:
            raise Malformed(f"expected {own.open!r} or {tag.end!r}")
        source.pos = source.follow_at
    call.take("{}" if call.empty else "}", 0)
    return found


def _param(reading: Reading, call: Call, tagged: Tagged, tag: Tag) -> Param:
    """The type of a parameter: by its attribute where the format has one, else by the schema."""
    declared = reading.param(call.tool, tagged.name)
    stated = tagged.attribute(tag.types) if tag.types else ""
    if not stated:
        return declared
    if stated in ("true", "string"):
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
        yield


def write(calls: Sequence[tuple[str, Mapping[str, Any]]], body: Body) -> str:
    """The function elements of ``calls``."""
    tag, own = _tags(body)
    edge = _NEWLINE if body.trim == "newline" else ""
    lines: list[str] = []
    for name, arguments in calls:
        lines.append(_open(tag, name, ""))
        for key, value in arguments.items():
            text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            lines.append(f"{_open(own, key, _stated(own, value))}{edge}{text}{edge}{own.end}")
        lines.append(tag.end)
    return body.line.join(lines)


def _open(tag: Tag, name: str, stated: str) -> str:
    if tag.close in name or _NEWLINE in name or (tag.style == "attribute" and '"' in name):
        raise RenderError(f"the name {name!r} cannot stand in {tag.open!r}")
    return tag.open + (f'"{name}"' if tag.style == "attribute" else name) + stated + tag.close


def _stated(tag: Tag, value: Any) -> str:
    """The attribute that types a value, where the format has one."""
    if not tag.types:
        return ""
    if tag.stated == "boolean":
        return f' {tag.types}="{"true" if isinstance(value, str) else "false"}"'
    names = {str: "string", bool: "boolean", int: "number", float: "number", dict: "object", list: "array"}
    return f' {tag.types}="{"null" if value is None else names[type(value)]}"'
