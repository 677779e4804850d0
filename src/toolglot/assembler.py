"""Assembler: from events to a ``Message``.

Promises: content, reasoning and segments stand in the order of the text, whatever the order of the
events; a ``Relabel`` moves text to the reasoning; only calls with a ``CallEnd`` are tool calls,
and what was read of others is markup in the segments. Nothing is decoded.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from .events import Arguments, CallEnd, CallStart, Defect, Event, Markup, Reasoning, Relabel, Span, Text
from .message import Message, Segment, ToolCall

_KINDS: Final[dict[type, str]] = {
    Text: "content",
    Reasoning: "reasoning",
    CallStart: "name",
    Arguments: "arguments",
    CallEnd: "end",
    Markup: "markup",
}


def assemble(events: Iterable[Event], dialect: str = "") -> Message:
    """The message that ``events`` (all of one parser's) amount to; ``dialect`` is noted in it."""
    content: list[tuple[int, str]] = []
    reasoning: list[tuple[int, str]] = []
    calls: dict[int, ToolCall] = {}
    starts: dict[int, CallStart] = {}
    texts: dict[int, list[str]] = {}
    defects: list[Defect] = []
    segments: list[Segment] = []
    for event in events:
        if isinstance(event, Text):
            content.append((event.span[0], event.text))
        elif isinstance(event, Reasoning):
            reasoning.append((event.span[0], event.text))
        elif isinstance(event, CallStart):
            starts[event.index] = event
            texts[event.index] = []
        elif isinstance(event, Arguments):
            texts[event.index].append(event.text)
        elif isinstance(event, CallEnd):
            calls[event.index] = _call(starts[event.index], texts.pop(event.index), event)
        elif isinstance(event, Defect):
            defects.append(event)
        elif isinstance(event, Relabel):
            first, last = event.span
            reasoning += [piece for piece in content if first <= piece[0] < last]
            content = [piece for piece in content if not first <= piece[0] < last]
            segments = [_relabelled(segment, event.span) for segment in segments]
        kind = _KINDS.get(type(event))
        if kind is not None and event.span[1] > event.span[0]:
            segments.append(Segment(kind, event.span, getattr(event, "index", None)))
    segments = [_unfinished(segment, calls) for segment in segments]
    segments.sort(key=lambda segment: segment.span)
    return Message(
        content="".join(text for _, text in sorted(content)),
        reasoning="".join(text for _, text in sorted(reasoning)),
        tool_calls=tuple(call for _, call in sorted(calls.items())),
        defects=tuple(defects),
        segments=tuple(_merged(segments)),
        dialect=dialect,
    )


def _call(start: CallStart, texts: list[str], end: CallEnd) -> ToolCall:
    text = end.arguments_json if end.arguments_json is not None else "".join(texts)
    return ToolCall(start.name, end.arguments, start.id, text, (start.span[0], end.span[1]))


def _unfinished(segment: Segment, calls: dict[int, ToolCall]) -> Segment:
    """What was read of a call that did not end belongs to no call."""
    return segment if segment.index is None or segment.index in calls else Segment("markup", segment.span)


def _relabelled(segment: Segment, span: Span) -> Segment:
    inside = span[0] <= segment.span[0] < span[1]
    return Segment("reasoning", segment.span) if inside and segment.kind == "content" else segment


def _merged(segments: list[Segment]) -> list[Segment]:
    merged: list[Segment] = []
    for segment in segments:
        last = merged[-1] if merged else None
        if last and (last.kind, last.index, last.span[1]) == (segment.kind, segment.index, segment.span[0]):
            merged[-1] = Segment(last.kind, (last.span[0], segment.span[1]), last.index)
        else:
            merged.append(segment)
    return merged
