"""Body codecs: one file per syntax, each reading one body resumably and writing one back.

Promises: ``starts`` tells from the first characters whether a body is of this syntax and never claims
early; ``read`` takes one body at the cursor and reports its calls through a ``Reading``; ``write`` is
its inverse. A codec raises ``Malformed``, ``Cut`` or ``OverLimit`` and leaves what becomes of the call
to the envelope.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from ..calls import Reading
from ..dialect import Body
from ..faults import Cut, Malformed
from ..jsonstream import Steps
from ..scanner import MORE, NONE
from . import (
    braces,
    header_json,
    json_array,
    json_object,
    keyed_lines,
    kv_pairs,
    labelled,
    name_then_json,
    positional,
    pythonic,
    tagged,
    xml_tree,
)

Written = Sequence[tuple[str, Mapping[str, Any]]]


class Codec(NamedTuple):
    """The three functions of a codec.

    ``starts(reading, at, body)``: 1 where a body begins at local index ``at``, ``MORE`` where that
    cannot be told yet, else ``NONE``. ``read(reading)``: the generator that reads one body.
    ``write(calls, body)``: the text of a body for ``calls``; raises ``RenderError``. ``several``: how
    many calls ``write`` takes at once: ``one``, ``all``, or ``counted``: one, with how many came before.
    """

    starts: Callable[[Reading, int, Body], int]
    read: Callable[[Reading], Steps]
    write: Callable[..., str]
    several: str


CODECS: Final[dict[str, Codec]] = {
    "json_object": Codec(json_object.starts, json_object.read, json_object.write, "one"),
    "json_array": Codec(json_array.starts, json_array.read, json_array.write, "all"),
    "json_keyed": Codec(json_array.starts_keyed, json_array.read_keyed, json_array.write_keyed, "all"),
    "name_then_json": Codec(name_then_json.starts, name_then_json.read, name_then_json.write, "counted"),
    "header_json": Codec(header_json.starts, header_json.read, header_json.write, "one"),
    "tagged": Codec(tagged.starts, tagged.read, tagged.write, "counted"),
    "braces": Codec(braces.starts, braces.read, braces.write, "one"),
    "pythonic": Codec(pythonic.starts, pythonic.read, pythonic.write, "all"),
    "bare_call": Codec(pythonic.starts_call, pythonic.read_call, pythonic.write_call, "one"),
    "call_lines": Codec(pythonic.starts_call, pythonic.read_lines, pythonic.write_lines, "all"),
    "kv_pairs": Codec(kv_pairs.starts, kv_pairs.read, kv_pairs.write, "one"),
    "keyed_lines": Codec(keyed_lines.starts, keyed_lines.read, keyed_lines.write, "one"),
    "labelled_lines": Codec(labelled.starts, labelled.read, labelled.write, "one"),
    "positional_text": Codec(positional.starts, positional.read, positional.write, "one"),
    "xml_tree": Codec(xml_tree.starts, xml_tree.read, xml_tree.write, "one"),
}


def begins(reading: Reading, at: int, body: Body) -> int:
    """As a codec's ``starts``, for a body with the markers that the dialect puts around each call."""
    source = reading.source
    codec = CODECS[body.codec]
    if not body.open:
        return codec.starts(reading, at, body)
    verdict = NONE
    for marker in body.open:
        found = source.starts(at, marker)
        if found == 1:
            inside = source.skip(at + len(marker))
            if inside >= len(source.text):
                return 1 if source.eof else MORE
            return codec.starts(reading, inside, body)
        verdict = MORE if found == MORE else verdict
    return verdict


def read_body(reading: Reading) -> Steps:
    """Read the body at the cursor, with the markers around it; its close is passed by ``closing``."""
    source, body = reading.source, reading.body
    if body.open:
        while True:
            at = source.skip(source.pos)
            begun = MORE if at >= len(source.text) else begins(reading, at, body)
            if begun != MORE:
                break
            if source.eof:
                raise Cut("the text ends before the body has begun")
            yield
        if begun != 1:
            raise Malformed(f"expected {body.open[0]!r}")
        marker = max((m for m in body.open if source.starts(at, m) == 1), key=len)
        at = source.skip(at + len(marker))
        if at >= len(source.text):
            raise Cut("nothing follows the opener")
        reading.channel.body_at = source.base + at
        if not reading.provisional:
            reading.channel.markup(at)
        source.pos = at
    yield from CODECS[body.codec].read(reading)
    if body.after == "blank":
        yield from _pass_blanks(reading)


def _pass_blanks(reading: Reading) -> Steps:
    """Pass the blanks behind a body, where a marker or the end of the text follows them."""
    source = reading.source
    while True:
        found = source.follows(source.pos, reading.openers)
        if source.follow_at - source.pos > reading.limits.blanks or found == NONE:
            return
        if found != MORE:
            break
        yield
    reading.channel.markup(source.follow_at)
