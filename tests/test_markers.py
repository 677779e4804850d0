"""Markers in one search, beginnings of markers at the end of the text, and text gathered piece by piece."""

from __future__ import annotations

import re
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolglot.markers import Markers, Rope
from toolglot.scanner import counting


def first(markers: Markers, text: str, start: int = 0, final: bool = False) -> tuple[int, str, bool] | None:
    """Place, text, and whether it is only a beginning."""
    match = markers.search(text, start, final)
    if match is None:
        return None
    return match.start(), match.group(), markers.partial(match, len(text), final)


# -- one marker ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a<tool>b", (1, "<tool>", False)),
        ("a<tool>", (1, "<tool>", False)),
        ("a<tool", (1, "<tool", True)),
        ("a<", (1, "<", True)),
        ("a<tolo>", None),
        ("a<to<tool>", (4, "<tool>", False)),
        ("a<to<to", (4, "<to", True)),
        ("", None),
    ],
)
def test_a_marker_or_its_beginning_at_the_end(text: str, expected: tuple[int, str, bool] | None) -> None:
    assert first(Markers(["<tool>"]), text) == expected


@pytest.mark.parametrize("text", ["a<tool", "a<", "<tool>x<too"])
def test_at_the_end_of_the_text_a_beginning_is_none(text: str) -> None:
    assert first(Markers(["<tool>"]), text, 1, final=True) is None


def test_a_search_starts_where_it_is_told() -> None:
    markers = Markers(["ab"])
    assert first(markers, "ab ab", 1) == (3, "ab", False)
    assert first(markers, "ab ab", 4) is None


def test_characters_of_patterns_are_literal() -> None:
    markers = Markers(["[a.b]*", "(?x)", "$^|"])
    assert first(markers, "xxaab[a.b]*") == (5, "[a.b]*", False)
    assert first(markers, "(?x)") == (0, "(?x)", False)
    assert first(markers, "ab$^|") == (2, "$^|", False)


def test_no_markers_find_nothing() -> None:
    markers = Markers([])
    assert first(markers, "") is None
    assert first(markers, "anything <") is None
    assert first(markers, "anything <", final=True) is None
    assert markers.literals == frozenset()


def test_the_end_of_the_text_alone_begins_no_marker() -> None:
    assert first(Markers(["ab"]), "x") is None
    assert first(Markers(["ab"]), "x", 1) is None


# -- several ---------------------------------------------------------------------------------------


def test_the_first_in_the_text_wins() -> None:
    markers = Markers(["<a>", "<b>"])
    assert first(markers, "x<b><a>") == (1, "<b>", False)


@pytest.mark.parametrize(
    ("text", "final", "expected"),
    [
        ("ab", False, (0, "ab", True)),
        ("ab", True, (0, "ab", False)),
        ("abc", False, (0, "abc", True)),
        ("abc", True, (0, "ab", False)),
        ("abcd", False, (0, "abcd", False)),
        ("abcx", False, (0, "ab", False)),
        ("abx", False, (0, "ab", False)),
    ],
)
def test_a_marker_that_begins_a_longer_one(text: str, final: bool, expected: tuple[int, str, bool]) -> None:
    assert first(Markers(["ab", "abcd"]), text, final=final) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("aaa", (0, "aaa", False)),
        ("aaaa", (0, "aaa", False)),
        ("aa", (0, "aa", True)),
        ("baab", None),
        ("baabaaa", (4, "aaa", False)),
        ("baabaa", (4, "aa", True)),
    ],
)
def test_a_marker_of_one_letter(text: str, expected: tuple[int, str, bool] | None) -> None:
    assert first(Markers(["aaa"]), text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("abab", (0, "abab", True)),
        ("ababac", (0, "ababac", False)),
        ("abababac", (2, "ababac", False)),
        ("ababab", (2, "abab", True)),
        ("ababa", (0, "ababa", True)),
    ],
)
def test_a_marker_that_overlaps_itself(text: str, expected: tuple[int, str, bool]) -> None:
    assert first(Markers(["ababac"]), text) == expected


