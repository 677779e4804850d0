"""Body codecs: one file per syntax, each reading one body resumably and writing one back.

Promises: ``starts`` tells from the first characters whether a body is of this syntax and never claims
early; ``read`` takes one body at the cursor and reports its calls through a ``Reading``; ``write`` is
its inverse. A codec raises ``Malformed``, ``Cut`` or ``OverLimit`` and leaves what becomes of the call
to the envelope.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from .._typing import TYPE_CHECKING, Any
from ..calls import Reading
from ..dialect import Body
from ..faults import Cut, Malformed
from ..jsonstream import Steps
from ..record import dataclass
from ..scanner import MORE, NONE
from ..stops import opened_head

if TYPE_CHECKING:
    from typing import Final

    from ..echo import Echo
    from ..envelope import Machine
    from ..table import Way

Written = Sequence[tuple[str, Mapping[str, Any]]]


@dataclass(frozen=True)
class Codec:
    """The functions of a codec.

    ``starts(reading, at, body)``: 1 where a body begins at local index ``at``, ``MORE`` where that
    cannot be told yet, else ``NONE``. ``read(reading)``: the generator that reads one body.
    ``write(calls, body)``: the text of a body for ``calls``; raises ``RenderError``. ``several``: how
    many calls ``write`` takes at once: ``one``, ``all``, or ``counted``: one, with how many came before.
    ``head(body)``: the parts of what a plain body begins with, before which nothing happens (``stops``).
    ``sure(body)``: a pattern of what is certainly the beginning of a call; empty for none. No body begins
    with another character than that, but for a fence.
    """

    starts: Callable[[Reading, int, Body], int]
    read: Callable[[Reading], Steps]
    write: Callable[..., str]
    several: str
    head: Callable[[Body], tuple[str, ...]] | None
    sure: Callable[[Body], str] | None


# The module of each codec, what its functions' names end in where a module has several, and how many calls
# it writes at once.
_KNOWN: Final[dict[str, tuple[str, str, str, str]]] = {
    "json_object": ("json_object", "", "", "one"),
    "json_array": ("json_array", "", "", "all"),
    "json_keyed": ("json_array", "_keyed", "_keyed", "all"),
    "name_then_json": ("name_then_json", "", "", "counted"),
    "header_json": ("header_json", "", "", "one"),
    "tagged": ("tagged", "", "", "counted"),
    "braces": ("braces", "", "", "one"),
    "pythonic": ("pythonic", "", "", "all"),
    "bare_call": ("pythonic", "_call", "_call", "one"),
    "call_lines": ("pythonic", "_call", "_lines", "all"),
    "kv_pairs": ("kv_pairs", "", "", "one"),
    "keyed_lines": ("keyed_lines", "", "", "one"),
    "labelled_lines": ("labelled", "", "", "one"),
    "positional_text": ("positional", "", "", "one"),
    "xml_tree": ("xml_tree", "", "", "one"),
}

# The codecs with a reader for calls in the form of the one in front of them, and its module.
_ECHOES: Final = {"json_object": "json_echo", "tagged": "tagged_echo"}

CODEC_NAMES: Final = tuple(_KNOWN)

# With what a body of these codecs begins, a fence included; those of the others begin with many characters.
FIRSTS: Final = {"json_array": "[`", "json_keyed": "[`"}
_codecs: Final[dict[str, Codec]] = {}


def codec_of(name: str) -> Codec:
    """The codec of this name; its module is loaded when it is first needed."""
    found = _codecs.get(name)
    if found is None:
        from importlib import import_module

        stem, starts, reads, several = _KNOWN[name]
        module: Any = import_module(f"{__package__}.{stem}")
        found = _codecs[name] = Codec(
            getattr(module, f"starts{starts}"),
            getattr(module, f"read{reads}"),
            getattr(module, f"write{reads}"),
            several,
            getattr(module, "head", None),
            getattr(module, "sure", None),
        )
    return found


def begins(reading: Reading, at: int, body: Body) -> int:
    """As a codec's ``starts``, for a body with the markers that the dialect puts around each call."""
    source = reading.source
    codec = codec_of(body.codec)
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


def head_of(body: Body) -> tuple[str, ...]:
    """As a codec's ``head``, with the marker around each call; empty where there is none to wait for."""
    codec = codec_of(body.codec)
    head = () if codec.head is None else codec.head(body)
    return opened_head(body.open[0], head) if body.open else head


def sure_of(body: Body) -> str:
    """As a codec's ``sure``; empty for a body with a marker around each call."""
    codec = codec_of(body.codec)
    return "" if codec.sure is None or body.open else codec.sure(body)


def echo_of(machine: Machine, way: Way) -> Echo | None:
    """What reads the calls behind one that was read in ``way``, where they have its form, if anything."""
    stem = _ECHOES.get(way.body.codec)
    if stem is None:
        return None
    from importlib import import_module

    module: Any = import_module(f"{__package__}.{stem}")
    echo: Echo | None = module.echo(machine, way)
    return echo


def read_body(reading: Reading) -> Steps:
    """Read the body at the cursor, with the markers around it; its close is passed by ``closing``."""
    body = reading.body
    # One generator less is open all the while that a long argument comes.
    return _read_around(reading) if body.open or body.after == "blank" else codec_of(body.codec).read(reading)


def _read_around(reading: Reading) -> Steps:
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
    yield from codec_of(body.codec).read(reading)
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
