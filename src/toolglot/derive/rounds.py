"""rounds: the seeded random calls on which a derivation is verified, and the tools that declare their types.

Promises: the same calls in every run. Does not: hold strings with a format's own closing literals, which
few raw formats can carry (``verify`` tries those apart).
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any, Final

from .probe import KEYS, NAMES
from .values import kind_of

ROUNDS: Final = 60
SEED: Final = 1
MOST_CALLS: Final = 3
MOST_ARGUMENTS: Final = 4
_DEEPEST: Final = 2

STRINGS: Final = (
    *("Paris", "a b c", "it", "x=1, y=2", '{"a": 1}', "123", "true", "null", "line1\nline2", 'q"uote'),
    *("it's", "é😀", "a<b && c>d", "[1, 2]", "back\\slash", ""),
)
NUMBERS: Final = (1.5, -0.25, 3.75)


def conversations(
    single: bool, without: frozenset[str] = frozenset()
) -> list[list[tuple[str, dict[str, Any]]]]:
    """The calls of each round; ``single``: one in each; ``without``: JSON types that texts stand in for."""
    draw = random.Random(SEED)
    drawn = [
        _calls(draw, 1 if single or number % 2 == 0 else draw.randint(2, MOST_CALLS))
        for number in range(ROUNDS)
    ]
    if not without:
        return drawn
    return [
        [(name, {key: _plain(value, without) for key, value in given.items()}) for name, given in calls]
        for calls in drawn
    ]


BACKSLASH: Final = "backslash"
"""Stands among the types that are left out for texts with a backslash, which some templates do not escape."""


def _left_out(value: Any, without: frozenset[str]) -> bool:
    if isinstance(value, str):
        return BACKSLASH in without and "\\" in value
    return kind_of(value) in without


def _plain(value: Any, without: frozenset[str]) -> Any:
    """``value`` with a text for each member, at any depth, that is left out."""
    if _left_out(value, without):
        return STRINGS[0]
    if isinstance(value, dict):
        return {key: _plain(item, without) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item, without) for item in value]
    return value


def _calls(draw: random.Random, count: int) -> list[tuple[str, dict[str, Any]]]:
    return [
        (NAMES[i], {key: _value(draw, 0) for key in draw.sample(KEYS, draw.randint(0, MOST_ARGUMENTS))})
        for i in range(count)
    ]


def _value(draw: random.Random, depth: int) -> Any:
    kind = draw.randrange(9 if depth < _DEEPEST else 6)
    if kind < 3:
        return draw.choice(STRINGS)
    if kind == 3:
        return draw.randrange(-100, 1000)
    if kind == 4:
        return draw.choice(NUMBERS)
    if kind == 5:
        return draw.choice((True, False, None))
    if kind < 8:
        return {draw.choice("abcde"): _value(draw, depth + 1) for _ in range(draw.randrange(3))}
    return [_value(draw, depth + 1) for _ in range(draw.randrange(3))]


def tools_for(calls: list[tuple[str, dict[str, Any]]]) -> dict[str, Any]:
    """JSON schemas that declare what ``calls`` give, and the other tools of the probes."""
    tools: dict[str, Any] = {name: {"type": "object", "properties": {}} for name in NAMES}
    for name, arguments in calls:
        tools[name]["properties"].update({key: _schema(value) for key, value in arguments.items()})
    return tools


def _schema(value: Any) -> dict[str, Any]:
    if isinstance(value, Mapping):
        return {"type": "object"}
    return {"type": kind_of(value)}
