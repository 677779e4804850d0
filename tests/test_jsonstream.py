"""JSON read while it grows: what passes as it is, what is mended, and what is given up."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolglot.events import DefectKind
from toolglot.faults import BodyFault, Cut, Malformed, OverLimit
from toolglot.jsonstream import ValueReader
from toolglot.scanner import Source
from toolglot.sinks import Collect, Sink, Skip, Tap

ROOM = 1 << 24
CLOSE = "</c>"

Repairs = list[tuple[str, int, int]]


class Pieces:
    """A sink that keeps each piece apart, with the characters it stands for."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.taken: list[tuple[str, int]] = []
        self.room = ROOM

    def live(self) -> int:
        return -1

    def sent(self, text: str, raw: bool) -> None:
        raise AssertionError("nothing goes out as it comes")

    def take(self, text: str, count: int) -> None:
        self.taken.append((text, count))
        self.source.pos += count

    def take_plain(self, text: str) -> None:
        self.take(text, len(text))

    def take_raw(self, text: str) -> None:
        self.take(json.dumps(text, ensure_ascii=False)[1:-1], len(text))

    def take_value(self, text: str, count: int, value: Any) -> None:
        assert json.loads(text) == value
        self.take(text, count)

    def text(self) -> str:
        return "".join(text for text, _ in self.taken)


def read(
    deltas: Iterable[str], *, eof: bool = True, tap: Tap | None = None, **options: Any
) -> tuple[str, int, Repairs]:
    """The JSON text, how many characters it was read from, and the repairs."""
    source = Source()
    sink = Pieces(source)
    repairs: Repairs = []
    steps = ValueReader(
        source, sink, repaired=lambda *repair: repairs.append(repair), tap=tap, **options
    ).value()
    queue = list(deltas)
    while True:
        if queue:
            source.feed(queue.pop(0))
        else:
            assert not source.eof, "the reader waits for text after the end"
            source.eof = eof
        try:
            next(steps)
        except StopIteration:
            break
    assert sum(count for _, count in sink.taken) == source.at
    return sink.text(), source.at, repairs


def outcome(deltas: Iterable[str], **options: Any) -> tuple[object, ...]:
    """As ``read``, with a fault as a value."""
    try:
        return read(deltas, **options)
    except BodyFault as fault:
        return type(fault), fault.detail


def every_way(text: str, **options: Any) -> tuple[object, ...]:
    """The outcome, which must be the same in every split in two, and one character a delta."""
    whole = outcome([text], **options)
    assert outcome(text, **options) == whole
    for at in range(1, len(text)):
        assert outcome([text[:at], text[at:]], **options) == whole, f"split at {at}"
    return whole


# -- valid JSON ------------------------------------------------------------------------------------

# fmt: off
VALID = [
    "{}", "[]", '""', '"a"', "[1]", '{"a": 1}', "{ }", "[ ]", '{\n\t"a" : [ 1 , 2 ]\r\n}',
    '{"a": {"b": {"c": [[], {}, [{}]]}}}', "[true, false, null]",
    "[0, -0, 1.0, 1.50, -1.5e-10, 1E+400, 1e5]",
    '["\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9"]', '["é東👩‍🚀\x7f\u2028"]',
    '["\\ud83d\\ude00"]', '["\\uD83D\\uDE00"]',
    '{"a": 1, "a": 2}', '["it\'s", "“x”", "</c>", "a, b", "k: v", "]}"]', '{"": ""}',
    '["\\\\", "\\\\\\""]', f"[{'9' * 5000}]",
]
# fmt: on


@pytest.mark.parametrize("lenient", [False, True])
@pytest.mark.parametrize("text", VALID)
def test_valid_json_passes_as_it_is_spelled(text: str, lenient: bool) -> None:
    assert every_way(text, lenient=lenient, closers=(CLOSE,)) == (text, len(text), [])


@pytest.mark.parametrize("lenient", [False, True])
@pytest.mark.parametrize("text", ["{}", "[1]", '"a"', "[[]]"])
def test_the_value_ends_at_its_own_end(text: str, lenient: bool) -> None:
    for rest in ("}", "]", ", 1", " x", '"', CLOSE, "{"):
        assert every_way(text + rest, lenient=lenient) == (text, len(text), [])


@pytest.mark.parametrize("lenient", [False, True])
def test_a_bracketed_value_waits_for_nothing_behind_it(lenient: bool) -> None:
    assert read(["[1", "]"], eof=False, lenient=lenient) == ("[1]", 3, [])
    assert read(['{"a": "b"', "}"], eof=False, lenient=lenient) == ('{"a": "b"}', 10, [])


