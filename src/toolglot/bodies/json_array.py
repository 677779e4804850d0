"""json_array: a JSON array of call objects.

Promises: each element that names a call is one; others are rejected and the calls around them stand.
An array without any call is not a body. The array's own bracket is the body's end.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from typing import Any

from ..calls import Reading
from ..dialect import Body
from ..faults import Cut, Malformed
from ..jsonstream import Steps
from ..scanner import END, MORE, NONE
from .json_object import CallObject, write_object


def starts(reading: Reading, at: int, body: Body) -> int:
    """An array begins with its bracket, and its first element is no name."""
    source = reading.source
    if source.text[at] != "[":
        return NONE
    found = source.follows(at + 1, ("{", "]", '"', "[", "-", *"0123456789", "t", "f", "n"))
    return 1 if found >= 0 or found == END else found


def read(reading: Reading) -> Steps:
    """Read one array and report its calls."""
    source, channel = reading.source, reading.channel
    before = channel.ledger.count
    source.pos += 1
    found = yield from _ahead(reading, ("]",))
    if found == 0:
        source.pos = source.follow_at + 1
        if not (reading.marked and reading.lenient):
            raise Malformed("an array without a call")
        reading.commit()
        reading.reject("an array without a call")
        return
    while True:
        yield from _element(reading)
        found = yield from _ahead(reading, (",", "]", *reading.closers))
        if found > 1 and reading.lenient:
            reading.repaired("closing bracket missing before the close marker", source.at, source.at)
            source.pos = source.follow_at
            break
        if found < 0 or found > 1:
            raise Malformed("expected ',' or ']'")
        source.pos = source.follow_at + 1
        if found == 1:
            break
        if reading.lenient and (yield from _ahead(reading, ("]",))) == 0:
            reading.repaired("trailing comma", source.at - 1, source.at)
            source.pos = source.follow_at + 1
            break
    if channel.ledger.count == before:
        raise Malformed("an array without a call")


def _ahead(reading: Reading, options: tuple[str, ...]) -> Generator[None, None, int]:
    source = reading.source
    while True:
        found = source.follows(source.pos, options)
        if found == END:
            raise Cut("the text ends inside an array")
        if found != MORE:
            return found
        yield


def _element(reading: Reading) -> Steps:
    source = reading.source
    start = source.at
    yield from _ahead(reading, ())
    source.pos = source.follow_at
    if source.text[source.pos] != "{":
        yield from reading.reader().value()
        reading.noise(start, "an element that is no call")
        return
    tap = CallObject(reading)
    yield from reading.reader(tap=tap).value()
    if tap.nameless:
        reading.noise(start, tap.nameless)
    else:
        tap.finish()


def write(calls: Sequence[tuple[str, Mapping[str, Any]]], body: Body) -> str:
    """The array of all calls."""
    return "[" + ", ".join(write_object(name, arguments, body) for name, arguments in calls) + "]"
