"""The window on growing text, and the searches in it."""

from __future__ import annotations

import itertools
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolglot.bodies.rawvalue import past
from toolglot.markers import Markers
from toolglot.scanner import (
    END,
    MORE,
    NONE,
    Source,
    counting,
    examined,
)
from toolglot.stops import NAME_STOP, SCALAR_STOP, WORD_STOP, holds, one_of, string_patterns, tag_stop

TAGS = Markers(["<a>", "</a>"])


def source_of(text: str, *, base: int = 0, eof: bool = False) -> Source:
    source = Source(base)
    source.feed(text)
    source.eof = eof
    return source


# -- feeding ---------------------------------------------------------------------------------------


def test_a_new_source_is_empty() -> None:
    source = Source()
    assert (source.text, source.pos, source.base, source.at, source.eof) == ("", 0, 0, 0, False)


def test_feeds_are_joined() -> None:
    source = source_of("ab")
    source.feed("")
    source.feed("cd")
    assert source.text == "abcd"


def test_consumed_text_is_dropped_but_for_a_little_context() -> None:
    source = source_of("x" * 1000)
    source.pos = 1000
    source.feed("abc")
    assert source.text == "x" * 48 + "abc"
    assert (source.base, source.pos, source.at) == (952, 48, 1000)


def test_nothing_is_dropped_before_the_context_is_full() -> None:
    source = source_of("x" * 48)
    source.pos = 48
    source.feed("y")
    assert (source.text, source.base, source.pos) == ("x" * 48 + "y", 0, 48)


def test_what_is_not_consumed_stays() -> None:
    source = source_of("x" * 200)
    source.pos = 160
    source.feed("y")
    assert (source.text, source.base, source.at) == ("x" * 88 + "y", 112, 160)


def test_a_little_more_is_kept_than_must_be() -> None:
    source = source_of("x" * 112)
    source.pos = 112
    source.feed("y")
    source.pos = 113
    source.feed("z")
    assert (source.text, source.base, source.at) == ("x" * 47 + "yz", 65, 113)


def test_the_window_stays_small_over_many_feeds() -> None:
    source = Source()
    for _ in range(500):
        source.feed("0123456789")
        source.pos = len(source.text)
        assert len(source.text) <= 122
    assert source.at == 5000


def test_the_prompt_lies_at_negative_offsets() -> None:
    source = source_of("prompt", base=-6)
    source.pos = 6
    assert source.at == 0
    source.feed("out")
    assert source.raw(0, 3) == "out"
    assert source.raw(-6, 3) == "promptout"


# -- text that is kept -----------------------------------------------------------------------------


def test_raw_reads_the_window() -> None:
    source = source_of("hello world")
    assert source.raw(0, 5) == "hello"
    assert source.raw(6, 11) == "world"
    assert source.raw(3, 3) == ""


def test_a_keep_outlives_the_window() -> None:
    source = source_of("0123456789" * 10)
    source.pos = 30
    source.keep(30)
    for _ in range(20):
        source.feed("abcdefghij" * 10)
        source.pos = len(source.text)
    text = "0123456789" * 10 + "abcdefghij" * 200
    assert source.base > 1000
    assert source.raw(30, 2100) == text[30:]
    assert source.raw(30, 40) == text[30:40]
    assert source.raw(777, 999) == text[777:999]
    assert source.raw(50, 50) == ""


def test_release_lets_go_and_a_later_keep_begins_anew() -> None:
    source = source_of("a" * 100)
    source.keep(0)
    source.pos = 100
    source.feed("b" * 100)
    assert source.raw(0, 200) == "a" * 100 + "b" * 100
    source.release()
    source.pos = len(source.text)
    source.keep(source.at)
    source.feed("c" * 100)
    source.pos = len(source.text)
    source.feed("d" * 100)
    assert source.raw(200, 400) == "c" * 100 + "d" * 100