def test_blanks_before_the_value_are_read_with_it() -> None:
    assert every_way(" \n {}") == (" \n {}", 5, [])


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**30), 10**30)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
    | st.text("\"'\\,:]}[{“” \n</c>`", max_size=12),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text("ab\"',:}“ ", max_size=4), inner, max_size=4)
    ),
    max_leaves=8,
)


@st.composite
def spellings(draw: st.DrawFn) -> str:
    """A valid JSON text: any value in any of the usual layouts, inside of a bracket."""
    value = [draw(json_values)] if draw(st.booleans()) else {"k": draw(json_values), "l": draw(json_values)}
    layout: dict[str, Any] = draw(
        st.sampled_from(
            [{}, {"indent": 1}, {"separators": (",", ":")}, {"separators": (" , ", " : ")}, {"indent": "\t"}]
        )
    )
    return json.dumps(value, ensure_ascii=draw(st.booleans()), **layout)


@given(text=spellings(), lenient=st.booleans(), data=st.data())
def test_valid_json_is_never_altered(text: str, lenient: bool, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=4)))
    deltas = [text[low:high] for low, high in itertools.pairwise([0, *cuts, len(text)])]
    assert read(deltas, lenient=lenient, closers=(CLOSE,)) == (text, len(text), [])


@given(text=st.text("{}[]\",:'\\1-.eEtrufalsn “”N\n</c>`", max_size=25), lenient=st.booleans())
def test_any_text_is_read_the_same_way_in_any_split(text: str, lenient: bool) -> None:
    """And what comes out whole is valid JSON."""
    whole = outcome([text], lenient=lenient, closers=(CLOSE,))
    assert outcome(text, lenient=lenient, closers=(CLOSE,)) == whole
    if len(whole) == 3:
        json.loads(str(whole[0]), parse_constant=lambda word: pytest.fail(f"{word} is not JSON"))


@given(text=st.text("{}[]\",:'\\1-.etru “”\n", max_size=25))
def test_what_strict_takes_is_what_json_takes(text: str) -> None:
    text = "[" + text
    got = outcome([text])
    if len(got) == 3:
        value, length, repairs = got
        assert isinstance(length, int)
        assert value == text[:length]
        assert repairs == []
        json.loads(text[:length])
    else:
        with pytest.raises(ValueError, match=r"."):
            json.loads(text)


@given(text=spellings(), data=st.data())
def test_what_was_sent_is_a_prefix_of_the_whole(text: str, data: st.DataObject) -> None:
    """What went out for a cut text can be gone on with, whatever comes."""
    at = data.draw(st.integers(0, len(text)))
    source = Source()
    sink = Pieces(source)
    steps = ValueReader(source, sink, lenient=True).value()
    for character in text[:at]:
        source.feed(character)
        next(steps, None)
    assert text.startswith(sink.text())


# -- what streams ----------------------------------------------------------------------------------


def sent_after(text: str, **options: Any) -> str:
    """What has gone to the sink once the text was fed, one character at a time, and more may come."""
    source = Source()
    sink = Pieces(source)
    steps = ValueReader(source, sink, **options).value()
    for character in text:
        source.feed(character)
        next(steps, None)
    return sink.text()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"a": "some te', '{"a": "some te'),
        ('{"a": "x\\', '{"a": "x'),
        ('{"a": "x\\u00', '{"a": "x'),
        ('{"a": "x\\u00e9', '{"a": "x\\u00e9'),
        ('{"a": "x\\ud83d', '{"a": "x'),
        ('{"a": "x\\ud83d\\ude0', '{"a": "x'),
        ('{"a": "x\\ud83d\\ude00', '{"a": "x\\ud83d\\ude00'),
        ('{"a": "x\\ud83dy', '{"a": "x\\ufffdy'),
        ('{"a": 12', '{"a": '),
        ('{"a": 12,', '{"a": 12,'),
        ('{"a": tru', '{"a": '),
        ('{"a": true', '{"a": '),
        ('{"a": true}', '{"a": true}'),
        ("[", "["),
        ('{"a', "{"),
        ('{"a": ', "{"),
        ('{"a": "', '{"a": "'),
    ],
)
def test_what_is_sent_while_more_may_come(text: str, expected: str) -> None:
    assert sent_after(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"a": "x"', '{"a": "x'),
        ('{"a": "x" ', '{"a": "x'),
        ('{"a": "x"}', '{"a": "x"}'),
        ('{"a": "x",', '{"a": "x'),
        ('{"a": "x", "', '{"a": "x", '),
        ('{"a": "x" y', '{"a": "x\\" y'),
        ("[1,", "[1"),
        ("[1,2", "[1,"),
        ("[1,]", "[1]"),
    ],
)
def test_a_lenient_reader_waits_where_a_repair_may_be_needed(text: str, expected: str) -> None:
    assert sent_after(text, lenient=True) == expected


