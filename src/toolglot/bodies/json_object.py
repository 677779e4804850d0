"""json_object: one JSON object that holds a call's name and arguments.

Promises: the object's own end is the body's end. Where the dialect names such keys, the call may stand
in a wrapping object, or calls in a list; how a call is made of them is in ``json_calls``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..calls import Reading
from ..dialect import Body
from ..jsonstream import Steps
from ..scanner import NONE
from .json_calls import CallObject, close_fence, inside_fence, open_fence, write_object


def starts(reading: Reading, at: int, body: Body) -> int:
    """An object begins with its bracket, or with a fence in front of it."""
    inside = inside_fence(reading, at)
    if inside < 0:
        return inside
    return 1 if reading.source.text[inside] == "{" else NONE


def read(reading: Reading) -> Steps:
    """Read one object and report its call."""
    fence = open_fence(reading)
    tap = CallObject(reading)
    yield from reading.reader(tap=tap).value()
    tap.finish()
    if fence:
        yield from close_fence(reading)


def write(calls: Sequence[tuple[str, Mapping[str, Any]]], body: Body) -> str:
    """The object of one call."""
    return ", ".join(write_object(name, arguments, body) for name, arguments in calls)