def test_keeps_nest() -> None:
    source = source_of("a" * 100)
    source.keep(10)
    source.pos = 100
    source.feed("b" * 100)
    source.keep(150)
    source.pos = len(source.text)
    source.feed("c" * 100)
    source.release()
    source.pos = len(source.text)
    source.feed("d")
    assert source.raw(10, 301) == "a" * 90 + "b" * 100 + "c" * 100 + "d"


@given(data=st.data())
def test_raw_is_the_input(data: st.DataObject) -> None:
    """Whatever is fed, consumed and kept, ``raw`` gives the input back from the first keep on."""
    source = Source(data.draw(st.integers(-60, 0)))
    origin = source.base
    text = ""
    keeps: list[int] = []
    for delta in data.draw(st.lists(st.text("abc\n", max_size=70), max_size=12)):
        source.feed(delta)
        text += delta
        source.pos = data.draw(st.integers(source.pos, len(source.text)))
        step = data.draw(st.sampled_from(["", "keep", "release"]))
        if keeps and step == "release":
            keeps.pop()
            source.release()
        elif step == "keep":
            keeps.append(data.draw(st.integers(max([source.base, *keeps[:1]]), source.at)))
            source.keep(keeps[-1])
        low = keeps[0] if keeps else source.base
        start = data.draw(st.integers(low, origin + len(text)))
        end = data.draw(st.integers(start, origin + len(text)))
        assert source.raw(start, end) == text[start - origin : end - origin]
        assert source.text == text[source.base - origin :]


# -- finding markers -------------------------------------------------------------------------------


def test_find_gives_the_place_and_the_marker() -> None:
    source = source_of("x <a> y </a>")
    assert source.find(TAGS, 0) == 2
    assert source.hit == "<a>"
    assert source.find(TAGS, 3) == 8
    assert source.hit == "</a>"
    assert source.find(TAGS, 9) == NONE


@pytest.mark.parametrize("rest", ["<", "</", "</a", "<a"])
def test_the_beginning_of_a_marker_at_the_end_is_a_hit_without_a_marker(rest: str) -> None:
    source = source_of("text" + rest)
    assert source.find(TAGS, 0) == 4
    assert source.hit is None
    source.eof = True
    assert source.find(TAGS, 0) == NONE


def test_a_marker_in_many_feeds_is_found_once_it_is_whole() -> None:
    source = Source()
    found: list[tuple[int, str | None]] = []
    for character in "x</a>y":
        source.feed(character)
        found.append((source.find(TAGS, 0), source.hit))
    assert found == [(NONE, None), (1, None), (1, None), (1, None), (1, "</a>"), (1, "</a>")]


# -- what follows ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "eof", "expected", "at"),
    [
        ("  }", False, 1, 2),
        ("</a>", False, 0, 0),
        (" </", False, MORE, 1),
        (" </", True, NONE, 1),
        (" \t\r\n", False, MORE, 4),
        (" \t\r\n", True, END, 4),
        ("", False, MORE, 0),
        ("", True, END, 0),
        (" x}", False, NONE, 1),
        ("\xa0}", False, NONE, 0),
        ("</b", False, NONE, 0),
    ],
)
def test_follows(text: str, eof: bool, expected: int, at: int) -> None:
    source = source_of(text, eof=eof)
    assert source.follows(0, ("</a>", "}")) == expected
    assert source.follow_at == at


def test_follows_without_options_waits_for_any_character() -> None:
    source = source_of("  ")
    assert source.follows(0, ()) == MORE
    source.feed("x")
    assert source.follows(0, ()) == NONE
    assert source.follow_at == 2


def test_follows_takes_the_first_option_that_stands_there() -> None:
    source = source_of("==")
    assert source.follows(0, ("==", "=")) == 0
    assert source.follows(0, ("=", "==")) == 0
    assert source_of("=x").follows(0, ("==", "=")) == 1


def test_follows_waits_for_a_longer_option_of_higher_rank() -> None:
    """Else the split would decide between the two."""
    source = source_of("=")
    assert source.follows(0, ("==", "=")) == MORE
    assert source.follows(0, ("=", "==")) == 0
    source.eof = True
    assert source.follows(0, ("==", "=")) == 1