# -- repairs ---------------------------------------------------------------------------------------

# fmt: off
REPAIRS: list[tuple[str, str, list[tuple[int, int]]]] = [
    # Python literals
    ("[True]", "[true]", [(1, 5)]),
    ("[False, None]", "[false, null]", [(1, 6), (8, 12)]),
    ('{"a": True}', '{"a": true}', [(6, 10)]),
    # not JSON, and no value either: kept as text
    ("[NaN]", '["NaN"]', [(1, 4)]),
    ("[-Infinity, Infinity]", '["-Infinity", "Infinity"]', [(1, 10), (12, 20)]),
    # quotes
    ("['a']", '["a"]', [(1, 2)]),
    ("{'a': 'b'}", '{"a": "b"}', [(1, 2), (6, 7)]),
    ("['say \"hi\"']", '["say \\"hi\\""]', [(1, 2)]),
    ("['it\\'s']", '["it\'s"]', [(1, 2), (4, 6)]),
    ("[“a”]", '["a"]', [(1, 2)]),
    ("{“a”: ‘b’}", '{"a": "b"}', [(1, 2), (6, 7)]),
    ("[“say \"hi\"”]", '["say \\"hi\\""]', [(1, 2)]),
    # raw control characters, one report for a run
    ('["a\nb"]', '["a\\nb"]', [(3, 4)]),
    ('["a\n\n\tb"]', '["a\\n\\n\\tb"]', [(3, 4)]),
    ('["a\x00b"]', '["a\\u0000b"]', [(3, 4)]),
    ('{"a": "1\r\n2"}', '{"a": "1\\r\\n2"}', [(8, 9)]),
    # unescaped inner quotes
    ('["say "hi" now"]', '["say \\"hi\\" now"]', [(6, 7)]),
    ('{"a": "<b id="x">"}', '{"a": "<b id=\\"x\\">"}', [(13, 14)]),
    ('{"a": "x "y", z"}', '{"a": "x \\"y\\", z"}', [(9, 10)]),
    ('{"a": "x", "b": "y"}', '{"a": "x", "b": "y"}', []),
    # trailing commas
    ("[1,]", "[1]", [(2, 3)]),
    ("[1, ]", "[1 ]", [(2, 3)]),
    ('{"a": 1,\n}', '{"a": 1\n}', [(7, 8)]),
    ('{"a": "x",}', '{"a": "x"}', [(9, 10)]),
    ('[["x",],]', '[["x"]]', [(5, 6), (7, 8)]),
    # escapes that JSON does not have
    ('["\\d+"]', '["\\\\d+"]', [(2, 4)]),
    ('["C:\\x"]', '["C:\\\\x"]', [(4, 6)]),
    ('["\\user"]', '["\\\\user"]', [(2, 4)]),
]
# fmt: on


@pytest.mark.parametrize(("text", "expected", "spans"), REPAIRS)
def test_a_repair_is_made_and_reported(text: str, expected: str, spans: list[tuple[int, int]]) -> None:
    got, length, repairs = every_way(text + CLOSE, lenient=True, closers=(CLOSE,))
    assert got == expected
    assert length == len(text)
    assert isinstance(repairs, list)
    assert [(start, end) for _, start, end in repairs] == spans
    json.loads(expected)


@pytest.mark.parametrize("text", [text for text, _, spans in REPAIRS if spans])
def test_strict_repairs_nothing(text: str) -> None:
    assert every_way(text)[0] is Malformed


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"a": 1', '{"a": 1}'),
        ('{"a": {"b": [1', '{"a": {"b": [1]}}'),
        ('{"a": "x"', '{"a": "x"}'),
        ('{"a": "x"\n', '{"a": "x"\n}'),
        ('{"a": "x"}', '{"a": "x"}'),
        ('["a", "b"', '["a", "b"]'),
    ],
)
def test_a_bracket_missing_before_the_close_marker(text: str, expected: str) -> None:
    got, length, repairs = every_way(text + CLOSE, lenient=True, closers=(CLOSE,))
    assert (got, length) == (expected, len(text))
    assert isinstance(repairs, list)
    assert len(repairs) == len(expected) - len(text)


