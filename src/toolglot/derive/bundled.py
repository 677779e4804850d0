"""bundled: the bundled dialect that a derived one is.

Promises: one is named only where it has the same canonical markers, or writes the same text, or is a stream
of messages all of whose markers the template names, and reads every turn, whole and in pieces. It carries
the spellings that models drift to, which no template shows.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from ..dialect import Dialect
from ..errors import RenderError
from ..message import Message, ToolCall
from ..registry import BUNDLED, load_file
from ..render import write
from .probe import Prober
from .reasons import reasons
from .verify import Turn, reads, streams

_COMPARED: Final = 12
"""Turns whose text is compared."""


def bundled(prober: Prober, dialect: Dialect, turns: list[Turn]) -> str:
    """The slug of the bundled dialect that is the same format; empty where there is none.

    Of several that are the same the one goes first that starts its turn alike, then the one more widely used.
    """
    every = [stopped(load_file(slug), dialect) for slug in BUNDLED]
    found = [other for other in every if _alike(prober, other, dialect, turns)]
    for other in sorted(found, key=lambda other: _rank(other, dialect), reverse=True):
        if reads(other, turns) is None and streams(other, turns) is None and _reasons(prober, other, dialect):
            return other.slug
    return ""


def stopped(other: Dialect, dialect: Dialect) -> Dialect:
    """The other dialect with this one's stop tokens too: those are the checkpoint's, not the format's."""
    more = tuple(stop for stop in dialect.envelope.stops if stop not in other.envelope.stops)
    if not more:
        return other
    return replace(other, envelope=replace(other.envelope, stops=(*other.envelope.stops, *more)))


def _rank(other: Dialect, dialect: Dialect) -> tuple[bool, bool, int]:
    start, stops = dialect.envelope.turn_open, dialect.envelope.stops
    return (
        bool(start) and start[0] in other.envelope.turn_open,
        bool(stops) and stops[0] in other.envelope.stops,
        len(other.aliases) + len(other.models),
    )


def _alike(prober: Prober, other: Dialect, dialect: Dialect, turns: list[Turn]) -> bool:
    if not other.bodies:
        return False
    envelope = other.envelope
    if envelope.kind == "messages" and dialect.envelope.kind != "messages":
        marks = (*envelope.start, *envelope.end, envelope.body, envelope.channel, *envelope.call_end)
        return all(mark in prober.template.text for mark in marks)
    codecs = {body.codec for body in dialect.bodies}
    return _literals(other) == _literals(dialect) or _writes(prober, other, codecs, turns)


def _writes(prober: Prober, other: Dialect, codecs: set[str], turns: list[Turn]) -> bool:
    """Whether a call written in the other dialect is the template's own text, but for blanks and the stop.

    ``codecs``: a dialect without a marker in the text has to have one of these. One turn is enough: dialects
    write some values in spellings of their own, and read those of others.
    """
    openers = (*other.envelope.open, *other.bodies[0].open)
    if not any(opener in turns[0].text for opener in openers) and other.bodies[0].codec not in codecs:
        return False
    for turn in turns[:_COMPARED]:
        calls = [ToolCall(name, given, prober.id_of(i, name)) for i, (name, given) in enumerate(turn.calls)]
        try:
            text = _squeezed(write(Message(tool_calls=tuple(calls)), other))
        except RenderError:
            continue
        if _without(text, other.envelope.stops) == _without(_squeezed(turn.text), other.envelope.stops):
            return True
    return False


def _without(text: str, stops: tuple[str, ...]) -> str:
    return next((text.removesuffix(stop) for stop in stops if text.endswith(stop)), text)


def _squeezed(text: str) -> str:
    return "".join(text.split())


def _literals(dialect: Dialect) -> tuple[object, ...]:
    """The literals of the canonical spelling: what two dialects must share to be one format."""
    envelope, body = dialect.envelope, dialect.bodies[0]
    tags = [(tag.open, tag.close, tag.end, tag.key) if tag else None for tag in (body.name, body.param)]
    keys = (body.name_keys[:1], body.arguments_keys[:1]) if body.codec.startswith("json") else ()
    marks = (body.open[:1], body.close[:1], body.prefixes[:1], [s.strip() for s in body.separators[:1]])
    pairs = (
        body.key_open[:1],
        body.key_close[:1],
        body.value_open[:1],
        body.value_close[:1],
        body.delims[:1],
    )
    return (envelope.kind, envelope.open[:1], envelope.close[:1], body.codec, *tags, keys, *marks, *pairs)


def _reasons(prober: Prober, other: Dialect, dialect: Dialect) -> bool:
    """Whether the reasoning that the template renders is the other's, too."""
    think = dialect.reasoning
    if not think.open or other.envelope.kind == "messages":
        return True
    return think.open[0] in other.reasoning.open and reasons(prober, other, think.open[0])
