"""pythonic: calls in Python's syntax, a bracketed list of them or one alone. Parsed, never evaluated.

Promises: keyword arguments with Python or JSON literals, raw line breaks and curly quotes in strings,
any word as a parameter's name, dotted names. A positional argument is left out and reported; where a
required parameter had no other source, there is no call. An element that is no call refutes a list; an
unmarked one also an element that gives no call. Brackets that are missing before the close marker are
supplied as a repair. Calls may also stand one a line, and inside a call that the dialect says only wraps
them.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Mapping, Sequence

from .._typing import TYPE_CHECKING, Any
from ..calls import Reading
from ..dialect import Body
from ..errors import RenderError
from ..events import DefectKind
from ..faults import Cut, Malformed
from ..jsonstream import Steps
from ..literals import json_string
from ..scanner import END, MORE, NONE
from ..stops import WORD_STOP, holds
from .pythonvalue import PythonReader

if TYPE_CHECKING:
    from typing import Final

_MISSING: Final = "closing bracket missing before the close marker"


def starts(reading: Reading, at: int, body: Body) -> int:
    """A list begins with its bracket and a name that a parenthesis follows."""
    source = reading.source
    if source.text[at] != "[":
        return NONE
    at = source.skip(at + 1)
    return starts_call(reading, at, body) if at < len(source.text) else NONE if source.eof else MORE


def starts_call(reading: Reading, at: int, body: Body) -> int:
    """A call begins with a name and its parenthesis."""
    source = reading.source
    end = source.stop(WORD_STOP, at)
    if end == len(source.text):
        return NONE if source.eof or end - at > reading.limits.header else MORE
    if end == at or end - at > reading.limits.header or source.text[end] != "(":
        return NONE
    word = source.text[at:end]
    if word in body.wrappers:
        inside = source.skip(end + 1)
        if inside == len(source.text):
            return NONE if source.eof else MORE
        return starts_call(reading, inside, body)
    return 1 if word.endswith(body.suffix) and len(word) > len(body.suffix) else NONE


def read(reading: Reading) -> Steps:
    """Read one list and report its calls."""
    source = reading.source
    source.pos += 1
    while True:
        yield from _ahead(reading, ())
        source.pos = source.follow_at
        yield from read_call(reading, alone=False)
        found = yield from _ahead(reading, (",", "]", *(reading.closers if reading.lenient else ())))
        if found == NONE:
            raise Malformed("expected ',' or ']' after a call")
        if found > 1:
            reading.repaired(_MISSING, source.at, source.at)
            return
        source.pos = source.follow_at + 1
        if found == 0:
            found = yield from _ahead(reading, ("]",))
            if found == NONE:
                continue
            source.pos = source.follow_at + 1
        return


def _ahead(reading: Reading, options: tuple[str, ...]) -> Generator[None, None, int]:
    source = reading.source
    while True:
        found = source.follows(source.pos, options)
        if found == END:
            raise Cut("the text ends inside a call")
        if found != MORE:
            return found
        yield


def read_lines(reading: Reading) -> Steps:
    """Read calls one after another and report them."""
    source, channel = reading.source, reading.channel
    while True:
        yield from read_call(reading, alone=False)
        while True:
            at = source.skip(source.pos)
            found = MORE if at == len(source.text) else starts_call(reading, at, reading.body)
            if found != MORE or source.eof:
                break
            yield
        if found != 1:
            return
        channel.settle(source.at)
        source.pos = at


def read_call(reading: Reading, alone: bool = True) -> Steps:
    """Read one call and report it; ``alone`` where no list speaks for it."""
    source, channel = reading.source, reading.channel
    name = yield from _word(reading)
    depth = 0
    while name in reading.body.wrappers and source.text[source.pos] == "(":
        depth += 1
        source.pos = source.skip(source.pos + 1)
        name = yield from _word(reading)
    if not name or source.text[source.pos] != "(":
        raise Malformed("expected a name and '('")
    call = reading.start(name.removesuffix(reading.body.suffix))
    source.pos += 1
    reader = PythonReader(reading)
    given: set[str] = set()
    dropped = missing = False
    while not missing:
        found = yield from _ahead(reading, (")",))
        if found == 0:
            break
        channel.settle(source.at)
        source.pos = source.follow_at
        key = yield from _keyword(reading)
        if key:
            channel.settle(source.at)
            call.take(("{" if call.empty else ", ") + json_string(key) + ": ", 0)
            given.add(key)
            reader.sink = call
            reader.param = reading.param(call.tool, key)
            yield from reader.value()
        else:
            dropped = True
            start = source.at
            reader.sink = reading.reader().sink
            yield from reader.value()
            channel.defect(
                DefectKind.POSITIONAL_ARGUMENT,
                start,
                source.at,
                "only keyword arguments are read",
                call.index,
            )
        found = yield from _ahead(reading, (",", ")"))
        if found == NONE:
            missing = yield from _unclosed(reading)
            if not missing:
                raise Malformed("expected ',' or ')' after an argument")
            reading.repaired(_MISSING, source.at, source.at)
        if found == 0:
            source.pos = source.follow_at + 1
    call.take("{}" if call.empty else "}", 0)
    if not missing:
        source.pos = source.follow_at + 1
    for _ in range(depth):
        if (yield from _ahead(reading, (")",))) != 0:
            raise Malformed("expected ')' behind the wrapped call")
        source.pos = source.follow_at + 1
    if dropped and not given and call.tool is None and not reading.marked:
        raise Malformed("no argument of a call that nothing speaks for can be read")
    if dropped and call.tool is not None and call.tool.required - given:
        detail = "a required argument was given by position only"
        if alone or not reading.marked:
            raise Malformed(detail)
        reading.abandon(call, DefectKind.MALFORMED_CALL, detail)
    else:
        call.end()


def _unclosed(reading: Reading) -> Generator[None, None, bool]:
    """Whether the close marker follows an argument, or the list's bracket and then the close marker."""
    source = reading.source
    while reading.lenient:
        found = source.follows(source.pos, ("]", *reading.closers))
        if found == 0:
            found = source.follows(source.follow_at + 1, reading.closers)
        if found != MORE:
            return found >= 0
        yield
    return False