@pytest.mark.parametrize(
    "text", ['{"a": 1', '{"a": {"b": [1', '{"a": "x"', '{"a": tru', '{"a": "x', '{"a":', "[1,"]
)
def test_what_was_cut_is_never_completed(text: str) -> None:
    assert every_way(text, lenient=True, closers=(CLOSE,))[0] is Cut
    assert every_way(text)[0] is Cut


@pytest.mark.parametrize("text", ['{"a": "x', '{"a": "x </c> y', '{"a": "x\\', '{"a'])
def test_a_close_marker_inside_a_string_closes_nothing(text: str) -> None:
    assert every_way(text, lenient=True, closers=(CLOSE,))[0] is Cut


def test_a_bracket_is_not_supplied_before_another_text() -> None:
    assert every_way('{"a": 1 </d>', lenient=True, closers=(CLOSE,))[0] is Malformed
    assert every_way('{"a": 1 </c>', lenient=True)[0] is Malformed
    assert every_way('{"a": 1 </c>', closers=(CLOSE,))[0] is Malformed


# -- faults ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("lenient", [False, True])
@pytest.mark.parametrize(
    "text",
    [
        "[1 2]",
        '{"a": 1 "b": 2}',
        "{1: 2}",
        "{a: 1}",
        "[}",
        "{]",
        "[01]",
        "[+1]",
        "[.5]",
        "[1.]",
        "[1e]",
        "[0x1]",
        "[1_0]",
        "[tru]",
        "[nulll]",
        "[TRUE]",
        "[yes]",
        "[,]",
        '{"a": }',
        '{"a":, }',
        "x ",
        "]",
        "(1)",
        "[1;2]",
    ],
)
def test_malformed(text: str, lenient: bool) -> None:
    assert every_way(text, lenient=lenient)[0] is Malformed


@pytest.mark.parametrize(
    "text",
    ['{"a" 1}', '{"a"= 1}', "[1,]", "{,}", "[1,,2]", '{"a": 1,}', '["a" "b"]', '["\\x"]', '["\\u12g4"]'],
)
def test_malformed_only_for_strict(text: str) -> None:
    assert every_way(text)[0] is Malformed


# fmt: off
CUTS = [
    "", " ", "{", "[", '"', '"a', '"a\\', '"\\u00', '{"a"', '{"a":', '{"a": "', '{"a": "b"',
    '{"a": 1', '{"a": 1,', "[1,", "[tru", "[-", "[1.", '[{"a": [', "1", "true",
]
# fmt: on


@pytest.mark.parametrize("lenient", [False, True])
@pytest.mark.parametrize("text", CUTS)
def test_a_text_that_ends_too_early_is_cut(text: str, lenient: bool) -> None:
    assert every_way(text, lenient=lenient)[0] is Cut


def test_faults_say_what_was_expected() -> None:
    assert every_way("[1 2]") == (Malformed, "expected ',' or ']', found '2'")
    assert every_way("{1: 2}") == (Malformed, "expected a key, found '1'")
    assert every_way('{"a" 1}') == (Malformed, "expected ':', found '1'")
    assert every_way("[nope]") == (Malformed, "expected a value, found 'nope'")
    assert every_way('["a\nb"]') == (Malformed, "raw control character inside a string")
    assert every_way('["\\x"]') == (Malformed, "\\x is no escape of JSON")
    assert every_way("[1") == (Cut, "the text ends inside a value")
    assert every_way('["a') == (Cut, "the text ends inside a string")


def test_a_fault_has_a_kind() -> None:
    assert Malformed("x").kind is DefectKind.MALFORMED_CALL
    assert Malformed("x", DefectKind.ARGUMENTS_NOT_AN_OBJECT).kind is DefectKind.ARGUMENTS_NOT_AN_OBJECT
    assert Cut("cut").detail == "cut"


# -- surrogates, numbers, nesting ------------------------------------------------------------------


@pytest.mark.parametrize("lenient", [False, True])
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('["\\ud83d"]', '["\\ufffd"]'),
        ('["\\ude00"]', '["\\ufffd"]'),
        ('["\\uDE00\\uD83D"]', '["\\ufffd\\ufffd"]'),
        ('["\\ud83d\\ud83d\\ude00"]', '["\\ufffd\\ud83d\\ude00"]'),
        ('["\\ud83d\\u0041"]', '["\\ufffd\\u0041"]'),
        ('["\\ud83dx"]', '["\\ufffdx"]'),
        ('["\\ud83d\\n"]', '["\\ufffd\\n"]'),
        ('["\\\\ud83d"]', '["\\\\ud83d"]'),
        ('{"\\ud800": "\\uDC00"}', '{"\\ufffd": "\\ufffd"}'),
    ],
)
def test_a_lone_surrogate_becomes_a_replacement_character(text: str, expected: str, lenient: bool) -> None:
    assert every_way(text, lenient=lenient) == (expected, len(text), [])


