"""Events put together to a message."""

from __future__ import annotations

import itertools
import random

import pytest

from toolglot import (
    Arguments,
    CallEnd,
    CallStart,
    Defect,
    DefectKind,
    Event,
    Markup,
    Message,
    Parser,
    Reasoning,
    Relabel,
    Segment,
    Text,
    ToolCall,
    assemble,
    parse,
)


def call(index: int, at: int, name: str = "f") -> list[Event]:
    """A call of 30 characters from ``at`` on, in its markers."""
    return [
        Markup((at, at + 5)),
        CallStart(index, f"call_{index}", name, (at + 5, at + 10)),
        Arguments(index, '{"a": ', (at + 10, at + 16)),
        Arguments(index, "1}", (at + 16, at + 18)),
        CallEnd(index, {"a": 1}, (at + 18, at + 20)),
        Markup((at + 20, at + 30)),
    ]


def test_no_events_are_an_empty_message() -> None:
    assert assemble([]) == Message()
    assert assemble([], "hermes") == Message(dialect="hermes")


def test_an_iterator_will_do() -> None:
    assert assemble(iter([Text("a", (0, 1))])).content == "a"


def test_content_reasoning_and_calls() -> None:
    events: list[Event] = [
        Markup((0, 2)),
        Reasoning("hm", (2, 4)),
        Markup((4, 6)),
        Text("Hi ", (6, 9)),
        *call(0, 9),
        Text("there", (39, 44)),
        *call(1, 44, "g"),
    ]
    message = assemble(events, "some")
    assert message == Message(
        content="Hi there",
        reasoning="hm",
        tool_calls=(
            ToolCall("f", {"a": 1}, "call_0", '{"a": 1}', (14, 29)),
            ToolCall("g", {"a": 1}, "call_1", '{"a": 1}', (49, 64)),
        ),
        segments=(
            Segment("markup", (0, 2)),
            Segment("reasoning", (2, 4)),
            Segment("markup", (4, 6)),
            Segment("content", (6, 9)),
            Segment("markup", (9, 14)),
            Segment("name", (14, 19), 0),
            Segment("arguments", (19, 27), 0),
            Segment("end", (27, 29), 0),
            Segment("markup", (29, 39)),
            Segment("content", (39, 44)),
            Segment("markup", (44, 49)),
            Segment("name", (49, 54), 1),
            Segment("arguments", (54, 62), 1),
            Segment("end", (62, 64), 1),
            Segment("markup", (64, 74)),
        ),
        dialect="some",
    )


# -- order -----------------------------------------------------------------------------------------


def test_late_text_stands_at_its_own_place() -> None:
    """Layout that turned out to be content goes out after the markup behind it."""
    events: list[Event] = [
        Text("one", (0, 3)),
        *call(0, 5),
        Text("\n\n", (3, 5)),
        Text("two", (35, 38)),
    ]
    message = assemble(events)
    assert message.content == "one\n\ntwo"
    assert message.segments[0] == Segment("content", (0, 5))
    assert message.segments[-1] == Segment("content", (35, 38))


def test_late_reasoning_stands_at_its_own_place() -> None:
    message = assemble([Reasoning("b", (1, 2)), Reasoning("a", (0, 1))])
    assert message.reasoning == "ab"
    assert message.segments == (Segment("reasoning", (0, 2)),)


def test_the_order_of_texts_does_not_matter() -> None:
    events: list[Event] = [Text(c, (i, i + 1)) for i, c in enumerate("abcdefgh")]
    for seed in range(5):
        shuffled = random.Random(seed).sample(events, len(events))
        assert assemble(shuffled) == Message(content="abcdefgh", segments=(Segment("content", (0, 8)),))


def test_calls_stand_in_the_order_of_their_index() -> None:
    message = assemble([*call(1, 30, "second"), *call(0, 0, "first")])
    assert [c.name for c in message.tool_calls] == ["first", "second"]


# -- relabelled text -------------------------------------------------------------------------------


def test_relabelled_text_is_reasoning() -> None:
    events: list[Event] = [
        Text("thought", (0, 7)),
        Relabel((0, 7)),
        Markup((7, 15)),
        Text("answer", (15, 21)),
    ]
    message = assemble(events)
    assert (message.content, message.reasoning) == ("answer", "thought")
    assert message.segments == (
        Segment("reasoning", (0, 7)),
        Segment("markup", (7, 15)),
        Segment("content", (15, 21)),
    )


def test_a_relabel_moves_only_what_lies_in_its_span() -> None:
    events: list[Event] = [
        Text("before", (0, 6)),
        *call(0, 6),
        Text("thou", (36, 40)),
        Text("ght", (40, 43)),
        Relabel((36, 43)),
        Markup((43, 51)),
        Text("after", (51, 56)),
    ]
    message = assemble(events)
    assert (message.content, message.reasoning) == ("beforeafter", "thought")
    assert message.tool_calls[0].name == "f"
    assert Segment("reasoning", (36, 43)) in message.segments
    assert Segment("content", (0, 6)) in message.segments


