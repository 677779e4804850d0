"""name_then_json: a name as text, perhaps an id, a separator, then the arguments as a JSON object."""

from __future__ import annotations

import json
from collections.abc import Generator, Mapping, Sequence
from typing import Any

from ..calls import Reading
from ..dialect import Body
from ..errors import RenderError
from ..faults import Cut, Malformed
from ..jsonstream import Steps
from ..scanner import END, MORE, NAME_STOP, NONE, holds


def starts(reading: Reading, at: int, body: Body) -> int:
    """A name, then the id mark, a separator or the object."""
    source = reading.source
    end = source.stop(NAME_STOP, at)
    if end == at:
        return NONE
    if end == len(source.text):
        return 1 if source.eof else MORE if end - at <= reading.limits.header else NONE
    found = source.follows(end, _marks(body))
    return 1 if found >= 0 or found == END else found


def _marks(body: Body) -> tuple[str, ...]:
    return tuple(mark for mark in (body.id_mark, *body.separators, "{") if mark)


def read(reading: Reading) -> Steps:
    """Read one name and its arguments, and report the call."""
    source, body = reading.source, reading.body
    end = source.stop(NAME_STOP, source.pos)
    name = source.text[source.pos : end]
    source.pos = end
    own_id: str | None = None
    mark = yield from _mark(reading)
    if mark == body.id_mark and mark:
        own_id = yield from _token(reading)
        mark = yield from _mark(reading)
    if mark != "{":
        mark = yield from _ahead(reading, ("{",))
    if mark != "{":
        raise Malformed("the arguments are not a JSON object")
    source.pos = source.follow_at
    call = reading.start(name, own_id)
    yield from reading.reader(sink=call).value()
    call.end()


def _ahead(reading: Reading, options: tuple[str, ...]) -> Generator[None, None, str]:
    source = reading.source
    while True:
        found = source.follows(source.pos, options)
        if found == END:
            raise Cut("the text ends before the arguments")
        if found != MORE:
            return options[found] if found >= 0 else ""
        yield


def _mark(reading: Reading) -> Generator[None, None, str]:
    """Pass the next mark, unless it is the object itself."""
    source = reading.source
    mark = yield from _ahead(reading, _marks(reading.body))
    if not mark:
        raise Malformed("no arguments after the name")
    source.pos = source.follow_at + (len(mark) if mark != "{" else 0)
    return mark


def _token(reading: Reading) -> Generator[None, None, str]:
    source = reading.source
    ahead = 0
    while True:
        end = source.stop(NAME_STOP, source.pos + ahead)
        if end < len(source.text):
            break
        if source.eof:
            raise Cut("the text ends inside an id")
        ahead = end - source.pos
        if ahead > reading.limits.header:
            raise Malformed("the id is too long")
        yield
    token = source.text[source.pos : end]
    source.pos = end
    return token


def write(calls: Sequence[tuple[str, Mapping[str, Any]]], body: Body) -> str:
    """Name, first separator and object of one call."""
    ((name, arguments),) = calls
    if not name or holds(NAME_STOP, name):
        raise RenderError(f"the name {name!r} cannot be told from what follows it")
    separator = body.separators[0] if body.separators else ""
    return f"{name}{separator}{json.dumps(arguments, ensure_ascii=False)}"
