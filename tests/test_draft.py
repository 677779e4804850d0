"""Draft: argument text gathered piece by piece, and what it stands for."""

from __future__ import annotations

import json
from typing import Any

import pytest

from toolglot.draft import STRETCH, Draft
from toolglot.jsontext import decode

LONG = "ab c" * (STRETCH // 4)
RAW = 'line\nwith "quotes" and \\ and \ufdd0 ' * (STRETCH // 16)


def draft(*pieces: str | tuple[str, bool]) -> Draft:
    """Text, and stretches with whether they are raw."""
    made = Draft()
    for piece in pieces:
        if isinstance(piece, str):
            made.append(piece)
        else:
            made.stretch(*piece)
    return made


CASES: dict[str, tuple[list[str | tuple[str, bool]], dict[str, object]]] = {
    "no stretch": (['{"a": ', "1}"], {"a": 1}),
    "JSON": (['{"a": "', (LONG, False), '"}'], {"a": LONG}),
    "JSON with escapes": (
        ['{"a": "', (LONG, False), ("\\n" * STRETCH, False), '"}'],
        {"a": LONG + "\n" * STRETCH},
    ),
    "raw": (['{"a": "', (RAW, True), '"}'], {"a": RAW}),
    "one behind the other, of both kinds": (
        ['{"a": "', (LONG, False), (RAW, True), (RAW, True), (LONG, False), '"}'],
        {"a": LONG + RAW + RAW + LONG},
    ),
    "text around": (
        ['{"a": "x', (LONG, True), "y", (LONG, True), 'z", "b": 2}'],
        {"a": f"x{LONG}y{LONG}z", "b": 2},
    ),
    "nested": (
        ['{"a": [{"b": "', (LONG, True), '"}, "c"], "d": "', (RAW, True), '"}'],
        {"a": [{"b": LONG}, "c"], "d": RAW},
    ),
    "in a key": (['{"a": {"', (LONG, True), '": 1}}'], {"a": {LONG: 1}}),
    "beside the mark": (['{"a": "\ufdd0', (LONG, True), '"}'], {"a": "\ufdd0" + LONG}),
    "beside the mark, escaped": (['{"b": "\\ufdd0", "a": "', (LONG, True), '"}'], {"b": "\ufdd0", "a": LONG}),
}


@pytest.mark.parametrize("case", CASES)
def test_text_and_value(case: str) -> None:
    pieces, value = CASES[case]
    made = draft(*pieces)
    assert json.loads(made.text()) == value
    assert made.value() == (value, None)


def test_a_key_that_repeats() -> None:
    made = draft('{"a": "', (LONG, True), '", "b": 1.50, "a": "', (RAW, True), '"}')
    assert made.value() == (
        {"a": RAW, "b": 1.5},
        f'{{"a": {json.dumps(RAW, ensure_ascii=False)}, "b": 1.50}}',
    )


@pytest.mark.parametrize("case", [name for name in CASES if "key" not in name and "mark" not in name])
def test_a_stretch_is_not_decoded_with_the_rest(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if not hasattr(Draft.value, "__code__"):
        pytest.skip("a compiled module cannot be watched from outside; the pure one does the same work")
    decoded: list[str] = []

    def watched(text: str) -> tuple[Any, str | None]:
        decoded.append(text)
        return decode(text)

    monkeypatch.setattr("toolglot.draft.decode", watched)
    draft(*CASES[case][0]).value()
    assert len(decoded) == 1
    assert len(decoded[0]) < STRETCH