@given(
    literals=st.lists(st.text("ab<", min_size=1, max_size=5), min_size=1, max_size=5),
    text=st.text("ab<", max_size=20),
    start=st.integers(0, 20),
    final=st.booleans(),
)
def test_the_search_is_what_it_should_be(literals: list[str], text: str, start: int, final: bool) -> None:
    """Against the definition: the first place where a marker stands or may still come to stand."""
    start = min(start, len(text))
    expected: tuple[int, str, bool] | None = None
    for at in range(start, len(text)):
        rest = text[at:]
        whole = max((m for m in literals if rest.startswith(m)), key=len, default="")
        open_end = not final and any(len(m) > len(rest) and m.startswith(rest) for m in literals)
        if open_end or whole:
            expected = (at, rest if open_end else whole, open_end)
            break
    assert first(Markers(literals), text, start, final) == expected


# -- backticks and lines ---------------------------------------------------------------------------


def test_a_run_of_backticks_may_grow_at_the_end() -> None:
    markers = Markers(["<a>"], code=True)
    assert first(markers, "x``y") == (1, "``", False)
    assert first(markers, "x``") == (1, "``", True)
    assert first(markers, "x``", final=True) == (1, "``", False)
    assert first(Markers(["<a>"]), "x``y") is None


def test_newlines_are_hits_on_request() -> None:
    markers = Markers(["<a>"], code=True, lines=True)
    assert first(markers, "x\n") == (1, "\n", False)
    assert first(markers, "x\n<a>") == (1, "\n", False)
    assert first(Markers(["<a>"], code=True), "x\n<a>") == (2, "<a>", False)


# -- ropes -----------------------------------------------------------------------------------------


def test_a_rope_is_its_pieces() -> None:
    rope = Rope()
    assert (rope.text(), rope.length, rope.slice(0, 0)) == ("", 0, "")
    for piece in ("ab", "", "c", "def"):
        rope.append(piece)
    assert (rope.text(), rope.length) == ("abcdef", 6)
    assert rope.slice(1, 4) == "bcd"
    assert rope.slice(0, 6) == "abcdef"
    assert rope.slice(2, 99) == "cdef"
    assert rope.slice(4, 4) == ""
    assert rope.slice(5, 2) == ""


def test_a_rope_goes_on_after_it_was_read() -> None:
    rope = Rope()
    rope.append("ab")
    assert rope.slice(0, 2) == "ab"
    rope.append("cd")
    assert rope.text() == "abcd"
    rope.append("ef")
    assert rope.slice(1, 5) == "bcde"
    assert rope.text() == "abcdef"


@pytest.mark.parametrize("pieces", [511, 512, 513, 1500])
def test_a_rope_of_many_pieces(pieces: int) -> None:
    rope = Rope()
    for number in range(pieces):
        rope.append(f"{number:04d}")
    text = "".join(f"{number:04d}" for number in range(pieces))
    assert rope.text() == text
    assert rope.length == 4 * pieces
    for start, end in ((0, 3), (2040, 2060), (2047, 2049), (1, 4 * pieces - 1), (4 * pieces - 2, 4 * pieces)):
        assert rope.slice(start, end) == text[start:end]


@given(
    pieces=st.lists(st.text("abc", max_size=3), max_size=30),
    cuts=st.lists(st.tuples(st.integers(0, 90), st.integers(0, 90)), max_size=5),
)
def test_a_slice_of_a_rope_is_a_slice_of_its_text(pieces: list[str], cuts: list[tuple[int, int]]) -> None:
    rope = Rope()
    text = ""
    for number, piece in enumerate(pieces):
        rope.append(piece)
        text += piece
        if number % 7 == 0:
            assert rope.text() == text
    for start, end in cuts:
        low, high = min(start, len(text)), min(end, len(text))
        assert rope.slice(low, high) == text[low:high]


