"""Spans of several channels in one input, and of an output behind its prompt."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from toolglot.events import (
    Arguments,
    CallEnd,
    CallStart,
    Defect,
    DefectKind,
    Event,
    Markup,
    Reasoning,
    Relabel,
    Span,
    Text,
)
from toolglot.spans import Spans, clipped


def fed(*lengths: tuple[str, int]) -> Spans:
    spans = Spans()
    for channel, length in lengths:
        spans.feed(channel, length)
    return spans


MIXED = (("reasoning", 10), ("content", 4), ("reasoning", 5), ("content", 6))
"""Reasoning stands at 0-10 and 14-19, content at 10-14 and 19-25."""


def test_one_channel_needs_no_translation() -> None:
    assert not fed().mixed
    assert not fed(("content", 5), ("content", 3)).mixed
    assert not fed(("reasoning", 5)).mixed
    assert fed(("reasoning", 5), ("content", 3)).mixed


def test_pieces_of_one_channel_in_a_row_are_one() -> None:
    spans = fed(("content", 3), ("content", 4), ("reasoning", 2))
    assert spans.translate("content", [Text("abcdefg", (0, 7))]) == [Text("abcdefg", (0, 7))]
    assert spans.translate("reasoning", [Reasoning("ab", (0, 2))]) == [Reasoning("ab", (7, 9))]


@pytest.mark.parametrize(
    ("channel", "span", "expected"),
    [
        ("content", (0, 4), [(10, 14)]),
        ("content", (4, 10), [(19, 25)]),
        ("content", (1, 3), [(11, 13)]),
        ("content", (2, 7), [(12, 14), (19, 22)]),
        ("content", (0, 10), [(10, 14), (19, 25)]),
        ("reasoning", (0, 10), [(0, 10)]),
        ("reasoning", (8, 12), [(8, 10), (14, 16)]),
        ("reasoning", (10, 15), [(14, 19)]),
    ],
)
def test_markup_stands_where_its_characters_do(channel: str, span: Span, expected: list[Span]) -> None:
    assert fed(*MIXED).translate(channel, [Markup(span)]) == [Markup(piece) for piece in expected]


def test_text_is_split_at_the_other_channel() -> None:
    spans = fed(*MIXED)
    assert spans.translate("content", [Text("cdefg", (2, 7))]) == [
        Text("cd", (12, 14)),
        Text("efg", (19, 22)),
    ]
    assert spans.translate("reasoning", [Reasoning("ijkl", (8, 12))]) == [
        Reasoning("ij", (8, 10)),
        Reasoning("kl", (14, 16)),
    ]


def test_a_relabel_is_split_too() -> None:
    assert fed(*MIXED).translate("content", [Relabel((0, 10))]) == [
        Relabel((10, 14)),
        Relabel((19, 25)),
    ]


def test_an_event_that_is_one_thing_leaves_the_rest_as_markup() -> None:
    spans = fed(*MIXED)
    events: list[Event] = [
        CallStart(0, "call_0", "f", (0, 6)),
        Arguments(0, "{}", (6, 7)),
        CallEnd(0, {}, (7, 10), "{}"),
    ]
    assert spans.translate("content", events) == [
        CallStart(0, "call_0", "f", (10, 14)),
        Markup((19, 21)),
        Arguments(0, "{}", (21, 22)),
        CallEnd(0, {}, (22, 25), "{}"),
    ]
    assert spans.translate("content", [Arguments(0, "12345", (3, 8))]) == [
        Arguments(0, "12345", (13, 14)),
        Markup((19, 23)),
    ]


def test_a_defect_spans_all_it_is_about() -> None:
    defect = Defect(DefectKind.REPAIRED, "cdefg", "why", (2, 7), 3)
    assert fed(*MIXED).translate("content", [defect]) == [
        Defect(DefectKind.REPAIRED, "cdefg", "why", (12, 22), 3)
    ]


@pytest.mark.parametrize(
    ("channel", "at", "expected"),
    [
        ("content", 0, 10),
        ("content", 4, 19),
        ("content", 10, 25),
        ("reasoning", 15, 19),
        ("reasoning", 10, 14),
    ],
)
def test_an_empty_span_has_one_place(channel: str, at: int, expected: int) -> None:
    assert fed(*MIXED).translate(channel, [Markup((at, at))]) == [Markup((expected, expected))]


def test_an_empty_span_at_the_end_of_what_has_come_stands_behind_it() -> None:
    spans = fed(("content", 4), ("reasoning", 3))
    assert spans.translate("content", [Arguments(0, "}", (4, 4))]) == [Arguments(0, "}", (4, 4))]


def test_translated_events_tile_the_input() -> None:
    spans = fed(*MIXED)
    got = [
        *spans.translate("reasoning", [Reasoning("r" * 12, (0, 12)), Markup((12, 15))]),
        *spans.translate("content", [Text("t", (0, 1)), Markup((1, 9)), Text("u", (9, 10))]),
    ]
    bounds = sorted(event.span for event in got)
    assert bounds == [(0, 10), (10, 11), (11, 14), (14, 16), (16, 19), (19, 24), (24, 25)]


# -- behind a prompt -------------------------------------------------------------------------------


def test_events_of_the_output_stay_as_they_are() -> None:
    events: list[Event] = [Text("a", (0, 1)), Markup((1, 1)), Relabel((0, 1))]
    assert clipped(events) is events


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        ([Text("abcd", (-2, 2))], [Text("cd", (0, 2))]),
        ([Text("ab", (-2, 0))], []),
        ([Reasoning("abcd", (-3, 1))], [Reasoning("d", (0, 1))]),
        ([Reasoning("ab", (-4, -2))], []),
        ([Markup((-5, 3))], [Markup((0, 3))]),
        ([Markup((-5, 0))], []),
        ([Markup((-5, -1)), Markup((-1, 2))], [Markup((0, 2))]),
        ([Relabel((-5, 3))], [Relabel((0, 3))]),
        ([Arguments(0, "{}", (-5, 3))], [Arguments(0, "{}", (0, 3))]),
        ([CallStart(0, "x", "f", (-9, -5))], [CallStart(0, "x", "f", (0, 0))]),
        ([CallEnd(0, {"a": 1}, (-1, 1), "{}")], [CallEnd(0, {"a": 1}, (0, 1), "{}")]),
        (
            [Defect(DefectKind.REPAIRED, "abcd", "why", (-2, 2), 0)],
            [Defect(DefectKind.REPAIRED, "cd", "why", (0, 2), 0)],
        ),
        ([Text("a", (0, 1)), Markup((-1, 0))], [Text("a", (0, 1))]),
    ],
)
def test_what_lies_in_the_prompt_is_cut_off(events: list[Event], expected: Sequence[Event]) -> None:
    assert clipped(events) == expected
