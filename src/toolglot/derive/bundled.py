"""bundled: the bundled dialect that a derived one is.

Promises: one is named only where it has the same canonical markers, or is a stream of messages all of whose
markers the template names, and reads every turn, whole and in pieces. It carries the spellings that models
drift to, which no template shows.
"""

from __future__ import annotations

from ..dialect import Dialect
from ..registry import BUNDLED, load_file
from .probe import Prober
from .reasons import reasons
from .verify import Turn, reads, streams


def bundled(prober: Prober, dialect: Dialect, turns: list[Turn]) -> str:
    """The slug of the bundled dialect that is the same format; empty where there is none.

    Of several that are the same the one goes first that starts its turn alike, then the one more widely used.
    """
    found = [slug for slug in BUNDLED if _alike(prober, load_file(slug), dialect)]
    for slug in sorted(found, key=lambda slug: _rank(load_file(slug), dialect), reverse=True):
        other = load_file(slug)
        if reads(other, turns) is None and streams(other, turns) is None and _reasons(prober, other, dialect):
            return slug
    return ""


def _rank(other: Dialect, dialect: Dialect) -> tuple[bool, bool, int]:
    start, stops = dialect.envelope.turn_open, dialect.envelope.stops
    return (
        bool(start) and start[0] in other.envelope.turn_open,
        bool(stops) and stops[0] in other.envelope.stops,
        len(other.aliases) + len(other.models),
    )


def _alike(prober: Prober, other: Dialect, dialect: Dialect) -> bool:
    if not other.bodies:
        return False
    envelope = other.envelope
    if envelope.kind == "messages" and dialect.envelope.kind != "messages":
        marks = (*envelope.start, *envelope.end, envelope.body, envelope.channel, *envelope.call_end)
        return all(mark in prober.template.text for mark in marks)
    return _literals(other) == _literals(dialect)


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