def test_a_large_set_finds_what_a_small_one_does() -> None:
    few = ["[", "[get(", "<|x|>", "<|xy", "ab", "abcd", "```tool", "\n>"]
    many = [*few, *(f"#{n:03}#" for n in range(60))]
    small, large = Markers(few, code=True, lines=True), Markers(many, code=True, lines=True)
    pieces = [
        "[",
        "[g",
        "[get(",
        "<|x",
        "<|x|>",
        "<|xyz",
        "ab",
        "abc",
        "abcd",
        "`",
        "````",
        "```tool",
        "\n",
        " ",
    ]
    for text in map("".join, product(pieces, repeat=3)):
        for final in (False, True):
            one, other = small.search(text, 0, final), large.search(text, 0, final)
            assert (one and one.span()) == (other and other.span()), text
            if one is not None and other is not None:
                assert small.partial(one, len(text), final) == large.partial(other, len(text), final), text


# -- long texts ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "literals",
    [["<tool>"], ["call:", "[TOOL]", "->"], ["functools", "<a>"], ["ab", "abc", "\n<|im|>"], ["tool"]],
)
@given(
    pieces=st.lists(
        st.tuples(
            st.sampled_from(
                ["x" * 700, "ab cd\n" * 90, "a<b ", "<to", "call", ":", "[T", "- ", "x" * 3000, ""]
            ),
            st.sampled_from(["", "", "<tool>", "call:", "->", "functools", "abc", "\n<|im|>", "<too"]),
        ),
        max_size=6,
    ),
    final=st.booleans(),
    code=st.booleans(),
)
def test_a_long_text_is_searched_as_a_short_one(
    literals: list[str], pieces: list[tuple[str, str]], final: bool, code: bool
) -> None:
    text = "".join(filling + marker for filling, marker in pieces)
    markers = Markers(literals, code=code)
    plain = re.compile(markers.beginning().pattern) if not final else None
    found = first(markers, text, final=final)
    if plain is not None:
        match = plain.search(text)
        assert (found and found[:2]) == (match and (match.start(), match.group()))
    else:
        whole = [text.find(literal) for literal in literals if literal in text]
        runs = [text.find(run) for run in "`~" if code and run in text]
        assert (None if found is None else found[0]) == min([*whole, *runs], default=None)


def test_a_long_text_without_a_hit_is_looked_at_once_for_each_rare_character() -> None:
    markers = Markers(["call:", "[TOOL]", "functools", "functions.get_x:"], code=True)
    text = "x" * 100_000
    with counting() as count:
        assert markers.search(text, 0, final=False) is None
    # For ``:``, ``[``, the word that has nothing rare, and the two characters of code; near the end for all.
    assert 5 * len(text) - 5_000 < count.characters < 5 * len(text) + 5_000
    assert first(markers, text + "functools") == (100_000, "functools", False)


@pytest.mark.parametrize("start", [0, 1_030, 4_980, 5_000])
@pytest.mark.parametrize("length", [5_010, 5_070, 9_000])
def test_a_word_is_looked_for_by_what_stands_behind_it(start: int, length: int) -> None:
    markers = Markers(["functools", "<a>"], then={"functools": "["})
    text = "func tools < [ " * 333 + "then " + "functools["
    assert first(markers, text.ljust(length, "."), start) == (5_000, "functools", False)
    assert first(markers, text[:-1], start) == (5_000, "functools", False)


def test_a_word_with_nothing_behind_it_costs_no_search_of_its_own() -> None:
    markers = Markers(["functools", "<a>"], then={"functools": "["})
    text = "." * 2_000 + "functools, " * 10_000 + "." * 100
    with counting() as count:
        assert markers.search(text, 0, final=False) is None
    assert 2 * len(text) - 10_000 < count.characters < 2 * len(text) + 10_000


def test_a_text_with_few_rare_characters_is_looked_at_once_for_each() -> None:
    markers = Markers(["call:", "[TOOL]", "get_x("], code=True)
    text = ("See: it goes [on] and on. " + "So it goes, and gets on. " * 40) * 60
    with counting() as count:
        assert markers.search(text, 0, final=False) is None
    # For ``:``, ``[``, ``_`` and the two characters of code, and up to twice for one that is far.
    assert count.characters < 10 * len(text)
