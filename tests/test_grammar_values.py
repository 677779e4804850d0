"""Values by their JSON schema."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.gbnf import Gbnf
from toolglot.grammar.form import NEVER, Rules
from toolglot.grammar.gbnf import write_gbnf
from toolglot.grammar.values import JSON, PYTHON, Values


def read(schema: Any, root: Any = None) -> tuple[Gbnf, set[str]]:
    rules, notes = Rules(), set[str]()
    node = Values(JSON, rules, root or {}, notes).value(schema)
    return Gbnf(write_gbnf(node, rules)), notes


ADDRESS = {"type": "object", "properties": {"zip": {"type": "string"}}, "required": ["zip"]}
TREE = {
    "$defs": {
        "node": {
            "type": "object",
            "properties": {"kids": {"type": "array", "items": {"$ref": "#/$defs/node"}}},
        }
    }
}


@pytest.mark.parametrize(
    ("schema", "fits", "others"),
    [
        ({"type": "string"}, ["", 'a"\\\n\x01é😀'], [1, None, ["a"]]),
        ({"type": "integer"}, [0, -7, 10**30], [1.5, "1", True]),
        ({"type": "number"}, [0, 1.5, 1e-9, -2e30], ["1", None]),
        ({"type": "float"}, [1.5, 2], ["1"]),
        ({"type": "number", "minimum": 0}, [0, 1.5, 2e9], [-1, -0.5]),
        ({"type": "string", "maxLength": 3}, ["", "abc", "\x01é漢"], ["abcd"]),
        ({"type": "string", "minLength": 2, "maxLength": 2}, ["ab", '"\\'], ["", "a", "abc"]),
        ({"type": "boolean"}, [True, False], [0, "true"]),
        ({"type": ["string", "null"]}, ["a", None], [1]),
        ({"type": "string", "nullable": True}, ["a", None], [1]),
        ({"enum": ["a", 2, None]}, ["a", 2, None], ["b", 3]),
        ({"const": {"k": [1, "x"]}}, [{"k": [1, "x"]}], [{"k": [1]}, {}]),
        ({"type": "array", "items": {"type": "integer"}}, [[], [1], [1, 2]], [["a"], {}, 1]),
        ({"type": "array", "minItems": 1, "maxItems": 2}, [[1], ["a", None]], [[], [1, 2, 3]]),
        (ADDRESS, [{"zip": "1"}], [{}, {"zip": 1}, {"zip": "1", "x": 1}]),
        (
            {**ADDRESS, "additionalProperties": True},
            [{"zip": "1", "x": [{}]}, {"y": 1, "zip": "1"}],
            [{"x": 1}],
        ),
        ({"type": "object", "additionalProperties": {"type": "integer"}}, [{}, {"a": 1}], [{"a": "b"}]),
        ({"type": "object"}, [{}, {"a": {"b": [1]}}], [[], 1]),
        ({"anyOf": [{"type": "integer"}, ADDRESS]}, [3, {"zip": "1"}], ["3", {}]),
        (
            {"allOf": [ADDRESS, {"properties": {"n": {"type": "integer"}}}]},
            [{"zip": "1", "n": 2}],
            [{"n": 2}],
        ),
        ({}, [1, "a", None, True, [{"k": []}]], []),
    ],
)
def test_values(schema: Any, fits: list[Any], others: list[Any]) -> None:
    made, _ = read(schema)
    for value in fits:
        assert made.accepts(json.dumps(value, ensure_ascii=False)), value
        assert made.accepts(json.dumps(value)), value
        assert made.accepts(json.dumps(value, separators=(",", ":"))), value
    for value in others:
        assert not made.accepts(json.dumps(value)), value


@pytest.mark.parametrize(
    ("bounds", "low", "high"),
    [
        ({"minimum": 0, "maximum": 0}, 0, 0),
        ({"minimum": 1, "maximum": 12}, 1, 12),
        ({"minimum": 17, "maximum": 345}, 17, 345),
        ({"minimum": 99, "maximum": 100}, 99, 100),
        ({"minimum": -5, "maximum": 5}, -5, 5),
        ({"minimum": -120, "maximum": -7}, -120, -7),
        ({"minimum": 40}, 40, None),
        ({"minimum": -40}, -40, None),
        ({"maximum": 40}, None, 40),
        ({"maximum": -40}, None, -40),
        ({"exclusiveMinimum": 0, "exclusiveMaximum": 10}, 1, 9),
        ({"minimum": 0, "exclusiveMinimum": True, "maximum": 10, "exclusiveMaximum": False}, 1, 10),
        ({"minimum": 0.5, "exclusiveMaximum": 9.5}, 1, 9),
        ({"minimum": 3, "maximum": 2}, 3, 2),
    ],
)
def test_integers_between_bounds(bounds: Any, low: int | None, high: int | None) -> None:
    tries = [*range(-500, 501), 999, 1000, -1000, 40404]
    if low is not None and high is not None and low > high:
        assert Values(JSON, Rules(), {}, set()).value({"type": "integer", **bounds}) == NEVER
        return
    made, notes = read({"type": "integer", **bounds})
    assert notes == set()
    for value in tries:
        fits = (low is None or value >= low) and (high is None or value <= high)
        assert made.accepts(str(value)) is fits, value
    assert not any(made.accepts(text) for text in ("", "-", "01", "00", "+1", "1.0"))


@pytest.mark.parametrize(
    ("schema", "unheld"),
    [
        ({"type": "integer", "minimum": 10**40}, "minimum"),
        ({"type": "integer", "maximum": "4"}, "maximum"),
        ({"type": "number", "maximum": 4}, "maximum"),
        ({"type": "number", "exclusiveMinimum": 0}, "exclusiveMinimum"),
        ({"type": "string", "maxLength": 4000}, "maxLength"),
        ({"type": "string", "minLength": "1"}, "minLength"),
        ({"type": "array", "maxItems": 1000}, "maxItems"),
    ],
)
def test_what_cannot_be_counted_is_noted(schema: Any, unheld: str) -> None:
    _, notes = read(schema)
    assert f"the keyword {unheld!r} is not held to" in notes


def test_references() -> None:
    made, notes = read({"$ref": "#/$defs/node"}, TREE)
    assert made.accepts('{"kids": [{}, {"kids": [{"kids": []}]}]}')
    assert not made.accepts('{"kids": [1]}')
    assert notes == set()
    made, notes = read({"$ref": "#/nowhere"})
    assert made.accepts("[1]")
    assert "the reference '#/nowhere' leads nowhere: any value" in notes


def test_a_schema_without_end_is_cut() -> None:
    root: dict[str, Any] = {"properties": {"a": {"type": "object"}}}
    deep: Any = {"type": "string"}
    for _ in range(200):
        deep = {"type": "array", "items": deep}
    made, _ = read(deep, root)
    assert made.accepts("[" * 200 + '"x"' + "]" * 200)


def test_python_words() -> None:
    rules = Rules()
    node = Values(PYTHON, rules, {}, set()).value({"type": "array"})
    made = Gbnf(write_gbnf(node, rules))
    assert made.accepts('[None, True, {"k": False}, 1.5, "a"]')
    assert not made.accepts("[null]")


def test_what_is_not_held_to_is_noted() -> None:
    _, notes = read({"type": "string", "pattern": "a+", "format": "date"})
    assert notes == {"the keyword 'pattern' is not held to", "the keyword 'format' is not held to"}


@pytest.mark.parametrize(
    ("definitions", "fits", "others"),
    [
        ({"a": {"anyOf": [{"$ref": "#/$defs/a"}, {"type": "integer"}]}}, ["1"], ['"x"']),
        ({"a": {"$ref": "#/$defs/a"}}, ["1", '"x"'], []),
        ({"a": {"anyOf": [{"$ref": "#/$defs/a"}] * 9 + [{"type": "null"}]}}, ["null"], ["1"]),
        ({"a": {"allOf": [{"$ref": "#/$defs/a"}], "type": "integer"}}, ["1"], []),
        ({"a": {"type": "array", "items": {"$ref": "#/$defs/a"}}}, ["[[],[[]]]"], ["[1]"]),
    ],
)
def test_references_that_lead_back(definitions: Any, fits: list[str], others: list[str]) -> None:
    """No rule leads back to itself before a character: ``Gbnf`` refuses left recursion."""
    made, _ = read({"$ref": "#/$defs/a"}, {"$defs": definitions})
    assert all(made.accepts(text) for text in fits)
    assert not any(made.accepts(text) for text in others)


def test_a_hostile_schema_is_bounded() -> None:
    """Each level refers twice to the next: without a bound, as many as 2 ** 30 schemas."""
    levels: dict[str, Any] = {f"d{n}": {"anyOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(30)}
    levels["d30"] = {"type": "integer"}
    rules, notes = Rules(), set[str]()
    values = Values(JSON, rules, {"$defs": levels}, notes)
    node = values.value({"$ref": "#/$defs/d0"}, kinds=frozenset({"integer", "number"}))
    assert Gbnf(write_gbnf(node, rules)).accepts("1")
    assert len(rules.nodes) < 10_000
