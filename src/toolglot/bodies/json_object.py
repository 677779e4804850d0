"""json_object: one JSON object that holds a call's name and arguments.

Promises: the object's own end is the body's end. Where the dialect names such keys, the call may stand
in a wrapping object, or calls in a list; how a call is made of them is in ``json_calls``.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence

from .._typing import TYPE_CHECKING, Any
from ..calls import Reading
from ..dialect import Body
from ..jsonstream import Steps
from ..scanner import MORE, NONE
from ..stops import name_head
from .fences import close_fence, inside_fence, open_fence
from .json_calls import LATE, CallObject, write_object

if TYPE_CHECKING:
    from typing import Final

_SEPARATORS: Final = (",", ";")


def starts(reading: Reading, at: int, body: Body) -> int:
    """An object begins with its bracket, or with a fence in front of it."""
    inside = inside_fence(reading, at)
    if inside < 0:
        return inside
    return 1 if reading.source.text[inside] == "{" else NONE


def head(body: Body) -> tuple[str, ...]:
    """The object up to its second member, where the first one is the name."""
    return () if body.id_at == LATE else name_head(body.name_keys).parts


def sure(body: Body) -> str:
    """The object up to its second member, where the first one is the name."""
    return "" if body.id_at == LATE else name_head(body.name_keys).whole.pattern


def read(reading: Reading) -> Steps:
    """Read one object and report its call."""
    source = reading.source
    fence = source.text[source.pos] == "`" and open_fence(reading)
    while True:
        tap = CallObject(reading)
        # Nearly all objects begin alike: then nothing has to be resumed inside their keys.
        call = None
        while not (named := tap.named()) and tap.waits():
            yield
        while named and (call := tap.arguments()) is None and tap.waits():
            yield
        yield from reading.reader(tap=tap).value(call, inside=named)
        tap.finish()
        if not reading.body.close or not (yield from _another(reading)):
            break
    if fence:
        yield from close_fence(reading)


def _another(reading: Reading) -> Generator[None, None, bool]:
    """Whether another object stands between the markers of one call, behind a separator or none."""
    source = reading.source
    separators = _SEPARATORS if reading.lenient else ()
    separated = False
    found = MORE
    while found == MORE:
        found = source.follows(source.pos, ("{", *separators))
        separated = found > 0
        if separated:
            found = source.follows(source.follow_at + 1, ("{",))
        if found == MORE:
            yield
    if found != 0:
        return False
    start = source.at
    reading.channel.markup(source.follow_at)
    reading.channel.body_at = source.at
    if separated:
        reading.repaired("a separator between calls", start, source.at)
    return True


def write(calls: Sequence[tuple[str, Mapping[str, Any]]], body: Body) -> str:
    """The object of one call."""
    return ", ".join(write_object(name, arguments, body) for name, arguments in calls)
