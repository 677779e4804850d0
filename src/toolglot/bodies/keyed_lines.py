"""keyed_lines: an offered tool's name on a line of its own, then ``key: value`` lines.

Promises: needs the offered names and at least one keyed line; one call only. Values run to the line's
end, trimmed, without one trailing comma and one layer of quotes; the schema types them, else numbers,
booleans and null keep their type. The first line that is not keyed ends the call and is left.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence

from .._typing import TYPE_CHECKING, Any
from ..calls import Call, Reading
from ..dialect import Body
from ..errors import RenderError
from ..events import DefectKind
from ..faults import Cut, Malformed, OverLimit
from ..jsonstream import Steps
from ..jsontext import is_number
from ..literals import json_string
from ..pieces import key_line
from ..scanner import BLANKS, MORE, NONE

if TYPE_CHECKING:
    from typing import Final

_QUOTES: Final = {'"': '"', "'": "'", "“": "”", "‘": "’"}
_WORDS: Final = frozenset({"true", "false", "null"})


def starts(reading: Reading, at: int, body: Body) -> int:
    """The line of ``at`` is an offered name and nothing else."""
    source, tools = reading.source, reading.tools
    if tools is None or not any(name.startswith(source.text[at]) for name in tools.names):
        return NONE
    end = source.line_end(at, reading.limits.header)
    line = source.text[at : end if end >= 0 else len(source.text)].strip(BLANKS)
    if end >= 0:
        return 1 if line in tools.names else NONE
    return MORE if end == MORE and any(name.startswith(line) for name in tools.names) else NONE


def read(reading: Reading) -> Steps:
    """Read the name line and the keyed lines, and report the call."""
    source = reading.source
    line = yield from _line(reading)
    name = line.strip(BLANKS)
    source.pos += len(line)
    call: Call | None = None
    while source.pos < len(source.text) or not source.eof:
        line = yield from _line(reading)
        keyed = key_line(line)
        if keyed is None and line.strip(BLANKS):
            break
        if keyed is not None:
            if call is None:
                call = reading.start(name)
            _argument(reading, call, keyed[0], keyed[1].strip(BLANKS))
        source.pos += len(line)
    if call is None:
        raise Malformed("no keyed line after the name")
    call.take("}", 0)
    call.end()


def _line(reading: Reading) -> Generator[None, None, str]:
    """The line at the cursor, with its newline; what is left of a text that has ended."""
    source = reading.source
    ahead = 0
    while True:
        end = source.line_end(source.pos + ahead, reading.limits.held)
        if end >= 0:
            return source.text[source.pos : end]
        if source.eof:
            if reading.finish_reason == "length":
                raise Cut("the text was cut inside a line")
            return source.text[source.pos :]
        ahead = len(source.text) - source.pos
        if ahead > reading.limits.held:
            raise OverLimit("a line is longer than the limit allows")
        yield


def _argument(reading: Reading, call: Call, key: str, text: str) -> None:
    text = text[:-1].rstrip(BLANKS) if text.endswith(",") else text
    quoted = len(text) > 1 and _QUOTES.get(text[0]) == text[-1]
    text = text[1:-1] if quoted else text
    param = reading.param(call.tool, key)
    if quoted or param.is_string:
        written, fits = json_string(text), True
    elif call.tool is not None and call.tool.declares(key):
        typed = param.typed(text)
        written, fits = typed.json, typed.ok
    else:
        written, fits = (text if is_number(text) or text in _WORDS else json_string(text)), True
    call.take(("{" if call.empty else ", ") + f"{json_string(key)}: {written}", 0)
    if not fits:
        at = reading.source.at
        reading.channel.defect(
            DefectKind.WRONG_TYPE, at, at, f"{key!r} is not of its declared type", call.index
        )


def write(calls: Sequence[tuple[str, Mapping[str, Any]]], body: Body) -> str:
    """The lines of one call."""
    ((name, arguments),) = calls
    lines = [name]
    for key, value in arguments.items():
        if isinstance(value, str):
            text = f'"{value}"'
        elif value is None or isinstance(value, (bool, int, float)):
            text = "null" if value is None else str(value).lower() if isinstance(value, bool) else repr(value)
        else:
            raise RenderError("keyed lines hold no lists or objects")
        if "\n" in text or key_line(f"{key}:") != (key, ""):
            raise RenderError(f"{key!r} cannot be written on one line")
        lines.append(f"{key}: {text}")
    if len(lines) == 1:
        raise RenderError("a call without arguments cannot be told from a word")
    return "\n".join(lines)
