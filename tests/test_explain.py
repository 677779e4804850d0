"""explain: every character accounted for, in marks and in colour, and nothing that acts on a terminal."""

from __future__ import annotations

import re
from textwrap import dedent

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
    Text,
)
from toolglot.explain import MARKS, MEANINGS, explain, position, visible

CALL = 'Hi 東\n<call>{"name": "get", "args": {"a": 1,}}</call>'


def call_events() -> list[Event]:
    """One call with a repaired comma, and no text lost."""
    name, args, end = CALL.index("get"), CALL.index('{"a"'), CALL.index("}</call>")
    return [
        Text(CALL[:4], (0, 4)),
        Markup((4, name)),
        CallStart(0, "c1", "get", (name, name + 3)),
        Markup((name + 3, args)),
        Arguments(0, '{"a": 1}', (args, end)),
        Defect(DefectKind.REPAIRED, ",", "trailing comma left out", (end - 2, end - 1), 0),
        CallEnd(0, {"a": 1}, (end, end + 1)),
        Markup((end + 1, len(CALL))),
    ]


def test_marks_under_text() -> None:
    assert explain(CALL, call_events(), dialect="demo") == dedent(
        """\
        demo: 52 characters, 1 call, 1 defect
        m markup   . content   r reasoning   n name   a arguments   e end   ! defect

           1 | Hi 東↵
               .....m
           2 | <call>{"name": "get", "args": {"a": 1,}}</call>
               mmmmmmmmmmmmmmmmnnnmmmmmmmmmmmaaaaaaaaaemmmmmmm
                                                    ! 1 repaired

        calls
          0  get  {"a": 1}

        defects
          1  repaired at 2:38: trailing comma left out
             the text was read as if it had been written right
             raw  ,
        """
    )


def test_colour_has_the_same_text_and_no_mark_rows() -> None:
    shown = explain(CALL, call_events(), dialect="demo", color=True)
    rows = [re.sub(r"\x1b\[[0-9;]*m", "", line) for line in shown.splitlines()]
    assert rows[3:6] == [
        "   1 | Hi 東↵",
        '   2 | <call>{"name":·"get",·"args":·{"a": 1,}}</call>',
        " " * 44 + "! 1 repaired",
    ]


def test_colour_styles_each_kind_and_underlines_the_defect() -> None:
    row = explain(CALL, call_events(), color=True).splitlines()[4]
    assert row == (
        '   2 | \x1b[0;2m<call>{"name":·"\x1b[0;1;32mget\x1b[0;2m",·"args":·\x1b[0;33m{"a": 1'
        "\x1b[0;33;4m,\x1b[0;33m}\x1b[0;35m}\x1b[0;2m</call>\x1b[0m"
    )


def test_relabelled_text_is_reasoning() -> None:
    shown = explain("ab</t>c", [Text("ab", (0, 2)), Relabel((0, 2)), Markup((2, 6)), Text("c", (6, 7))])
    assert shown.splitlines()[3:5] == ["   1 | ab</t>c", "       rrmmmm."]


def test_empty_text() -> None:
    assert explain("", []).splitlines()[3:] == ["   1 |", "", "", "no defects"]


def test_a_character_that_no_event_has_is_told() -> None:
    lines = explain("ab", [Text("a", (0, 1))]).splitlines()
    assert lines[1].endswith("   ? unaccounted for")
    assert lines[4] == "       .?"


def test_nothing_acts_on_a_terminal() -> None:
    text = "\x1b[31m\u202e\ud800\x07\x85\u2028\r\x7f"
    events: list[Event] = [
        CallStart(0, "i", text, (0, 0)),
        Text(text, (0, len(text))),
        Defect(DefectKind.LIMIT, text, text, (0, 3)),
    ]
    shown = explain(text, events)
    assert "␛[31m<U+202E><U+D800>␇<U+0085><U+2028>␍␡" in shown
    assert set(re.findall(r"[\x00-\x1f\x7f-\x9f\u2028\u202e\ud800]", shown)) == {"\n"}


def test_visible() -> None:
    assert visible("a\tb\n\u200b") == "a␉b↵<U+200B>"