def test_follows_at_does_not_pass_blanks() -> None:
    source = source_of(" }")
    assert source.follows_at(0, ("}",)) == NONE
    assert source.follows_at(1, ("}",)) == 0
    assert source.follows_at(2, ("}",)) == MORE


def test_what_is_past_takes_gaps_for_blanks() -> None:
    assert past(source_of(" ;\n ; }"), 0, ("}",), (";",)) == 0
    source = source_of(" ; ")
    assert past(source, 0, ("}",), (";",)) == MORE
    source.eof = True
    assert past(source, 0, ("}",), (";",)) == END
    assert past(source_of(" , }"), 0, ("}",), (";",)) == NONE


@pytest.mark.parametrize(
    ("text", "expected"),
    [("x<a>", 1), ("x<a", 1), ("x<", 1), ("x", 1), ("", 0), ("<<", 1), ("<a>x", 4)],
)
def test_the_beginning_of_a_literal_at_the_end(text: str, expected: int) -> None:
    assert source_of(text).beginning(0, len(text), "<a>") == expected


@pytest.mark.parametrize(
    ("text", "eof", "expected"),
    [
        ("<a>x", False, 1),
        ("<a", False, MORE),
        ("<a", True, NONE),
        ("", False, MORE),
        ("", True, NONE),
        ("<b", False, NONE),
    ],
)
def test_starts(text: str, eof: bool, expected: int) -> None:
    assert source_of(text, eof=eof).starts(0, "<a>") == expected


def test_stop_skip_and_skip_over() -> None:
    source = source_of("  ;\t, name(x)")
    assert source.skip(0) == 2
    assert source.skip(2) == 2
    assert source.skip_over(0, " ;\t,") == 6
    assert source.skip_over(0, "]^-") == 0
    assert source.stop(NAME_STOP, 6) == 10
    assert source.stop(re.compile("!"), 0) == len(source.text)


def test_tail() -> None:
    source = source_of("ab \n\t cd")
    assert source.tail(0, 6) == 2
    assert source.tail(0, 2) == 2
    assert source.tail(0, 8) == 8
    assert source.tail(3, 6) == 3
    assert source.tail(4, 4) == 4
    assert source_of("a\xa0").tail(0, 2) == 2


def test_line_end() -> None:
    source = source_of("one\ntwo")
    assert source.line_end(0, 100) == 4
    assert source.line_end(4, 100) == MORE
    source.eof = True
    assert source.line_end(4, 100) == NONE


# -- surroundings ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", True),
        ("   ", True),
        ("\t", True),
        ("    ", False),
        ("a", False),
        ("a ", False),
        ("a\n", True),
        ("a\n   ", True),
        ("a\n    ", False),
        ("a\n b", False),
    ],
)
def test_line_start(text: str, expected: bool) -> None:
    assert source_of(text + "x").line_start(len(text)) is expected


def test_the_output_starts_a_line_whatever_the_prompt_ended_with() -> None:
    source = source_of("prompt", base=-6)
    source.feed("  x")
    assert source.line_start(6)
    assert source.line_start(8)


def test_a_line_start_is_seen_after_the_window_has_moved() -> None:
    source = source_of("x" * 200 + "\n")
    source.pos = len(source.text)
    source.feed("y")
    assert source.base > 0
    assert source.line_start(len(source.text) - 1)
    assert not source.line_start(len(source.text) - 2)


def test_before() -> None:
    source = source_of("ab")
    assert source.before(0) == ""
    assert source.before(1) == "a"
    assert source.before(2) == "b"
    prompted = source_of("prompt", base=-6)
    prompted.feed("o")
    assert prompted.before(6) == ""
    assert prompted.before(7) == "o"


def test_flagged() -> None:
    source = source_of("plain")
    source.feed("<a>", special=True)
    source.feed("<a>", special=False)
    source.feed("more")
    flags = [source.flagged(i) for i in range(len(source.text))]
    assert flags == [None] * 5 + [True] * 3 + [False] * 3 + [None] * 4


