"""Whole JSON and Python values as JSON text."""

from __future__ import annotations

import ast
import json
import math
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolglot.literals import DEPTH, json_string, python_to_json, strict_json


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("4", "4"),
        (" \t\r\n4\n", "4"),
        ("-0", "-0"),
        ("1.50", "1.50"),
        ("1E+400", "1E+400"),
        ("9" * 5000, "9" * 5000),
        ('{"a": 1.0,\n "a": [1e2]}', '{"a": 1.0,\n "a": [1e2]}'),
        ('"x\\u00e9"', '"x\\u00e9"'),
        ('"\\ud83d\\ude00"', '"\\ud83d\\ude00"'),
        ('"\\ud83d"', '"\\ufffd"'),
        ('"\\udE00\\uD83D"', '"\\ufffd\\ufffd"'),
        ('"\\ud83d\\ud83d\\ude00"', '"\\ufffd\\ud83d\\ude00"'),
        ('"\\\\ud83d"', '"\\\\ud83d"'),
        ('"a\ud83d"', '"a\ufffd"'),
        ('{"\\ud800": 1}', '{"\\ufffd": 1}'),
    ],
)
def test_json_comes_back_as_it_was_spelled(text: str, expected: str) -> None:
    assert strict_json(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "NaN",
        "-Infinity",
        "[Infinity]",
        "007",
        "+1",
        ".5",
        "5.",
        "1_0",
        "0x1",
        "True",
        "nul",
        "1 2",
        "\xa04",
        "\u0664",
        "'a'",
        '"a\nb"',
        '"a',
        "[1,]",
        '{"a"}',
        "{1: 2}",
        "\ufeff4",
        "\x004",
    ],
)
def test_what_is_no_strict_json(text: str) -> None:
    assert strict_json(text) is None


def test_json_nesting_is_bounded_and_brackets_in_strings_do_not_count() -> None:
    deepest = "[" * DEPTH + "]" * DEPTH
    assert strict_json(deepest) == deepest
    assert strict_json(f"[{deepest}]") is None
    assert strict_json('{"a":' * 129 + "1" + "}" * 129) is None
    flat = json.dumps(["[{" * 300, '\\"[' * 300])
    assert strict_json(flat) == flat
    wide = "[" + ",".join(["[]"] * 1000) + "]"
    assert strict_json(wide) == wide
    assert strict_json("[" * 1_000_000) is None
    assert strict_json("[" * 100_000 + "]" * 100_000) is None


def test_json_string_is_valid_utf8() -> None:
    assert json_string('a"\\\n\u00e9\ud800\U0001f600') == '"a\\"\\\\\\n\u00e9\ufffd\U0001f600"'


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("True", "true"),
        ("False", "false"),
        (" None\n", "null"),
        ("true", "true"),
        ("null", "null"),
        ("[]", "[]"),
        ("()", "[]"),
        ("{}", "{}"),
        ("(1,)", "[1]"),
        ("(1)", "1"),
        ("((1), (2, 3))", "[1, [2, 3]]"),
        ("([1, 2])", "[1, 2]"),
        ("(())", "[]"),
        ("[1, 2,\n]", "[1, 2]"),
        ("{'a': True, 'b': (None, 'x'),}", '{"a": true, "b": [null, "x"]}'),
        ("{1: 'a', 2.50: 'b', True: 'c', None: 'd', false: 0}",
         '{"1": "a", "2.50": "b", "true": "c", "null": "d", "false": 0}'),
        ("{'a': 1, 'a': 2}", '{"a": 1, "a": 2}'),
        ('{"it\'s": \'say "hi"\'}', '{"it\'s": "say \\"hi\\""}'),
        ("{ 'a'\n:\t1 }", '{"a": 1}'),
    ],
)  # fmt: skip
def test_constants_and_containers(text: str, expected: str) -> None:
    assert python_to_json(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("+5", "5"),
        ("-5", "-5"),
        ("0", "0"),
        ("-0.0", "-0.0"),
        ("1_000_000", "1000000"),
        ("1_0.0_1e1_0", "10.01e10"),
        ("5.", "5.0"),
        ("-.5", "-0.5"),
        ("5.e3", "5.0e3"),
        ("1E+05", "1E+05"),
        ("1.10", "1.10"),
        ("1e999", "1e999"),
        ("7" * 10_000, "7" * 10_000),
        ("0xFF", "255"),
        ("-0b1_01", "-5"),
        ("0o17", "15"),
    ],
)
def test_numbers_keep_their_spelling(text: str, expected: str) -> None:
    assert python_to_json(text) == expected


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("''", ""),
        ("'a' \"b\"\n'''c'''", "abc"),
        ("('a'\n 'b')", "ab"),
        ("'''a\n'b' \"\"c'''", "a\n'b' \"\"c"),
        ('"""say "x" """', 'say "x" '),
        (r"'\\ \' \" \a\b\f\n\r\t\v'", "\\ ' \" \a\b\f\n\r\t\v"),
        (r"'\0\12\x41\u00e9\U0001F600\N{GREEK SMALL LETTER ALPHA}'", "\0\nA\u00e9\U0001f600\u03b1"),
        (r"'\d\/\8'", "\\d\\/\\8"),
        ("'a\\\nb\\\r\nc'", "abc"),
        (r"r'\d\'x'", "\\d\\'x"),
        (r"Rb'\n'", "\\n"),
        (r"b'\x00'", "\0"),
        (r"u'x' f'{y}'", "x{y}"),
        (r"'\ud83d\ude00'", "\U0001f600"),
        (r"'\ud83d x'", "\ufffd x"),
        ("'\ud83d\ude00'", "\ufffd\ufffd"),
    ],
)
def test_strings(text: str, value: str) -> None:
    result = python_to_json(text)
    assert result is not None
    assert json.loads(result) == value


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "abc",
        "Truex",
        "nan",
        "inf",
        "-",
        "+",
        ".",
        "1.2.3",
        "1__0",
        "_1",
        "1_",
        "007",
        "01.5",
        "5j",
        "1+2j",
        "1e",
        "1e5x",
        "0x",
        "0xg",
        "0b2",
        "0x_",
        "0x1__0",
        "--5",
        "- 5",
        "1 2",
        "1, 2",
        "-True",
        "5L",
        "'a",
        "'a\nb'",
        "'a\\'",
        '"""a"',
        '"""a""',
        "'\\x4'",
        "'\\u12'",
        "'\\U00110000'",
        "'\\N{no such}'",
        "'\\N{'",
        "x'a'",
        "ur'a'",
        "'a' 1",
        "'\\",
        "b",
        "[",
        "]",
        "[1",
        "[,]",
        "[1,,2]",
        "[1 2]",
        "[1)",
        "(,)",
        "{,}",
        "{1}",
        "{1, 2}",
        "{'a'}",
        "{'a':}",
        "{'a': 1 'b': 2}",
        "{'a': 1: 2}",
        "{(1, 2): 3}",
        "{[]: 1}",
        "{'a', 'b': 1}",
        "[1: 2]",
        "[1] 2",
        "[1]]",
        "# x\n1",
        "1 # x",
        "f(1)",
        "[*a]",
        "{**a}",
        "...",
        "1 if 1 else 2",
        "'a' % 1",
        "\u0664",
        "[\xa01]",
    ],
)
def test_what_is_no_literal(text: str) -> None:
    assert python_to_json(text) is None


