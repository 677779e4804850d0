"""template_parts: what is read of a response template's calls, and the pieces of their markers.

Promises: values, and questions about pieces that all readers of calls ask.

Does not: know a codec.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..errors import ResponseTemplateError
from .pattern import Piece, Way

Data = dict[str, Any]
Field = Mapping[str, Any]


@dataclass
class Calls:
    """What was read. ``headed``: openers with a header in front; the rest is for streams of messages."""

    envelope: Data = field(default_factory=dict)
    body: Data = field(default_factory=dict)
    unmarked: list[Data] = field(default_factory=list)
    headed: list[Way] = field(default_factory=list)
    ends: list[str] = field(default_factory=list)
    recipient: tuple[str, str] | None = None
    header: str = ""


def table(node: Field, key: str) -> Field:
    """The object under a key, empty where there is none. Raises ``ResponseTemplateError``."""
    value = node.get(key)
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise ResponseTemplateError(f"{key}: expected an object, got {type(value).__name__}")
    return value


def fail(what: str) -> ResponseTemplateError:
    return ResponseTemplateError(f"tool_calls: {what}")


# -- pieces of the markers -----------------------------------------------------------------------------


def has_header(way: Way) -> bool:
    kinds = [piece.kind for piece in way[:2]]
    return "any" in kinds and any(piece.kind == "text" for piece in way[kinds.index("any") + 1 :])


def cut_behind(way: Way) -> Way:
    """The opener without what it only looks at."""
    return tuple(piece for piece in way if piece.kind != "ahead" or piece.text[:1] in {"{", "["})


def texts_of(way: tuple[Piece, ...]) -> list[str]:
    return [piece.text for piece in way if piece.kind == "text"]


def split_name(way: Way) -> tuple[Way, Way]:
    """What stands in front of the name, and behind it."""
    groups = [number for number, piece in enumerate(way) if piece.kind == "group"]
    if len(groups) != 1:
        raise fail("its opener has to have one group, the name's")
    return way[: groups[0]], way[groups[0] + 1 :]


def unique(texts: Iterable[str]) -> list[str]:
    return [text for text in dict.fromkeys(texts) if text.strip()]


def sections(fronts: list[list[str]]) -> tuple[list[str], list[str], list[str]]:
    """A section's markers, those of each call, and words behind them: an opener may have some of them."""
    least = min(map(len, fronts))
    if least > 1:
        return unique([front[0] for front in fronts]), unique([front[-1] for front in fronts]), []
    inner = unique([front[0] for front in fronts if len(front) == 1])
    places = [
        (front, next((at for at, text in enumerate(front) if text in inner), 0)) for front in fronts if front
    ]
    outer = [text for front, at in places for text in front[:at]]
    behind = [text for front, at in places for text in front[at + 1 :]]
    return unique(outer), inner, unique(behind)


# -- closes ---------------------------------------------------------------------------------------


def closed_by(
    calls: Calls, body: Data, outer: list[str], own: list[str], ends: list[list[str]], closed: bool
) -> None:
    """Which of the closes are a call's, which its section's, and which end the arguments."""
    last = unique([texts[-1].strip() for texts in ends])
    first = unique([texts[0] for texts in ends if len(texts) > 1])
    if not outer:
        calls.envelope = {"open": own, "close": last}
        if first:
            body["endings"] = first
    else:
        closes = last if closed else unique([texts[0].strip() for texts in ends])
        if closed and first:
            body["endings"] = first
        calls.envelope = {"open": outer, "close": [mark for mark in last if mark not in closes]}
        body |= {"open": own, "close": closes}
        calls.unmarked = [{"shape": "opener", "place": "text", "gate": "open"}]
    calls.body = body
