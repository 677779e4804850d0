"""Parts: what is remembered of short texts, and that it is bounded."""

from __future__ import annotations

import pytest

from toolglot import Parser, Text
from toolglot.parts import HELD, LONGEST, MISSED, MOST, parts_of
from toolglot.runs import StringRun
from toolglot.scanner import Source
from toolglot.sinks import Skip
from toolglot.stops import Patterns, tag_begun
from toolglot.waits import HeadRun, OptionRun


def test_runs_that_look_for_the_same_share_their_parts() -> None:
    assert parts_of("what", 1)[0] is parts_of("what", 1)[0]
    assert parts_of("what", 1)[0] is not parts_of("what", 1)[1]
    assert parts_of("what", 1)[0] is not parts_of("what", 2)[0]


def test_what_is_remembered_is_bounded() -> None:
    run = OptionRun(Source(), 0, ("x" * 5000,))
    assert run.learn("x" * 65) is None
    run = OptionRun(Source(), 0, tuple(str(n) + "!" for n in range(MOST + 1)))
    for number in range(MOST):
        assert run.learn(str(number)) is not None
    assert len(run.parts) == MOST
    # Where no more fit, the next are worked out each time, until so many were, in all runs, that it is time
    # to begin anew.
    missed = 0
    while len(run.parts) == MOST:
        assert run.learn(str(MOST)) is not None
        missed += 1
    assert 1 <= missed <= MISSED
    assert len(run.parts) == 1


def test_long_texts_are_not_remembered() -> None:
    run = StringRun(Source(), Skip(Source()), Patterns("#", "[^#]*", "#"))
    for length, kept in ((LONGEST, 1), (LONGEST + 1, 1)):
        text = "x" * length
        assert run.learn(text) == (text, text, "", length)
        assert len(run.parts) == kept


def test_a_text_means_the_same_each_time_it_comes() -> None:
    parser = Parser("hermes", tools=[])
    parser.feed("Well,")
    seen = [list(parser.feed(delta)) for delta in (" so", " so ", "so", " so ", "so")]
    assert seen == [
        [Text(" so", (5, 8))],
        [Text(" so", (8, 11))],
        [Text(" so", (11, 14))],
        [Text(" so", (14, 17))],
        [Text(" so", (17, 20))],
    ]


@pytest.mark.parametrize(
    ("text", "waits"),
    [
        ("<function=", True),
        ("<fun", True),
        ("<function=get_weather", True),
        ("<function=get_weather>", True),
        ("<function=get_weather>\n  <par", True),
        ("<function=get_weather>\n<parameter=", False),
        ("<function=get_weather>\n</", False),
        ("<function=get\n", False),
        ("<function=get<", False),
    ],
)
def test_a_tag_is_waited_for_with_what_must_follow_it(text: str, waits: bool) -> None:
    run = HeadRun(Source(), tag_begun("<function=", ">", attributes=False, then="<parameter="))
    assert run.learn(text) == (HELD if waits else None)


@pytest.mark.parametrize(
    ("text", "waits"),
    [
        ('<invoke name="a b>" n', True),
        ("<invoke name='a", True),
        ('<invoke name="a">', True),
        ('<invoke name="a"> ', False),
        ('<invoke name="a\n', False),
        ('<invoke name="a" <', False),
    ],
)
def test_what_stands_in_quotes_does_not_end_a_tag(text: str, waits: bool) -> None:
    run = HeadRun(Source(), tag_begun("<invoke", ">", attributes=True))
    assert run.learn(text) == (HELD if waits else None)


@pytest.mark.parametrize(
    ("text", "waits"),
    [("ab", True), ("ab \n<", True), ("ab<a", True), ("ab<a>", False), ("abx", False), ("ab<ab", True)],
)
def test_a_marker_is_waited_for_until_it_is_told(text: str, waits: bool) -> None:
    run = OptionRun(Source(), 2, ("<abc>", "<a>"))
    assert run.learn(text) == (HELD if waits else None)
