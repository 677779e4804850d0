"""Short texts taken apart."""

from __future__ import annotations

import pytest

from toolglot.pieces import after_last, attributes_of, before_counter, field_after, key_line, twice


@pytest.mark.parametrize(
    ("text", "literals", "including", "expected"),
    [
        ("a<s>b<s>c", ("<s>",), False, "c"),
        ("a<s>b<s>c", ("<s>",), True, "<s>c"),
        ("a<s>b<t>c", ("<s>", "<t>"), False, "c"),
        ("a<t>b<s>c", ("<s>", "<t>"), False, "c"),
        ("abc", ("<s>",), False, "abc"),
        ("abc", (), True, "abc"),
        ("", ("<s>",), False, ""),
        ("abc<s>", ("<s>",), False, ""),
    ],
)
def test_after_last(text: str, literals: tuple[str, ...], including: bool, expected: str) -> None:
    assert after_last(text, literals, including=including) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x to=a b", "a"),
        ("x to=a to=b", "b"),
        ("x to=", ""),
        ("x to=a<y>", "a"),
        ("nothing", ""),
        ("x to=end", "end"),
    ],
)
def test_field_after(text: str, expected: str) -> None:
    assert field_after(text, " to=", (" ", "<")) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", {}),
        ('name="a b"', {"name": "a b"}),
        ("name='a' type=\"x>y\"", {"name": "a", "type": "x>y"}),
        ("name=a type = string", {"name": "a", "type": "string"}),
        ('a=""', {"a": ""}),
    ],
)
def test_attributes_of(text: str, expected: dict[str, str]) -> None:
    assert attributes_of(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [("f:0", "f"), ("f:12", "f"), ("f:", "f:"), ("f", "f"), (":1", ":1"), ("a:b", "a:b"), ("f:²", "f:²")],
)
def test_before_counter(text: str, expected: str) -> None:
    assert before_counter(text, ":") == expected


@pytest.mark.parametrize(
    ("text", "expected"), [("a:a", "a"), ("ab:ab", "ab"), ("a:b", "a:b"), (":", ":"), ("", ""), ("aa", "aa")]
)
def test_twice(text: str, expected: str) -> None:
    assert twice(text, ":") == expected


def test_field_after_no_mark_is_empty() -> None:
    assert field_after("x", "", (" ",)) == ""


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("query: Paris\n", ("query", " Paris\n")),
        ("  q :x", ("q", "x")),
        ("a: b: c", ("a", " b: c")),
        ("_1:", ("_1", "")),
        ("1a: x", None),
        ("two words: x", None),
        ("é: x", None),
        ("no colon", None),
        ("", None),
    ],
)
def test_key_line(line: str, expected: tuple[str, str] | None) -> None:
    assert key_line(line) == expected