def test_flags_move_with_the_window() -> None:
    source = Source()
    source.feed("x" * 100, special=False)
    source.pos = 100
    source.feed("<a>", special=True)
    assert source.flagged(source.pos) is True
    assert source.flagged(source.pos - 1) is False
    source.pos = len(source.text)
    source.feed("y" * 100)
    source.pos = len(source.text)
    source.feed("z")
    assert source.flagged(0) is None


# -- counting --------------------------------------------------------------------------------------


def test_searches_count_what_they_examine() -> None:
    source = source_of("0123456789<a>")
    with counting() as count:
        source.find(TAGS, 0)
    assert count.characters == 13
    with counting() as count:
        source.find(TAGS, 11)
    assert count.characters == 2
    with counting() as count:
        source.skip(0)
    assert count.characters == 1
    with counting() as count:
        source.line_end(3, 100)
    assert count.characters == 10


def test_counts_nest_and_end_with_their_block() -> None:
    with counting() as outer:
        examined(1)
        with counting() as inner:
            examined(10)
        examined(100)
    examined(1000)
    assert (outer.characters, inner.characters) == (111, 10)


# -- patterns and short texts ----------------------------------------------------------------------


def test_word_ends() -> None:
    assert holds(NAME_STOP, "a b")
    assert not holds(NAME_STOP, "functions.a-b:0/é")
    assert holds(WORD_STOP, "a:b")
    assert not holds(WORD_STOP, "notes.add-2_é")
    assert holds(SCALAR_STOP, "1,")
    assert not holds(SCALAR_STOP, "-1.5e3 x")


@pytest.mark.parametrize("character", ["]", "^", "-", "\\", ">", "|"])
def test_tag_stop_takes_any_literal(character: str) -> None:
    pattern = tag_stop(character + "rest")
    for stop in (character, "<", "\n"):
        match = pattern.search("name" + stop)
        assert match is not None
        assert match.start() == 4


def test_one_of() -> None:
    pattern = one_of("]^-\\")
    assert [c for c in "a]b^c-d\\e" if pattern.fullmatch(c)] == ["]", "^", "-", "\\"]


def test_a_string_ends_at_what_needs_care() -> None:
    inside = string_patterns("”").inside
    for stop in ("”", '"', "\\", "\\x", "\n", "\x00", "\x1f", "\ud800", "\\ud800", "\\u12"):
        match = inside.match(f"a'“é\x7f\u2028 \\n\\\" \\u00e9{stop}!")
        assert match is not None
        assert match.group() == "a'“é\x7f\u2028 \\n\\\" \\u00e9"


@pytest.mark.parametrize(
    ("text", "care"),
    [
        *(("abc", False), ("a\\nb", False), ('\\"', False), ('a\\"b', False), ("\\\\n", False)),
        *(('"', True), ('\\\\"', True), ("a\\", True), ("\\x", True), ("\\u00e9", True), ("\n", True)),
        *(("\\\\", True), ('a"', True), ("\ud83d", True)),
    ],
)
def test_a_piece_of_a_string_that_needs_no_care(text: str, care: bool) -> None:
    assert (string_patterns('"').stop.search(text) is not None) == care


def test_every_split_of_a_text_gives_the_same_hits() -> None:
    text = "a<a></a<<a>b</a>"
    for cuts in itertools.combinations(range(1, len(text)), 3):
        source = Source()
        hits: list[tuple[int, str]] = []
        bounds = [0, *cuts, len(text)]
        for low, high in itertools.pairwise(bounds):
            source.feed(text[low:high])
            source.eof = high == len(text)
            while True:
                at = source.find(TAGS, source.pos)
                if at < 0:
                    source.pos = len(source.text)
                    break
                if source.hit is None:
                    source.pos = at
                    break
                hits.append((source.base + at, source.hit))
                source.pos = at + len(source.hit)
        assert hits == [(1, "<a>"), (8, "<a>"), (12, "</a>")]
