"""JSON text that is all there: escaping, numbers, and what it decodes to."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolglot.jsontext import DECODER, decode, is_number, json_escape


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ""),
        ("plain é 東京 👩‍🚀", "plain é 東京 👩‍🚀"),
        ('a"b\\c/', 'a\\"b\\\\c/'),
        ("\n\r\t\b\f", "\\n\\r\\t\\b\\f"),
        ("\x00\x1f\x7f", "\\u0000\\u001f\x7f"),
        ("\u2028", "\u2028"),
    ],
)
def test_json_escape(text: str, expected: str) -> None:
    assert json_escape(text) == expected


@given(left=st.text(), right=st.text())
def test_escaped_pieces_join_to_one_string(left: str, right: str) -> None:
    assert json.loads(f'"{json_escape(left)}{json_escape(right)}"') == left + right


@pytest.mark.parametrize("text", ["0", "-0", "12", "-1.50", "1e5", "1E+400", "1.5e-10", "0.0", "9" * 5000])
def test_what_is_a_number(text: str) -> None:
    assert is_number(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "-",
        "+1",
        "01",
        ".5",
        "5.",
        "1e",
        "1e+",
        "0x1",
        "1_0",
        "NaN",
        "Infinity",
        " 1",
        "1 ",
        "1\n",
        "١",
        "--1",
    ],
)
def test_what_is_no_number(text: str) -> None:
    assert not is_number(text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{}", {}),
        ('{"a": [1, 2.5, "x", null, true]}', {"a": [1, 2.5, "x", None, True]}),
        ('{"n": 123456789012345678901234}', {"n": 123456789012345678901234}),
        ('"\\ud83d\\ude00"', "\U0001f600"),
        ("[-0]", [0]),
    ],
)
def test_decode(text: str, value: Any) -> None:
    assert decode(text) == (value, None)


@pytest.mark.parametrize(
    ("text", "value", "canonical"),
    [
        ('{"a": 1, "a": 2}', {"a": 2}, '{"a": 2}'),
        ('{"a": 1, "b": 2, "a": 3}', {"a": 3, "b": 2}, '{"a": 3, "b": 2}'),
        ('{"a": {"b": 1, "b": [2]}}', {"a": {"b": [2]}}, '{"a": {"b": [2]}}'),
        ('{"x":[{"k":1,"k":2},{"k":3}]}', {"x": [{"k": 2}, {"k": 3}]}, '{"x": [{"k": 2}, {"k": 3}]}'),
        ('{"a": 1, "\\u0061": 2}', {"a": 2}, '{"a": 2}'),
        ('{"a": 1.50, "a": 1.50, "b": 1e5}', {"a": 1.5, "b": 1e5}, '{"a": 1.50, "b": 1e5}'),
        ('{"a": "é\\n", "a": "\\"東"}', {"a": '"東'}, '{"a": "\\"東"}'),
        ('{"a": null, "a": true}', {"a": True}, '{"a": true}'),
        ('{"q\\"": 1, "q\\"": 2}', {'q"': 2}, '{"q\\"": 2}'),
    ],
)
def test_a_repeated_key_counts_once(text: str, value: Any, canonical: str) -> None:
    """Its last value at its first position, with numbers as they were spelled."""
    assert decode(text) == (value, canonical)


def test_no_key_repeats_across_objects() -> None:
    text = '[{"a": 1}, {"a": 2}, {"b": {"a": 3}}]'
    assert decode(text) == ([{"a": 1}, {"a": 2}, {"b": {"a": 3}}], None)


@pytest.mark.parametrize("digits", [4000, 4001, 4300, 5000, 20_000])
@pytest.mark.parametrize("sign", ["", "-"])
def test_integers_are_exact_at_any_size(digits: int, sign: str) -> None:
    value, canonical = decode(f"[{sign}{'7' * digits}]")
    exact = 7 * (10**digits - 1) // 9
    assert value == [-exact if sign else exact]
    assert canonical is None


def test_a_long_integer_beside_a_repeated_key() -> None:
    number = "1" + "0" * 5000
    value, canonical = decode(f'{{"a": 1, "a": {number}}}')
    assert value == {"a": 10**5000}
    assert canonical == f'{{"a": {number}}}'


def test_text_that_looks_like_a_number_stays_text() -> None:
    assert decode('{"a": "1.50", "a": "1.50"}') == ({"a": "1.50"}, '{"a": "1.50"}')


@pytest.mark.parametrize("text", ["NaN", "Infinity", "[-Infinity]", '{"a": 1, "a": 2}'])
def test_the_decoder_takes_no_constant_that_is_not_json_and_no_repeated_key(text: str) -> None:
    with pytest.raises(ValueError, match=r"is not JSON|repeats"):
        DECODER.decode(text)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@given(value=json_values)
def test_decoding_is_what_json_does(value: Any) -> None:
    assert decode(json.dumps(value)) == (value, None)


@given(pairs=st.lists(st.tuples(st.sampled_from(["a", "b", "é"]), json_values), min_size=1, max_size=5))
def test_the_canonical_text_means_the_same(pairs: list[tuple[str, Any]]) -> None:
    text = "{" + ", ".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in pairs) + "}"
    value, canonical = decode(text)
    assert value == dict(pairs)
    assert list(value) == list(dict(pairs))
    assert (canonical is None) == (len(dict(pairs)) == len(pairs))
    assert json.loads(canonical or text) == value