def test_combining_characters_take_no_column() -> None:
    shown = explain("e\u0301x", [Text("e\u0301", (0, 2)), Reasoning("x", (2, 3))])
    assert shown.splitlines()[4] == "       .r"


def test_long_lines_wrap() -> None:
    text = "x" * 25
    shown = explain(text, [Text(text, (0, 25)), Defect(DefectKind.LIMIT, "x", "d", (20, 21))], width=27)
    assert shown.splitlines()[3:8] == [
        "   1 | " + "x" * 20,
        "       " + "." * 20,
        "     : xxxxx",
        "       .....",
        "       ! 1 limit",
    ]


def test_wide_characters_do_not_cross_the_width() -> None:
    text = "a" + "東" * 12
    rows = explain(text, [Text(text, (0, 13))], width=27).splitlines()
    assert rows[3:7] == ["   1 | a" + "東" * 9, "       " + "." * 19, "     : 東東東", "       ......"]


def test_long_stretches_are_cut_short_unless_full() -> None:
    text = "x\n" * 20
    events: list[Event] = [Text(text, (0, 40))]
    rows = explain(text, events).splitlines()
    assert rows[9] == "       ... 14 more rows of content (--full shows them)"
    assert [row[:4] for row in rows[3:9:2] + rows[10:16:2]] == [
        "   1",
        "   2",
        "   3",
        "  18",
        "  19",
        "  20",
    ]
    assert len(explain(text, events, full=True).splitlines()) == len(rows) - 1 + 28


def test_a_stretch_is_not_cut_where_a_defect_begins() -> None:
    text = "x\n" * 20
    shown = explain(text, [Text(text, (0, 40)), Defect(DefectKind.REJECTED, "x", "d", (18, 19))])
    assert "  10 | x↵\n       ..\n       ! 1 rejected\n" in shown
    assert "more rows" not in shown.split("  10 |")[0]


def test_a_defect_over_many_rows_is_named_once() -> None:
    text = "ab\ncd\nef"
    rows = explain(text, [Text(text, (0, 8)), Defect(DefectKind.REJECTED, text, "d", (1, 7))]).splitlines()
    assert [row for row in rows if "!" in row][1:] == ["        !! 1 rejected", "       !!!", "       !"]


def test_a_defect_at_the_end_has_a_place() -> None:
    rows = explain(
        "a\n", [Text("a\n", (0, 2)), Defect(DefectKind.UNCLOSED_CALL, "", "d", (2, 2))]
    ).splitlines()
    assert rows[5:8] == ["   2 |", "", "       ! 1 unclosed_call"]


def test_labels_that_do_not_fit_on_the_right() -> None:
    text = "x" * 20
    left = Defect(DefectKind.LIMIT, "", "d", (17, 18))
    none = Defect(DefectKind.ARGUMENTS_NOT_AN_OBJECT, "", "d", (0, 20))
    rows = explain(text, [Text(text, (0, 20)), left, none], width=27).splitlines()
    assert rows[5:8] == [
        "       " + " " * 9 + "1 limit !",
        "       " + "!" * 20,
        "       2 arguments_not_an_object",
    ]


def test_a_call_without_an_end_points_to_its_defect() -> None:
    events: list[Event] = [
        Markup((0, 1)),
        CallStart(0, "i", "f", (1, 2)),
        Defect(DefectKind.UNCLOSED_CALL, "(f", "the text ended", (0, 2), 0),
    ]
    assert "calls\n  0  f  no call, see defect 1\n" in explain("(f", events)


def test_long_raw_text_is_shortened_in_the_middle() -> None:
    text = "a" * 50 + "b" * 50
    shown = explain(text, [Text(text, (0, 100)), Defect(DefectKind.REJECTED, text, "d", (0, 100))])
    assert f"     raw  {'a' * 37}...{'b' * 20}  (100 characters)\n" in shown


def test_position() -> None:
    assert [position("ab\nc", at) for at in range(5)] == ["1:1", "1:2", "1:3", "2:1", "2:2"]


def test_every_kind_of_defect_has_a_meaning() -> None:
    assert set(MEANINGS) == set(DefectKind)


def test_marks_are_distinct() -> None:
    assert len({*MARKS.values(), "!", "?"}) == len(MARKS) + 2