def _word(reading: Reading) -> Generator[None, None, str]:
    """The name at the cursor, and past it."""
    source = reading.source
    ahead = 0
    while True:
        end = source.stop(WORD_STOP, source.pos + ahead)
        if end < len(source.text):
            word = source.text[source.pos : end]
            source.pos = end
            return word
        if source.eof:
            raise Cut("the text ends inside a name")
        ahead = end - source.pos
        if ahead > reading.limits.header:
            raise Malformed("the name is too long")
        yield


def _keyword(reading: Reading) -> Generator[None, None, str]:
    """The name of a keyword argument, and past its '='; empty where the argument has none."""
    source = reading.source
    ahead = 0
    while True:
        end = source.stop(WORD_STOP, source.pos + ahead)
        if end < len(source.text):
            found = source.follows(end, ("==", "=>", "="))
            if found != MORE:
                break
        elif source.eof:
            raise Cut("the text ends inside an argument")
        elif end - source.pos > reading.limits.header:
            return ""
        yield
    if found != 2 or end == source.pos:
        return ""
    key = source.text[source.pos : end]
    source.pos = source.follow_at + 1
    return key


def write(calls: Sequence[tuple[str, Mapping[str, Any]]], body: Body) -> str:
    """The list of all calls."""
    return "[" + ", ".join(_call(name, arguments, body) for name, arguments in calls) + "]"


def write_lines(calls: Sequence[tuple[str, Mapping[str, Any]]], body: Body) -> str:
    """All calls, one a line."""
    return body.line.join(_call(name, arguments, body) for name, arguments in calls)


def write_call(calls: Sequence[tuple[str, Mapping[str, Any]]], body: Body) -> str:
    """One call, bare."""
    ((name, arguments),) = calls
    return _call(name, arguments, body)


def _call(name: str, arguments: Mapping[str, Any], body: Body) -> str:
    for word in (name, *arguments):
        if not word or holds(WORD_STOP, word):
            raise RenderError(f"{word!r} cannot be written as a name in Python's syntax")
    return f"{name}{body.suffix}({', '.join(f'{key}={_literal(value)}' for key, value in arguments.items())})"


def _literal(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return repr(value)
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_literal(str(key))}: {_literal(item)}" for key, item in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_literal(item) for item in value) + "]"
    return json.dumps(value)