@pytest.mark.parametrize("lenient", [False, True])
def test_nesting_is_bounded(lenient: bool) -> None:
    deepest = "[" * 5 + "]" * 5
    assert every_way(deepest, lenient=lenient, nesting=5) == (deepest, 10, [])
    assert every_way(f"[{deepest}]", lenient=lenient, nesting=5) == (
        OverLimit,
        "more than 5 nested brackets",
    )
    assert every_way('{"a":' * 6, lenient=lenient, nesting=5)[0] is OverLimit


def test_brackets_side_by_side_are_not_nested() -> None:
    text = "[" + ", ".join(["[]"] * 200) + ', "[[[["]'
    assert read([text], nesting=2) == (text, len(text), [])
    assert read(text, nesting=2) == (text, len(text), [])


@pytest.mark.parametrize("length", [4300, 5000, 60_000])
def test_numbers_are_exact_at_any_size(length: int) -> None:
    text = f'{{"n": {"9" * length}, "d": -0.{"1" * length}}}'
    assert read([text]) == (text, len(text), [])
    assert read([text[:100], text[100:]], lenient=True) == (text, len(text), [])


@pytest.mark.parametrize("lenient", [False, True])
def test_a_number_longer_than_any_tool_can_use_is_over_the_limit(lenient: bool) -> None:
    text = "[" + "1" * 70_000 + "]"
    assert outcome([text], lenient=lenient)[0] is OverLimit
    assert outcome([text[:10], text[10:]], lenient=lenient)[0] is OverLimit


# -- following an object's members -----------------------------------------------------------------


class Members:
    """A tap that notes what each member of the first level is."""

    def __init__(self) -> None:
        self.source: Source | None = None
        self.sink: Collect | None = None
        self.entered: list[tuple[str, str]] = []
        self.values: list[str] = []

    def inner(self, key: str, first: str) -> None:
        return None

    def enter(self, key: str, first: str) -> Sink:
        assert self.source is not None
        self.entered.append((key, first))
        self.sink = Collect(self.source, ROOM)
        return self.sink

    def leave(self) -> None:
        assert self.sink is not None
        self.values.append(self.sink.text())


def members(deltas: Iterable[str], **options: Any) -> tuple[list[tuple[str, str]], list[str]]:
    source = Source()
    tap = Members()
    tap.source = source
    steps = ValueReader(source, Skip(source), tap=tap, **options).value()
    for delta in deltas:
        source.feed(delta)
        next(steps, None)
    source.eof = True
    for _ in steps:
        raise AssertionError("the reader waits for text after the end")
    return tap.entered, tap.values


@pytest.mark.parametrize("lenient", [False, True])
@pytest.mark.parametrize(
    ("text", "entered", "values"),
    [
        ("{}", [], []),
        ('{"a": 1}', [("a", "1")], ["1"]),
        (
            '{"name" : "f", "arguments":{"b": [1, {"c": 2}]} , "x": null}',
            [("name", '"'), ("arguments", "{"), ("x", "n")],
            ['"f"', '{"b": [1, {"c": 2}]}', "null"],
        ),
        ('{"\\u0061": [], "": {}}', [("a", "["), ("", "{")], ["[]", "{}"]),
        ('{"a": 1, "a": 2}', [("a", "1"), ("a", "2")], ["1", "2"]),
        ("[1]", [], []),
    ],
)
def test_a_tap_follows_the_first_level(
    text: str, entered: list[tuple[str, str]], values: list[str], lenient: bool
) -> None:
    for deltas in ([text], list(text), *([text[:i], text[i:]] for i in range(1, len(text)))):
        assert members(deltas, lenient=lenient) == (entered, values)


def test_a_tap_sees_mended_members() -> None:
    text = "{'a': True, “b”: 'x',}"
    for deltas in ([text], list(text)):
        assert members(deltas, lenient=True) == ([("a", "T"), ("b", "'")], ["true", '"x"'])


# -- sinks -----------------------------------------------------------------------------------------


def test_collect_has_a_bound() -> None:
    source = Source()
    source.feed("[1, 2, 3]")
    sink = Collect(source, 4)
    with pytest.raises(OverLimit, match="longer than the limit"):
        list(ValueReader(source, sink).value())
    assert sink.text() == ""


def test_skip_moves_the_cursor() -> None:
    source = Source()
    source.feed("[1, 2]x")
    sink = Skip(source)
    list(ValueReader(source, sink).value())
    assert source.at == 6
    sink.take("", 1)
    assert source.at == 7
