"""json_arguments: a call's arguments as a JSON object, or what models write where one should stand.

Promises: an object goes out as it comes; null, an empty string and an object inside of a string are held to
their end, and what is no object then ends its call with a defect. A code fence around them is a repair.

Does not: read names (``json_calls``), or JSON (``jsonstream``).
"""

from __future__ import annotations

import json

from .._typing import TYPE_CHECKING
from ..calls import Call, Reading
from ..events import DefectKind
from ..faults import BodyFault, Cut, Malformed
from ..jsonstream import Steps, ValueReader
from ..scanner import END, MORE, Source
from ..sinks import Collect
from .fences import close_fence, inside_fence, open_fence

if TYPE_CHECKING:
    from typing import Final

_NO_OBJECT: Final = "the arguments are not an object"
# What arguments begin with, and what is read to its end where an object should stand.
_WRITTEN: Final = ("{", '"', "[", "null")


def arguments_start(reading: Reading, at: int) -> int:
    """1 where arguments stand at local index ``at``, in a fence or not, or what was written for them."""
    inside = inside_fence(reading, at)
    if inside < 0:
        return inside
    found = reading.source.follows_at(inside, _WRITTEN)
    return 1 if found >= 0 else found


def read_arguments(
    reading: Reading, call: Call, endings: tuple[str, ...] = (), instead: tuple[str, ...] | None = None
) -> Steps:
    """Read the arguments of ``call`` at the cursor, and end it; ``endings`` may stand behind them.

    Where given, one of ``instead`` may stand in their place, and blanks in front of them.
    """
    source = reading.source
    if instead is not None:
        while (found := source.follows(source.pos, instead)) == MORE:
            yield
        if found >= 0 and reading.lenient:
            reading.repaired("a message without arguments", source.at, source.at)
            call.take("{}", 0)
            call.end()
            return
        if found == END:
            raise Cut("the text ends before the arguments")
        source.pos = source.follow_at
    while (inside := inside_fence(reading, source.pos)) == MORE:
        yield
    if inside < 0:
        raise (Cut if source.eof else Malformed)("a code fence without arguments")
    fence = open_fence(reading)
    kept = None if source.text[source.pos] == "{" else reading.collect()
    reader = reading.reader(sink=kept or call)
    reader.closers = (*endings, *reader.closers)
    yield from reader.value()
    if kept is None:
        call.end()
    else:
        give(reading, call, object_text(kept.text(), reading))
    if fence:
        yield from close_fence(reading)


def give(reading: Reading, call: Call, text: str | None) -> None:
    """Make ``text`` the arguments of the call, and end it; None where what was written is no object."""
    if text is None:
        if not (reading.marked or reading.offered(call.name)):
            raise Malformed(_NO_OBJECT)
        reading.abandon(call, DefectKind.ARGUMENTS_NOT_AN_OBJECT, _NO_OBJECT)
        return
    call.take(text, 0)
    call.end()


def object_text(text: str, reading: Reading) -> str | None:
    """The JSON text of an arguments object, also of none or of one inside a string; else None."""
    if text[0] == '"':
        inner = json.loads(text).strip()
        text = _reread(inner, reading) if inner else "null"
    if text == "null":
        return "{}"
    return text if text[:1] == "{" else None


def _reread(text: str, reading: Reading) -> str:
    """JSON text of a complete value that was written inside a string; empty where it is none."""
    source = Source()
    source.feed(text)
    source.eof = True
    kept = Collect(source, reading.limits.call)
    reader = ValueReader(source, kept, lenient=reading.lenient, nesting=reading.limits.nesting)
    try:
        for _ in reader.value():
            pass
    except BodyFault:
        return ""
    return kept.text() if source.skip(source.pos) == len(text) else ""