def test_relabelled_text_stands_between_other_reasoning() -> None:
    events: list[Event] = [
        Reasoning("a", (0, 1)),
        Text("b", (1, 2)),
        Relabel((1, 2)),
        Reasoning("c", (2, 3)),
    ]
    assert assemble(events) == Message(reasoning="abc", segments=(Segment("reasoning", (0, 3)),))


def test_a_relabel_moves_no_call_and_no_markup() -> None:
    events: list[Event] = [Text("x", (0, 1)), *call(0, 1), Relabel((0, 31))]
    message = assemble(events)
    assert (message.content, message.reasoning, len(message.tool_calls)) == ("", "x", 1)
    assert Segment("name", (6, 11), 0) in message.segments
    assert Segment("markup", (1, 6)) in message.segments


# -- calls -----------------------------------------------------------------------------------------


def test_a_call_without_an_end_is_no_tool_call() -> None:
    defect = Defect(DefectKind.UNCLOSED_CALL, "raw", "cut", (5, 19), 0)
    events: list[Event] = [*call(0, 0)[:4], Markup((18, 19)), defect]
    message = assemble(events)
    assert message.tool_calls == ()
    assert message.defects == (defect,)
    assert message.segments == (Segment("markup", (0, 19)),)


def test_the_calls_around_one_without_an_end_stand() -> None:
    broken = call(1, 30)
    del broken[4]
    message = assemble([*call(0, 0), *broken, *call(2, 60)])
    assert [c.id for c in message.tool_calls] == ["call_0", "call_2"]
    assert [s.index for s in message.segments if s.kind == "name"] == [0, 2]


def test_the_end_may_bring_the_canonical_text() -> None:
    events: list[Event] = [
        CallStart(0, "x", "f", (0, 1)),
        Arguments(0, '{"a": 1, "a": 2}', (1, 17)),
        CallEnd(0, {"a": 2}, (17, 17), '{"a": 2}'),
    ]
    assert assemble(events).tool_calls[0].arguments_json == '{"a": 2}'


def test_arguments_keep_their_spelling() -> None:
    events: list[Event] = [
        CallStart(0, "x", "f", (0, 1)),
        Arguments(0, '{"a" : 1.50}', (1, 13)),
        CallEnd(0, {"a": 1.5}, (13, 13)),
    ]
    assert assemble(events).tool_calls[0].arguments_json == '{"a" : 1.50}'


# -- segments --------------------------------------------------------------------------------------


def test_empty_spans_make_no_segment() -> None:
    events: list[Event] = [
        Markup((0, 0)),
        CallStart(0, "x", "f", (0, 4)),
        Arguments(0, "{}", (4, 4)),
        CallEnd(0, {}, (4, 4)),
    ]
    assert assemble(events).segments == (Segment("name", (0, 4), 0),)


def test_neighbours_of_one_kind_are_one_segment() -> None:
    events: list[Event] = [
        Text("a", (0, 1)),
        Text("b", (1, 2)),
        Markup((2, 3)),
        Markup((3, 4)),
        Text("c", (4, 5)),
    ]
    assert assemble(events).segments == (
        Segment("content", (0, 2)),
        Segment("markup", (2, 4)),
        Segment("content", (4, 5)),
    )


def test_neighbouring_calls_are_not_one_segment() -> None:
    events: list[Event] = [
        CallStart(0, "x", "f", (0, 1)),
        CallEnd(0, {}, (1, 2)),
        CallStart(1, "y", "g", (2, 3)),
        CallEnd(1, {}, (3, 4)),
    ]
    assert [(s.kind, s.index) for s in assemble(events).segments] == [
        ("name", 0),
        ("end", 0),
        ("name", 1),
        ("end", 1),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "prose",
        '<think>hm</think>\n\nHi <tool_call>{"name": "f", "arguments": {}}</tool_call> and <tool_call>{"na',
        'thought</think>Hi <tool_call>{"name": "f", "arguments": [1]}</tool_call>\n',
    ],
)
def test_segments_tile_a_parsed_text(text: str) -> None:
    for events in ([*_feed([text])], [*_feed(list(text))]):
        segments = assemble(events).segments
        bounds = [0, *itertools.chain.from_iterable(s.span for s in segments), len(text)]
        assert bounds[::2] == bounds[1::2]
    assert assemble(_feed(list(text)), "hermes") == parse(text, "hermes")


def _feed(deltas: list[str]) -> list[Event]:
    parser = Parser("hermes")
    events: list[Event] = []
    for delta in deltas:
        events += parser.feed(delta)
    return [*events, *parser.close()]


def test_defects_stand_in_the_order_of_their_events() -> None:
    first = Defect(DefectKind.REPAIRED, "", "b", (5, 5))
    second = Defect(DefectKind.REPAIRED, "", "a", (1, 1))
    assert assemble([first, second]).defects == (first, second)
