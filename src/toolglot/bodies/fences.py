"""Fences: a code fence around a body, which a lenient reader passes as a repair.

Promises: nothing of a fence is claimed before the body that it stands around begins.

Does not: read fences in an answer (``answers``).
"""

from __future__ import annotations

from .._typing import TYPE_CHECKING
from ..calls import Reading
from ..jsonstream import Steps
from ..scanner import MORE, NONE

if TYPE_CHECKING:
    from typing import Final

FENCE: Final = "```"


def inside_fence(reading: Reading, at: int) -> int:
    """Local index where the JSON begins that stands at ``at``, or for a lenient reader in a fence there.

    ``NONE`` where no JSON can begin there, ``MORE`` where that cannot be told yet.
    """
    source = reading.source
    if source.text[at] != "`":
        return at
    if not reading.lenient:
        return NONE
    fence = source.starts(at, FENCE)
    if fence != 1:
        return fence
    line = source.line_end(at, reading.limits.header)
    if line < 0:
        return MORE if line == MORE and len(source.text) - at <= reading.limits.header else NONE
    inside = source.skip(line)
    if inside >= len(source.text):
        return MORE if not source.eof and inside - line <= reading.limits.blanks else NONE
    return inside


def open_fence(reading: Reading) -> bool:
    """Pass a code fence in front of the body, where one stands; whether it does."""
    source = reading.source
    if source.text[source.pos] != "`":
        return False
    start = source.at
    source.pos = source.skip(source.line_end(source.pos, reading.limits.header))
    reading.repaired("a code fence around the body", start, source.at)
    return True


def close_fence(reading: Reading) -> Steps:
    """Pass the closing fence after the body, where one stands."""
    source = reading.source
    while True:
        found = source.follows(source.pos, (FENCE,))
        if found != MORE:
            break
        yield
    if found == 0:
        reading.channel.markup(source.follow_at + len(FENCE))
