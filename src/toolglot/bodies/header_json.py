"""header_json: a JSON object of arguments whose call is named by the header of its message."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from .._typing import Any
from ..calls import Reading
from ..dialect import Body
from ..jsonstream import Steps
from ..scanner import NONE
from .json_arguments import read_arguments


def starts(reading: Reading, at: int, body: Body) -> int:
    """An object begins with its bracket."""
    return 1 if reading.source.text[at] == "{" else NONE


def read(reading: Reading) -> Steps:
    """Read the arguments of the call that the header named."""
    # One generator less is open all the while that a long argument comes.
    return read_arguments(reading, reading.start(reading.recipient), instead=reading.closers)


def write(calls: Sequence[tuple[str, Mapping[str, Any]]], body: Body) -> str:
    """The arguments of one call."""
    ((_, arguments),) = calls
    return json.dumps(arguments, ensure_ascii=False)
