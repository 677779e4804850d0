"""labelled_lines: a name, and on a later line a label with the call's input behind it.

Promises: an object is the arguments; any other input is one argument, under the only parameter that the
tool declares or else the key that the dialect names. Free text runs to the next label at the start of a
line, or to the end; a code fence around an input is left out.
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
from ..literals import json_string
from ..markers import Rope, marks
from ..scanner import BLANKS, END, MORE, NONE
from ..stops import NAME_STOP, holds

if TYPE_CHECKING:
    from typing import Final

_FENCE: Final = "```"


def starts(reading: Reading, at: int, body: Body) -> int:
    """A name, then the label of its input on another line."""
    source = reading.source
    end = source.name_end(at)
    if end == len(source.text):
        return NONE if source.eof or end - at > reading.limits.header else MORE
    found = source.follows(end, body.separators) if end > at else NONE
    if found < 0:
        return MORE if found == MORE else NONE
    return 1 if source.line_start(source.follow_at) else NONE


def read(reading: Reading) -> Steps:
    """Read a name and its input, and report the call."""
    source, body = reading.source, reading.body
    end = source.stop(NAME_STOP, source.pos)
    name = source.text[source.pos : end]
    found = source.follows(end, body.separators)
    source.pos = source.follow_at + len(body.separators[found])
    call = reading.start(name)
    fenced = yield from _fence(reading)
    found = yield from _ahead(reading, ("{",))
    if found == 0:
        source.pos = source.follow_at
        yield from reading.reader(sink=call).value()
        if fenced and (yield from _ahead(reading, (_FENCE,))) == 0:
            source.pos = source.follow_at + len(_FENCE)
    else:
        yield from _text(reading, call, fenced)
    call.end()


def _ahead(reading: Reading, options: tuple[str, ...]) -> Generator[None, None, int]:
    source = reading.source
    while True:
        found = source.follows(source.pos, options)
        if found == END and reading.finish_reason == "length":
            raise Cut("the text was cut inside the input")
        if found != MORE:
            return found
        yield


def _fence(reading: Reading) -> Generator[None, None, bool]:
    """Pass a fence's first line, where one opens the input."""
    source = reading.source
    if (yield from _ahead(reading, (_FENCE,))) != 0:
        return False
    while True:
        end = source.line_end(source.follow_at, reading.limits.header)
        if end >= 0:
            source.pos = end
            return True
        if source.eof or len(source.text) - source.pos > reading.limits.header:
            raise Malformed("a code fence without a line")
        yield
        source.follows(source.pos, (_FENCE,))


def _text(reading: Reading, call: Call, fenced: bool) -> Steps:
    """Read an input that is no object."""
    source = reading.source
    text = Rope()
    ends = marks((_FENCE,) if fenced else reading.lines)
    while True:
        at = source.find(ends, source.pos)
        to = len(source.text) if at < 0 else at
        text.append(source.text[source.pos : to])
        source.pos = to
        if at < 0 or source.hit is None:
            if source.eof:
                if reading.finish_reason == "length":
                    raise Cut("the text was cut inside the input")
                text.append(source.text[to:])
                source.pos = len(source.text)
                break
            yield
        elif source.line_start(at):
            break
        else:
            text.append(source.text[at])
            source.pos += 1
    if fenced and source.pos < len(source.text):
        source.pos += len(_FENCE)
    value = text.text().strip(BLANKS)
    if not value:
        call.take("{}", 0)
        return
    key = reading.body.text_key
    if call.tool is not None and not call.tool.declares(key):
        key = call.tool.only or key
    typed = reading.param(call.tool, key).typed(value)
    call.take("{" + json_string(key) + ": " + typed.json + "}", 0)


def write(calls: Sequence[tuple[str, Mapping[str, Any]]], body: Body) -> str:
    """Name, label and arguments of one call."""
    ((name, arguments),) = calls
    if not name or holds(NAME_STOP, name):
        raise RenderError(f"the name {name!r} cannot be told from what follows it")
    return f"{name}{body.line}{body.separators[0]} {json.dumps(arguments, ensure_ascii=False)}"
