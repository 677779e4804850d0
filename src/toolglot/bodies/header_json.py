"""header_json: a JSON object of arguments whose call is named by the header of its message."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from .._typing import Any
from ..calls import Reading
from ..dialect import Body
from ..faults import Cut
from ..jsonstream import Steps
from ..scanner import END, MORE, NONE
from .json_calls import read_arguments


def starts(reading: Reading, at: int, body: Body) -> int:
    """An object begins with its bracket."""
    return 1 if reading.source.text[at] == "{" else NONE


def read(reading: Reading) -> Steps:
    """Read the arguments of the call that the header named."""
    source = reading.source
    call = reading.start(reading.recipient)
    while True:
        found = source.follows(source.pos, reading.closers)
        if found != MORE:
            break
        yield
    if found >= 0 and reading.lenient:
        reading.repaired("a message without arguments", source.at, source.at)
        call.take("{}", 0)
        call.end()
        return
    if found == END:
        raise Cut("the text ends before the arguments")
    source.pos = source.follow_at
    yield from read_arguments(reading, call)


def write(calls: Sequence[tuple[str, Mapping[str, Any]]], body: Body) -> str:
    """The arguments of one call."""
    ((_, arguments),) = calls
    return json.dumps(arguments, ensure_ascii=False)
