"""Assembler: from events to a ``Message``.

Promises: content, reasoning and segments stand in the order of the text, whatever the order of the
events; a ``Relabel`` moves text to the reasoning; only calls with a ``CallEnd`` are tool calls,
and what was read of others is markup in the segments. Nothing is decoded.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from .events import Arguments, CallEnd, CallStart, Defect, Event, Markup, Reasoning, Span, Text
from .message import Message, Segment, ToolCall

# A stretch of the text: where it is, the kind of its segment, and the call it belongs to.
_Stretch = tuple[Span, str, "int | None"]


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
        kind, index = "", None
        if isinstance(event, Text):
            kind = "content"
            content.append((event.span[0], event.text))
        elif isinstance(event, Markup):
            kind = "markup"
        elif isinstance(event, Arguments):
            kind, index = "arguments", event.index
            texts[event.index].append(event.text)
        elif isinstance(event, CallStart):
            kind, index = "name", event.index
            starts[event.index] = event
            texts[event.index] = []
        elif isinstance(event, CallEnd):
            kind, index = "end", event.index
            calls[event.index] = _call(starts[event.index], texts.pop(event.index), event)
        elif isinstance(event, Reasoning):
            kind = "reasoning"
            reasoning.append((event.span[0], event.text))
        elif isinstance(event, Defect):
            defects.append(event)
        else:
            first, last = event.span
            reasoning += [piece for piece in content if first <= piece[0] < last]
            content = [piece for piece in content if not first <= piece[0] < last]
            stretches = [_relabelled(stretch, event.span) for stretch in stretches]
        if kind and event.span[1] > event.span[0]:
            stretches.append((event.span, kind, index))
    stretches.sort(key=_place)
    ordered = [call for _, call in sorted(calls.items())] if len(calls) > 1 else calls.values()
    return Message(
        _joined(content),
        _joined(reasoning),
        tuple(ordered),
        tuple(defects),
        tuple(_merged(stretches, calls)),
        dialect,
    )


def _place(stretch: _Stretch) -> Span:
    return stretch[0]


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


def _merged(stretches: list[_Stretch], calls: dict[int, ToolCall]) -> Iterator[Segment]:
    """The segments, neighbours of one kind joined; what was read of a call without an end is markup."""
    start = end = -1
    last, owner = "", -1
    for span, kind, index in stretches:
        if index is not None and index not in calls:
            kind, index = "markup", None
        belongs = -1 if index is None else index
        if kind == last and belongs == owner and span[0] == end:
            end = span[1]
            continue
        if last:
            yield Segment(last, (start, end), None if owner < 0 else owner)
        (start, end), last, owner = span, kind, belongs
    if last:
        yield Segment(last, (start, end), None if owner < 0 else owner)
