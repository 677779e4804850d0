"""positional_text: a label, then a body whose first word is the name; the rest is an object or free text.

Promises: an object is the arguments; other text is the one argument that the dialect names, raw, up to
the call's close: one at the start of a line, or with nothing but another call behind it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from .._typing import TYPE_CHECKING, Any
from ..calls import Reading
from ..dialect import Body
from ..errors import RenderError
from ..faults import Cut
from ..jsonstream import Steps
from ..literals import json_string
from ..scanner import BLANKS, END, MORE, NONE
from ..schema import STRING
from ..stops import NAME_STOP, holds, one_of
from .fences import inside_fence
from .json_arguments import read_arguments
from .rawvalue import Frame, RawValue

if TYPE_CHECKING:
    from typing import Final

_NEWLINE: Final = "\n"


def starts(reading: Reading, at: int, body: Body) -> int:
    """A label and its end, then a word on a new line."""
    source = reading.source
    mark = body.separators[0]
    end = source.stop(one_of(mark[0] + _NEWLINE + "<"), at)
    if end == len(source.text):
        return NONE if source.eof or end - at > reading.limits.header else MORE
    found = source.starts(end, mark)
    if found != 1:
        return found
    line = source.stop(one_of("\n"), end)
    word = source.skip(end + len(mark))
    if word < len(source.text) and line > word:
        return NONE
    if word == len(source.text):
        return 1 if source.eof else MORE
    stop = source.name_end(word)
    if stop == len(source.text):
        return 1 if source.eof else MORE if stop - word <= reading.limits.header else NONE
    return 1 if stop > word and source.text[stop] in BLANKS + mark[0] + "<{" else NONE


def read(reading: Reading) -> Steps:
    """Read one body and report its call."""
    source, mark = reading.source, reading.body.separators[0]
    source.pos = source.stop(one_of(mark[0]), source.pos) + len(mark)
    source.pos = source.skip(source.pos)
    end = source.stop(NAME_STOP, source.pos)
    if end == len(source.text):
        raise Cut("the text ends before the arguments")
    name = source.text[source.pos : end]
    source.pos = end
    call = reading.start(name)
    while True:
        found = source.follows(source.pos, ("{", "[", *reading.closers))
        if found == NONE:
            found = _fenced(reading, source.follow_at)
        if found != MORE:
            break
        yield
    if found == END:
        raise Cut("the text ends before the arguments")
    if 0 <= found <= 1:
        source.pos = source.follow_at
        yield from read_arguments(reading, call)
        return
    if found > 1:
        call.take("{}", 0)
    else:
        source.pos = source.follow_at
        reading.channel.settle(source.at)
        call.take("{" + json_string(reading.body.text_key) + ": ", 0)
        value = RawValue(reading, call, STRING, Frame(reading.closers, kind="rest"))
        value.anchored = True
        yield from value.read()
        call.take("}", 0)
    call.end()


def _fenced(reading: Reading, at: int) -> int:
    """0 where a fence at local index ``at`` holds an object; ``MORE`` where it may, else ``NONE``."""
    inside = inside_fence(reading, at)
    if inside < 0:
        return inside
    return 0 if reading.source.text[inside] == "{" else NONE


def write(calls: Sequence[tuple[str, Mapping[str, Any]]], body: Body) -> str:
    """Label, name and arguments of one call."""
    ((name, arguments),) = calls
    if not name or holds(NAME_STOP, name):
        raise RenderError(f"the name {name!r} cannot be told from what follows it")
    rest = json.dumps(arguments, ensure_ascii=False)
    return f" function{body.separators[0]}{body.line}{name} {rest}{body.line}"