def test_nesting_is_bounded() -> None:
    assert python_to_json("[" * DEPTH + "]" * DEPTH) == "[" * DEPTH + "]" * DEPTH
    assert python_to_json("[" * (DEPTH + 1) + "]" * (DEPTH + 1)) is None
    assert python_to_json("(" * 1_000_000) is None
    assert python_to_json("{'a':" * 1_000_000) is None


@pytest.mark.parametrize(
    "text",
    [
        "'" + "\\" * 300_000,
        "'" + "\\n" * 300_000,
        '"""' + '"" ' * 300_000,
        "1" * 600_000 + "x",
        "1_" * 300_000,
        "'\\N{" + "\\N{" * 200_000 + "'",
        "'a' " * 150_000 + "x",
        "[" + "1," * 300_000,
        " " * 600_000 + "x",
        "1." + "1" * 600_000 + "e" + "1" * 600_000 + "x",
        "0x" + "f" * 600_000,
        "'" + "\\ud83d" * 100_000 + "'",
        "[" + "()," * 200_000,
        "{'a': " + "'b' " * 200_000,
    ],
    ids=range(14),
)
def test_long_hostile_text_takes_linear_time(text: str) -> None:
    start = time.perf_counter()
    python_to_json(text)
    strict_json(text)
    assert time.perf_counter() - start < 5  # a quadratic reader takes minutes


values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.lists(inner).map(tuple) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(values)
def test_every_repr_reads_back(value: Any) -> None:
    result = python_to_json(repr(value))
    assert result is not None
    assert json.loads(result) == json.loads(json.dumps(value))


@given(st.text(alphabet="'\"\\rbuN{}[]():,+-._0123456789eExjTrueNone \n#a"))
def test_agrees_with_python_where_both_read_it(text: str) -> None:
    result = python_to_json(text)
    try:
        value = ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, TypeError, MemoryError):
        return
    if result is None or isinstance(value, bytes):
        return
    if isinstance(value, float) and math.isinf(value):
        return
    try:
        expected = json.loads(json.dumps(value))
    except TypeError:  # bytes inside
        return
    if "f'" not in text and 'f"' not in text:
        assert json.loads(result) == expected


@given(
    st.text(alphabet=st.characters())
    | st.text(alphabet="'\"\\[](){},:rbuxN0123456789.eE+-_TrueNl \n\ud83d\ude00")
)
def test_any_text_gives_strict_json_or_none(text: str) -> None:
    for result in (python_to_json(text), strict_json(text)):
        if result is not None:
            json.loads(result)
            result.encode()
            assert strict_json(result) == result
