"""Bounds: integers between two others, and how many characters a string has.

Promises: exactly the integers of a range, without leading zeros, in as many rules as they have digits. What
would take more than a few rules is ``None``, for the caller to note.

Does not: hold fractions to a range, but for the sign.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from .form import NEVER, Chars, Lit, Node, Rep, Token, alt, one_of, seq

LIMITS: Final = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
"""The keywords that bound a number."""

# More digits than any integer of 64 bits, and a text that fits on a few lines.
_WIDEST: Final = 10**20
_LONGEST: Final = 256

_DIGIT: Final = one_of("0-9")
_WHOLE: Final = alt((Lit("0"), seq(one_of("1-9"), Rep(_DIGIT))))
_FRACTION: Final = (
    Rep(seq(Lit("."), Rep(_DIGIT, 1)), 0, 1),
    Rep(seq(one_of("eE"), Rep(one_of("+-"), 0, 1), Rep(_DIGIT, 1)), 0, 1),
)
INTEGER: Final = Token(seq(Rep(Lit("-"), 0, 1), _WHOLE))
NUMBER: Final = Token(seq(INTEGER.node, *_FRACTION))
_NO_SIGN: Final = Token(seq(_WHOLE, *_FRACTION))


class _Range(NamedTuple):
    low: int | None
    high: int | None


def integer(schema: Mapping[str, Any]) -> Node | None:
    """The integers that ``schema`` allows; None where its bounds cannot be held to."""
    if not any(word in schema for word in LIMITS):
        return INTEGER
    bounds = _bounds(schema)
    if bounds is None or any(abs(bound) > _WIDEST for bound in bounds if bound is not None):
        return None
    low, high = bounds
    options: list[Node] = []
    if low is None or low < 0:
        least = 1 if high is None or high >= 0 else -high
        options.append(seq(Lit("-"), _whole(least, None if low is None else -low)))
    if high is None or high >= 0:
        options.append(_whole(max(low or 0, 0), high))
    fitting = [option for option in options if option != NEVER]
    return Token(alt(fitting)) if fitting else NEVER


def number(schema: Mapping[str, Any]) -> Node | None:
    """The numbers that ``schema`` allows; None where it asks for more than that they are not negative."""
    stated = {word: schema[word] for word in LIMITS if word in schema}
    if not stated:
        return NUMBER
    return _NO_SIGN if stated == {"minimum": 0} and stated["minimum"] is not False else None


def repeated(char: Node, schema: Mapping[str, Any]) -> Node | None:
    """``char`` as often as the lengths of ``schema`` say; None where they are too long to be counted."""
    least, most = schema.get("minLength", 0), schema.get("maxLength")
    if not _counts(least) or not (most is None or _counts(most)):
        return None
    return NEVER if most is not None and least > most else Rep(char, least, most)


def _counts(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _LONGEST


def _bounds(schema: Mapping[str, Any]) -> _Range | None:
    """The smallest and the largest integer; None where a bound is no number."""
    low, high = schema.get("minimum"), schema.get("maximum")
    above, below = schema.get("exclusiveMinimum"), schema.get("exclusiveMaximum")
    # Draft 4 has a boolean beside the bound.
    if isinstance(above, bool):
        low, above = (None, low) if above else (low, None)
    if isinstance(below, bool):
        high, below = (None, high) if below else (high, None)
    stated = [bound for bound in (low, high, above, below) if bound is not None]
    if not all(_is_number(bound) for bound in stated):
        return None
    lows = [math.ceil(low)] if low is not None else []
    lows += [math.floor(above) + 1] if above is not None else []
    highs = [math.floor(high)] if high is not None else []
    highs += [math.ceil(below) - 1] if below is not None else []
    return _Range(max(lows, default=None), min(highs, default=None))


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _whole(low: int, high: int | None) -> Node:
    """The integers from ``low`` (0 or more) to ``high``."""
    size = len(str(low))
    last = size if high is None else len(str(high))
    options: list[Node] = []
    for digits in range(size, last + 1):
        first = max(low, 10 ** (digits - 1) if digits > 1 else 0)
        most = 10**digits - 1 if high is None else min(high, 10**digits - 1)
        if first <= most:
            options.append(_between(str(first), str(most)))
    if high is None:
        options.append(seq(one_of("1-9"), Rep(_DIGIT, last)))
    return alt(options)


def _between(low: str, high: str) -> Node:
    """The digits from ``low`` to ``high``, which are of one length."""
    if not low:
        return Lit("")
    after = len(low) - 1
    if low == "0" * len(low) and high == "9" * len(high):
        return Rep(_DIGIT, len(low), len(low))
    if low[0] == high[0]:
        return seq(Lit(low[0]), _between(low[1:], high[1:]))
    # A first digit whose rest is any rest joins those between.
    start, stop = int(low[0]), int(high[0])
    options: list[Node] = []
    if low[1:] != "0" * after:
        options.append(seq(Lit(low[0]), _between(low[1:], "9" * after)))
        start += 1
    if high[1:] != "9" * after:
        options.append(seq(Lit(high[0]), _between("0" * after, high[1:])))
        stop -= 1
    if start <= stop:
        rest = Rep(_DIGIT, after, after) if after else Lit("")
        options.append(seq(Chars(((str(start), str(stop)),)), rest))
    return alt(options)
