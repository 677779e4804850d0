"""Assembler: from events to a ``Message``.

Promises: content, reasoning and segments stand in the order of the text, whatever the order of the
events; a ``Relabel`` moves text to the reasoning; only calls with a ``CallEnd`` are tool calls,
and what was read of others is markup in the segments. Nothing is decoded.
"""

from __future__ import annotations

from collections.abc import Iterable
from operator import itemgetter

from ._typing import TYPE_CHECKING
from .events import Arguments, CallEnd, CallStart, Defect, Event, Markup, Reasoning, Span, Text
from .message import Message, Segment, ToolCall

if TYPE_CHECKING:
    from typing import Final

# A stretch of the text: where it is, the kind of its segment, and the call it belongs to.
_Stretch = tuple[Span, str, int]

_NO_CALL: Final = -1
_PLACE: Final = itemgetter(0)


def assemble(events: Iterable[Event], dialect: str = "") -> Message:
    """The message that ``events`` (all of one parser's) amount to; ``dialect`` is noted in it."""
    content: list[tuple[int, str]] = []
    reasoning: list[tuple[int, str]] = []
    calls: dict[int, ToolCall] = {}
    starts: dict[int, CallStart] = {}
    texts: dict[int, list[str]] = {}
    defects: list[Defect] = []
    stretches: list[_Stretch] = []
    for event in events:
        index = _NO_CALL
        span = event.span
        if isinstance(event, Markup):
            kind = "markup"
        elif isinstance(event, Arguments):
            kind, index = "arguments", event.index
            texts[index].append(event.text)
        elif isinstance(event, Text):
            kind = "content"
            content.append((span[0], event.text))
        elif isinstance(event, CallStart):
            kind, index = "name", event.index
            starts[index] = event
            texts[index] = []
        elif isinstance(event, CallEnd):
            kind, index = "end", event.index
            calls[index] = _call(starts[index], texts.pop(index), event)
        elif isinstance(event, Reasoning):
            kind = "reasoning"
            reasoning.append((span[0], event.text))
        elif isinstance(event, Defect):
            defects.append(event)
            continue
        else:
            first, last = span
            reasoning += [piece for piece in content if first <= piece[0] < last]
            content = [piece for piece in content if not first <= piece[0] < last]
            stretches = [_relabelled(stretch, span) for stretch in stretches]
            continue
        if span[1] > span[0]:
            stretches.append((span, kind, index))
    stretches.sort(key=_PLACE)
    ordered = [call for _, call in sorted(calls.items())] if len(calls) > 1 else calls.values()
    return Message(
        _joined(content) if content else "",
        _joined(reasoning) if reasoning else "",
        tuple(ordered),
        tuple(defects),
        tuple(_merged(stretches, calls)),
        dialect,
    )


def _joined(pieces: list[tuple[int, str]]) -> str:
    pieces.sort()
    return "".join([text for _, text in pieces])


def _call(start: CallStart, texts: list[str], end: CallEnd) -> ToolCall:
    text = end.arguments_json if end.arguments_json is not None else "".join(texts)
    return ToolCall(start.name, end.arguments, start.id, text, (start.span[0], end.span[1]))


def _relabelled(stretch: _Stretch, relabelled: Span) -> _Stretch:
    span, kind, index = stretch
    inside = relabelled[0] <= span[0] < relabelled[1]
    return (span, "reasoning", index) if inside and kind == "content" else stretch


def _merged(stretches: list[_Stretch], calls: dict[int, ToolCall]) -> list[Segment]:
    """The segments, neighbours of one kind joined; what was read of a call without an end is markup."""
    segments: list[Segment] = []
    last, owner, place = "", _NO_CALL, (-1, -1)
    for span, kind, index in stretches:
        if index >= 0 and index not in calls:
            kind, index = "markup", _NO_CALL
        if kind == last and index == owner and span[0] == place[1]:
            place = (place[0], span[1])
            continue
        if last:
            segments.append(Segment(last, place, None if owner < 0 else owner))
        place, last, owner = span, kind, index
    if last:
        segments.append(Segment(last, place, None if owner < 0 else owner))
    return segments
