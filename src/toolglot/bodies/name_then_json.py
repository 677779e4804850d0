"""name_then_json: a name as text, perhaps an id, a separator, then the arguments as a JSON object.

Promises: the object's own end is the end of the arguments, whatever a string in it holds. The id may
stand behind the name, before it, or have the name as a part of it. Words in front of the name and what
is written behind the object are the dialect's, and may be left out.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Mapping, Sequence

from .._typing import Any
from ..calls import Reading
from ..dialect import Body
from ..errors import RenderError
from ..faults import Cut, Malformed
from ..jsonstream import Steps
from ..pieces import before_counter
from ..scanner import BLANKS, END, MORE, NONE, Source
from ..stops import NAME_STOP, holds
from .json_arguments import arguments_start, read_arguments

_OBJECT = "{"


def starts(reading: Reading, at: int, body: Body) -> int:
    """A name, then the id mark, or a separator and the object."""
    source, separators = reading.source, _separators(body)
    at = _name_at(source, at, body)
    if at < 0:
        return at
    end = source.name_end(at)
    offered = reading.offered(source.text[at:end])
    # A blank sets off any word: behind an opener of the prompt only a tool's name was cut.
    cut = 1 if separators or offered or source.base + at > 0 else NONE
    if end == len(source.text):
        return cut if source.eof else MORE if end - at <= reading.limits.header else NONE
    if end == at or end - at > reading.limits.header:
        return NONE
    marks = _marks(reading, body)
    found = source.follows(end, marks)
    if not _set_off(body, source.text[end : source.follow_at]) and source.follow_at < len(source.text):
        return NONE
    parted = offered and not separators
    for _ in separators:
        if not 0 <= found < len(separators):
            break
        parted = True
        found = source.follows(source.follow_at + len(marks[found]), marks)
    if found == NONE and parted:
        found = arguments_start(reading, source.follow_at)
    return 1 if found >= 0 else cut if found == END else found


def _set_off(body: Body, blanks: str) -> bool:
    """Whether the name ends at ``blanks``: separators that are no more must really stand there."""
    return bool(_separators(body)) or not body.separators or any(mark in blanks for mark in body.separators)


def _name_at(source: Source, at: int, body: Body) -> int:
    """Where the name begins: behind a word of the format where one stands; ``MORE`` where it may yet."""
    for prefix in body.prefixes if body.id_at != "around_name" else ():
        found = source.starts(at, prefix)
        if found != NONE:
            return source.skip(at + len(prefix)) if found == 1 else MORE
    return at


def _separators(body: Body) -> tuple[str, ...]:
    return tuple(filter(None, (mark.strip(BLANKS) for mark in body.separators)))


def _marks(reading: Reading, body: Body) -> tuple[str, ...]:
    """What may follow a name: separators, the object, an id, and the end where that means no arguments."""
    ids = body.id_mark if body.id_at != "around_name" else ()
    closers = (*_endings(body), *reading.closers) if body.empty == "object" or reading.lenient else ()
    return (*_separators(body), _OBJECT, *ids, *closers)


def _endings(body: Body) -> tuple[str, ...]:
    return tuple(filter(None, (mark.strip(BLANKS) for mark in body.endings)))


def read(reading: Reading) -> Steps:
    """Read one name and its arguments, and report the call."""
    source, body = reading.source, reading.body
    source.pos = _name_at(source, source.pos, body)
    name = yield from _token(reading)
    own_id: str | None = None
    if body.id_at == "around_name":
        name, own_id = _inside(reading, name), name
    parted = not _separators(body) and reading.offered(name)
    mark = yield from _mark(reading, parted)
    if mark in body.id_mark and body.id_at != "around_name":
        token = yield from _token(reading)
        name, own_id = (token, name) if body.id_at == "before_name" else (name, token)
        mark = yield from _mark(reading, parted)
    for _ in _separators(body):
        if mark not in _separators(body):
            break
        mark = yield from _mark(reading, parted=True)
    if mark in body.id_mark or mark in _separators(body):
        raise Malformed(f"the arguments are missing behind {mark!r}")
    call = reading.start(name, own_id)
    if mark == _OBJECT:
        yield from read_arguments(reading, call, _endings(body))
    else:
        if body.empty != "object":
            reading.repaired("a call without arguments", source.at, source.at)
        call.take("{}", 0)
        call.end()
    yield from _pass_ending(reading)


def _inside(reading: Reading, header: str) -> str:
    """The name in an id: without the word in front and the counter behind, as far as a tool is offered.

    The first spellings are what the format writes; others count where they lead to a tool.
    """
    body = reading.body
    stems = [header.removeprefix(prefix) for prefix in (*body.prefixes, "")]
    names = [before_counter(stem, mark) for stem in stems for mark in body.id_mark] + stems
    return next((name for name in names if name and reading.offered(name)), names[0] or header)


def _mark(reading: Reading, parted: bool) -> Generator[None, None, str]:
    """Pass the next mark, but for the object's bracket and what ends a call.

    ``parted``: whether arguments must follow, so that other values stand for an object as well.
    """
    source = reading.source
    marks = _marks(reading, reading.body)
    while True:
        found = source.follows(source.pos, marks)
        at = source.follow_at
        if found == NONE and parted:
            found = arguments_start(reading, at)
            if found == 1:
                source.pos = at
                return _OBJECT
        if found == END:
            raise Cut("the text ends before the arguments")
        if found == NONE:
            raise Malformed("no arguments after the name")
        if found >= 0:
            break
        yield
    mark = marks[found]
    source.pos = at
    if mark in _separators(reading.body) or mark in reading.body.id_mark:
        source.pos += len(mark)
    return mark


def _token(reading: Reading) -> Generator[None, None, str]:
    """The name or id at the cursor."""
    source = reading.source
    ahead = 0
    while True:
        end = source.stop(NAME_STOP, source.pos + ahead)
        if end < len(source.text):
            break
        if source.eof:
            raise Cut("the text ends inside a name")
        ahead = end - source.pos
        if ahead > reading.limits.header:
            raise Malformed("the name is too long")
        yield
    token = source.text[source.pos : end]
    source.pos = end
    return token


def _pass_ending(reading: Reading) -> Steps:
    """Pass what the format writes behind the arguments, where it stands."""
    source, endings = reading.source, _endings(reading.body)
    found = MORE if endings else NONE
    while found == MORE:
        found = source.follows(source.pos, endings)
        if found == MORE:
            yield
    if found >= 0:
        reading.channel.markup(source.follow_at + len(endings[found]))


def write(calls: Sequence[tuple[str, Mapping[str, Any]]], body: Body, before: int = 0) -> str:
    """Name, id where the format has one, separator and object of a call; ``before``: how many precede it."""
    ((name, arguments),) = calls
    if not name or holds(NAME_STOP, name):
        raise RenderError(f"the name {name!r} cannot be told from what follows it")
    if body.id_at == "around_name":
        name = f"{body.prefixes[0]}{name}{body.id_mark[0]}{before}"
    elif body.id_at == "before_name":
        name = f"call{before:05}{body.id_mark[0]}{name}"
    word = "" if body.id_at == "around_name" else "".join(body.prefixes[:1])
    separator, ending = ("".join(marks[:1]) for marks in (body.separators, body.endings))
    return f"{word}{name}{separator}{json.dumps(arguments, ensure_ascii=False)}{ending}"
