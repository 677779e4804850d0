"""json_array: a JSON array of call objects; json_keyed: one of ``{NAME: arguments}`` objects.

Promises: each element that names a call is one; others are rejected and the calls around them stand.
An array without any call is not a body. The array's own bracket is the body's end.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from .._typing import TYPE_CHECKING, Any
from ..calls import Reading
from ..dialect import Body
from ..faults import Malformed
from ..jsonstream import Steps
from ..scanner import END, NONE
from .fences import close_fence, inside_fence, open_fence
from .json_calls import read_elements, write_object

if TYPE_CHECKING:
    from typing import Final

_FIRST: Final = ("{", "]", '"', "[", "-", *"0123456789", "t", "f", "n")


def starts(reading: Reading, at: int, body: Body) -> int:
    """An array begins with its bracket, and its first element is no name."""
    return _starts(reading, at, _FIRST)


def starts_keyed(reading: Reading, at: int, body: Body) -> int:
    """As ``starts``, where the first element is an object."""
    return _starts(reading, at, ("{", "]"))


def _starts(reading: Reading, at: int, first: tuple[str, ...]) -> int:
    source = reading.source
    inside = inside_fence(reading, at)
    if inside < 0:
        return inside
    if source.text[inside] != "[":
        return NONE
    found = source.follows(inside + 1, first)
    return 1 if found >= 0 or found == END else found


def read(reading: Reading) -> Steps:
    """Read one array and report its calls."""
    yield from _read(reading, keyed=False)


def read_keyed(reading: Reading) -> Steps:
    """Read one array of keyed objects and report their calls."""
    yield from _read(reading, keyed=True)


def _read(reading: Reading, keyed: bool) -> Steps:
    ledger = reading.channel.ledger
    fence = open_fence(reading)
    before = ledger.count
    filled = yield from read_elements(reading, keyed=keyed)
    if ledger.count == before:
        if filled or not (reading.marked and reading.lenient):
            raise Malformed("an array without a call")
        reading.commit()
        reading.reject("an array without a call")
    if fence:
        yield from close_fence(reading)


def write(calls: Sequence[tuple[str, Mapping[str, Any]]], body: Body) -> str:
    """The array of all calls."""
    written = (write_object(name, args, body, before) for before, (name, args) in enumerate(calls))
    return "[" + ", ".join(written) + "]"


def write_keyed(calls: Sequence[tuple[str, Mapping[str, Any]]], body: Body) -> str:
    """The array of all calls, each under its name."""
    written = (json.dumps({name: arguments}, ensure_ascii=False) for name, arguments in calls)
    return "[" + ", ".join(written) + "]"
